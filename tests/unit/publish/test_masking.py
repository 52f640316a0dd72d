"""A masked report names no credential, host, person or folder, and every number stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_tui.publish.masking import Mask

KEY = "A1b2C3d4" * 5

HIDDEN = [
    (f"login with hf_{KEY}", f"hf_{KEY}"),
    (f"OPENAI_API_KEY=sk-{KEY}", f"sk-{KEY}"),
    (f"WANDB_API_KEY: '{KEY}'", KEY),
    (f"token ghp_{KEY}", KEY),
    (f"Authorization: Bearer {KEY}", KEY),
    ("s3 key AKIAIOSFODNN7EXAMPLE used", "AKIAIOSFODNN7EXAMPLE"),
    ("aws_secret_access_key = abc/def+ghi", "abc/def+ghi"),
    ("post to https://hooks.slack.com/services/T0/B0/xyz", "T0/B0"),
    ("clone https://ada:pw12345@git.corp.example/r.git", "pw12345"),
    ("mail ada.l@example.org", "ada.l@example.org"),
    ("ray head at 10.0.12.7:6379", "10.0.12.7"),
    ("node gpu-17.cluster.local failed", "gpu-17"),
    ("http://gpu-17:8000/v1", "gpu-17"),
    ("sftp://ada@gpu-17/srv/plans/run-1", "gpu-17"),
    ("saved to /home/ada/projects/secret-plan/outputs/run-1", "/home/ada"),
    ("saved to ~/projects/secret-plan/run-1", "projects"),
    (r"C:\Users\Ada\runs\run-1", "Ada"),
    ("ada started it", "ada"),
    ("host deep-thought says", "deep-thought"),
]


@pytest.mark.parametrize(("text", "gone"), HIDDEN)
def test_it_hides(text: str, gone: str) -> None:
    assert gone not in Mask(people=["ada"], hosts=["deep-thought"])(text)


@pytest.mark.parametrize(
    "text",
    [
        "step 12: rewards/format/mean 0.5, actor/pg_loss -0.01",
        "learning_rate is 1e-6 [S1-25, S2-13]",
        "max_token_len=16384 and num_tokens: 20480 and eos_token_id=151645",
        "loss 1.2.3.4.5 and version 0.7.1.2000",
        "see https://huggingface.co/docs/trl",
        "vllm at 127.0.0.1:8000 and http://localhost:8000/v1",
        "critic/rewards/mean:0.300 - response_length/mean:256.0",
        "3/4 of the groups, 50/50",
    ],
)
def test_it_leaves(text: str) -> None:
    mask = Mask(people=["ada"])
    assert (mask(text), mask.counts) == (text, {})


def test_one_host_is_one_name_everywhere() -> None:
    mask = Mask()
    assert mask("10.0.0.1 calls 10.0.0.2") == "[host 1] calls [host 2]"
    assert mask("10.0.0.2 is gone") == "[host 2] is gone"
    assert mask.counts == {"hosts": 3}


def test_a_path_keeps_its_last_part() -> None:
    mask = Mask()
    assert mask("read /data/team/x/run-7/train.log:12") == "read …/train.log:12"
    assert mask.path("/data/team/x/run-7") == "…/run-7"


@given(st.text(max_size=200))
def test_masking_twice_changes_nothing_more(text: str) -> None:
    mask = Mask(people=["ada"])
    once = mask(text)
    assert mask(once) == once
