"""The language: what it accepts, what it says about the rest, and that nothing else can happen."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_tui.playbook.language.expressions import ExpressionError, parse, parse_condition
from grpo_tui.playbook.language.names import default_names

NAMES = default_names().of_playbook({"window", "limit"}, {"own_metric"})


def complaint(text: str) -> ExpressionError:
    with pytest.raises(ExpressionError) as caught:
        parse_condition(text, known=NAMES)
    return caught.value


@pytest.mark.parametrize(
    "text",
    [
        "entropy < 0.1",
        "drop(entropy, within=window) >= 0.5 and rise(reward_mean, last=300) < 0.02",
        "0 < grad_norm < limit",
        "not (bad(loss) >= 1 or share_zero(grad_norm, last=20, tolerance=1e-9) > 0.5)",
        'answer in ["yes", "no"] or answer == "maybe"',
        'obs["rollouts.readable"] == "no"',
        'obs["x.ours"] == "anything"',
        'metric("rewards/format/mean") > 0.9',
        'score["collapse.entropy"] >= 1 and step > 0.1 * total_steps',
        'incidents("oom", "killed") >= 1 and state == "died"',
        "config.use_kl_loss",
        'config["learning_rate"] > 1e-5',
        "corr(entropy, reward_mean, within=200) < -0.5",
        "quantile(grad_norm, 0.9, last=50) > 3 * median(grad_norm, last=50)",
        "drop(entropy, within=10m) > 0.5",
        "vs_baseline(entropy, last=50) < 0.5",
        "abs(ppo_kl) > 0.1 and own_metric != unknown",
        "true",
        "  entropy\n  < 0.1",
    ],
)
def test_accepted(text: str) -> None:
    assert parse_condition(text, known=NAMES).text == text


@pytest.mark.parametrize(
    ("text", "offset", "says"),
    [
        ("entropy < 0.5 && loss > 1", 14, "`and` for &&"),
        ("entropy < 0.5 || loss > 1", 14, "`or` for ||"),
        ("!(entropy < 0.5)", 0, "`not` for !"),
        ("entropy = 0.5", 8, "write == to compare"),
        ("entropy => 0.5", 8, "write >= or <="),
        ("entropy < 0.5 AND loss > 1", 14, "lower case"),
        ("entropy < 50%", 10, "0.5 for 50 %"),
        ("actor/entropy < 0.1", 0, "write entropy"),
        ("loss > 1 and made/up/name < 1", 13, 'metric("made/up/name")'),
        ("entrpy < 0.1", 0, "did you mean 'entropy'"),
        ("loss > 0 and drop(entrop) > 0.5", 18, "did you mean 'entropy'"),
        ("drop(entropy, wihtin=3) > 0.5", 21, "did you mean 'within'"),
        ("drp(entropy) > 0.5", 0, "did you mean 'drop'"),
        ("drop(0.5) > 0.5", 5, "reads a metric here"),
        ("drop() > 0.5", 0, "needs a metric"),
        ("drop(entropy, 5) > 0.5", 14, "name this argument"),
        ("drop(entropy, within=0) > 0.5", 21, "at least one step"),
        ("drop(entropy, within=5, last=6) > 0.5", 0, "given twice"),
        ("quantile(entropy) > 1", 0, "needs q"),
        ("quantile(entropy, 7) > 1", 18, "between 0 and 1"),
        ("spikes(loss, x=10m) > 1", 15, "a number, not a time"),
        ('obs["rollouts.readble"] == "no"', 4, "did you mean 'rollouts.readable'"),
        ('obs["rollouts.readable"] == "nope"', 28, "one of yes, no, unknown"),
        ('"nope" == obs["rollouts.readable"]', 0, "never 'nope'"),
        ('score["colapse.entropy"] > 1', 6, "did you mean 'collapse.entropy'"),
        ("obs.rollouts > 1", 0, "config.<key> and result.<field>"),
        ("config.a.b > 1", 0, "no parts to reach into"),
        ("entropy", 0, "a value, not a condition"),
        ("drop(entropy) and loss > 1", 0, "a value, not a condition"),
        ('entropy == "high"', 0, "compares a number with something that is none"),
        ('entropy < "high"', 10, "text, not a number"),
        ("(entropy < 1) + 1 > 0", 1, "a condition, not a number"),
        ("entropy ** 9 > 1", 0, "no powers"),
        ("entropy is None", 11, "write =="),
        ("entropy in 5", 11, "needs a list"),
        ("[1, 2] == entropy", 0, "only after `in`"),
        ("1 if entropy > 1 else 0", 0, "use two steps"),
        ("[x for x in loss]", 0, "loops"),
        ("(lambda: 1)() > 1", 0, "unknown function"),
        ("f'{loss}' == 'a'", 0, "f-strings"),
        ("loss.__class__ > 1", 0, "no parts"),
        ("__import__('os') > 1", 0, "unknown function"),
        ("loss > 1 # spikes", 9, "say it in `why`"),
        ("loss > 1j", 7, "is not a number or text"),
        ("loss > 1e400", 7, "too large"),
        ("loss > ", 5, "cannot be read"),
        ("(loss > 1", 0, "never closed"),
        ("config > 1", 0, "write config.<key>"),
        ("drop > 1", 0, "write drop(…)"),
        ("", 0, "empty"),
        ("loss > 1 " * 60, 500, "longer than 500"),
        ("-" * 200 + "loss > 1", 0, "nested deeper"),
        ("loss > " + "(" * 240 + "1" + ")" * 240, None, ""),
        ("µ > 1", 0, "unknown metric"),
        ("loss > 1 and µ > 1", 13, "unknown metric"),
        ('answer == "µµ" and entrpy > 1', 19, "did you mean 'entropy'"),
    ],
)
def test_refused_with_a_place_and_a_way_out(text: str, offset: int | None, says: str) -> None:
    error = complaint(text)
    assert says in str(error)
    assert offset is None or error.offset == offset


def test_without_known_names_a_raw_name_is_still_recognised() -> None:
    with pytest.raises(ExpressionError, match="write entropy"):
        parse("actor/entropy < 0.1")


def test_a_raw_name_in_metric_becomes_the_canonical_one() -> None:
    assert parse('metric("actor/entropy") < 1').metrics == ("entropy",)
    assert parse('metric("rewards/x/mean") < 1').metrics == ("rewards/x/mean",)


def test_what_an_expression_reads() -> None:
    expression = parse_condition(
        "corr(entropy, loss) > 0 and config.temperature < 1 "
        'and obs["rollouts.readable"] == "no" or loss > limit',
        known=NAMES,
    )
    assert expression.metrics == ("entropy", "loss")
    assert expression.config_keys == ("temperature",)
    assert expression.observations == ("rollouts.readable",)
    assert expression.keys("param") == ("limit",)


@pytest.mark.parametrize(
    ("text", "factual"),
    [
        ("config.temperature < 1", True),
        ('answer == "yes"', True),
        ('incidents("oom") > 0', True),
        ("entropy < 1", False),
        ("entropy < 1 and config.temperature < 1", False),
        ("step > 10", False),
    ],
)
def test_only_facts_without_curves_can_confirm(text: str, factual: bool) -> None:
    assert parse(text).factual is factual


def test_a_lookalike_letter_is_not_folded_into_a_known_name() -> None:
    """Python reads the mathematical 𝒆 as e; a playbook must not."""
    assert "unknown metric" in str(complaint("𝒆ntropy < 0.1"))


ALPHABET = st.sampled_from(
    [
        *"entropy loss<>=!&|()[]{}.,'\"+-*/%0123456789_:\\\n\t#µ\x00",
        "and ",
        "or ",
        "not ",
        " in ",
        "drop(",
        "within=",
        "config.",
        'obs["',
        "answer",
        " if ",
        "lambda ",
        "10m",
        "f'",
        "1e9",
    ]
)


@settings(max_examples=600, deadline=None)
@given(st.one_of(st.text(max_size=60), st.lists(ALPHABET, max_size=40).map("".join)))
def test_no_text_raises_anything_else(text: str) -> None:
    for known in (None, NAMES):
        try:
            expression = parse(text, known=known)
        except ExpressionError as error:
            assert 0 <= error.offset <= len(text)
            assert error.message
        else:
            assert expression.source_of(expression.tree) in text


@pytest.mark.parametrize(
    "text",
    [
        "(" * 400,
        "-" * 499,
        "not " * 120,
        "[" * 250,
        "a" * 500,
        "'" * 300,
        "9" * 500,
        "\ud800 > 1",
        "a.b" + ".c" * 150,
        "loss>" + "1+" * 200 + "1",
        "{" * 100,
        "\\" * 9,
    ],
)
def test_hostile_texts(text: str) -> None:
    with pytest.raises(ExpressionError):
        parse_condition(text, known=NAMES)
