"""The rows of rollout dumps that are not one response a row with plain names: each dialect made plain.

Every function takes a decoded row and gives rows with `prompt`, `completion`, `score`, a `_group` where the
dump names one, reward parts under `_parts`, and the rest as it was. Verified against these releases:

NeMo-RL (`train_data_step<N>.jsonl`, `val_data_step<N>.jsonl`; 0.2-0.5 and 7ea279a): one sample a line, every
value a list of one; `content` is the whole conversation, so the response begins behind the first assistant
mark, and a group is what has the same prompt tokens (`token_ids` up to the first one of `token_loss_mask`).
prime-rl (`rollouts/step_<N>/…/traces.jsonl`; verifiers 0.4.0): an episode a line, a trace an agent, the
messages as a graph of nodes of which `sampled` ones are the model's; `stop_condition` tells of truncation.
ART (`trajectories/<split>/<step>.parquet`, before 0.5 `.jsonl`; 0.5.18): a trajectory a row, `group_index`,
`messages` of which `trainable` ones are the model's; metrics and metadata are JSON inside the table.
EasyR1 (`generations.log`; 46c6c21): blocks of `[prompt]`, `[output]`, `[ground_truth]`, `[score]`.
open-instruct (`*_rollouts_<shard>.jsonl`; e6c3044): token ids only, with `prompt_idx`, reward, advantage.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

Row = Mapping[str, Any]

_ASSISTANT = re.compile(
    r"<\|im_start\|>assistant\n?|<\|start_header_id\|>assistant<\|end_header_id\|>\n{0,2}"
    r"|<start_of_turn>model\n?|<\|assistant\|>\n?|<｜Assistant｜>|\[/INST\]|\nAssistant: ?"
)
_LIMITS = frozenset(
    ["max_turns", "max_input_tokens", "max_output_tokens", "max_total_tokens", "compaction_failed"]
)
"""verifiers' stop conditions that cut a response off; "length" of a model call is one more."""
_BLOCK = re.compile(r"^\[(prompt|output|ground_truth|score)\] ?", re.MULTILINE)


def plain_rows(row: Row) -> Iterator[Row] | None:
    """The plain rows of a row that is of a dialect of its own; None for any other."""
    if isinstance(row.get("traces"), list):
        return _episode(row)
    if isinstance(row.get("trajectories"), list):
        return _art_line(row["trajectories"])
    if "messages" in row and "group_index" in row:
        return iter([_trajectory(row, row["messages"], f"group {row['group_index']}")])
    if "content" in row and ("rewards" in row or "token_loss_mask" in row or "advantages" in row):
        return iter([_nemo_rl(row)])
    if "response_tokens" in row and "prompt_tokens" in row:
        return iter([_tokens(row)])
    return None


def begins_one(text: str) -> bool:
    """Whether the beginning of a line, cut off anywhere, is one of these dialects'."""
    return bool(
        re.match(
            r'\{"(?:agent_ref|content)": \[|\{"trajectories": \[|\{"id": "[^"]*", "env": \{', text.lstrip()
        )
        or (text.startswith("[prompt] ") and "\n[output] " in text)
    )


def blocks(text: str) -> Iterator[Row]:
    """EasyR1's validation samples; a block that is not whole yet is left out."""
    marks = list(_BLOCK.finditer(text))
    held: dict[str, str] = {}
    for mark, following in zip(marks, [*marks[1:], None], strict=True):
        if mark[1] == "prompt":
            held = {}
        end = following.start() if following is not None else len(text)
        held[mark[1]] = text[mark.end() : end].rstrip("\n")
        if mark[1] == "score" and "output" in held:
            yield {
                "prompt": held.get("prompt", ""),
                "completion": held["output"],
                "ground_truth": held.get("ground_truth"),
                "score": _number(held["score"]),
            }


# -- NeMo-RL ------------------------------------------------------------------------------------


def _nemo_rl(row: Row) -> Row:
    row = {name: _single(value) for name, value in row.items()}
    prompt, response = _halves(str(row.pop("content") or ""))
    tokens, mask = row.get("token_ids"), row.get("token_loss_mask")
    plain: dict[str, Any] = {"prompt": prompt, "completion": response, "score": row.pop("rewards", None)}
    if isinstance(tokens, list) and isinstance(mask, list) and 1 in mask:
        plain["_group"] = f"tokens {hash(tuple(tokens[: mask.index(1)]))}"
        plain["response_tokens"] = int(sum(mask))
    row.pop("token_ids", None)
    return {**row, **plain}


def _single(value: Any) -> Any:
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def _halves(text: str) -> tuple[str, str]:
    """Prompt and response of a conversation that was joined to one text, split at the first answer."""
    marks = list(_ASSISTANT.finditer(text))
    if not marks:
        return text, text
    return text[: marks[0].end()], text[marks[0].end() :]


# -- prime-rl -----------------------------------------------------------------------------------


def _episode(row: Row) -> Iterator[Row]:
    group = row.get("group")
    for trace in row["traces"]:
        if isinstance(trace, dict):
            task = _mapping(trace.get("task") or row.get("task"))
            named = _mapping(group).get("id") or task.get("key") or task.get("hash")
            yield _trace(trace, _mapping(task.get("data")), named)


def _trace(trace: Row, data: Row, group: Any) -> Row:
    nodes = [node for node in trace.get("nodes") or () if isinstance(node, dict)]
    first = next((i for i, node in enumerate(nodes) if node.get("sampled")), len(nodes))
    rewards = {
        name: score * (_number(held.get("weight", 1.0)) or 0.0)
        for name, held in _mapping(trace.get("rewards")).items()
        if isinstance(held, dict) and (score := _number(held.get("score"))) is not None
    }
    stop = trace.get("stop_condition")
    calls = [call for call in trace.get("calls") or () if isinstance(call, dict)]
    cut = stop in _LIMITS or bool(calls and calls[-1].get("finish_reason") == "length")
    agent = _mapping(trace.get("agent")).get("name") or ""
    plain: dict[str, Any] = {
        "prompt": _said(nodes[:first]) or data.get("prompt"),
        "completion": _said(nodes[first:]),
        "score": sum(rewards.values()) if rewards else None,
        "_parts": rewards,
        "answer": data.get("answer"),
        "stop_condition": stop,
        "is_truncated": cut,
        "errors": trace.get("errors") or None,
        "advantage": _mapping(trace.get("info")).get("advantage"),
        "response_tokens": trace.get("num_output_tokens")
        or sum(bool(kept) for node in nodes for kept in node.get("mask") or ())
        or None,
    }
    if group is not None:
        plain["_group"] = f"{group} {agent}"
    return plain


def _said(nodes: Iterable[Row]) -> str:
    parts = []
    for node in nodes:
        message = _mapping(node.get("message"))
        parts += [part for part in (message.get("reasoning_content"), _text(message.get("content"))) if part]
    return "\n".join(parts)


# -- ART ----------------------------------------------------------------------------------------


def _art_line(trajectories: list[Any]) -> Iterator[Row]:
    """A group a line, as JSON Lines before the tables."""
    kept = [one for one in trajectories if isinstance(one, dict)]
    group = f"group {hash(json.dumps(kept[:1], default=str))}"
    for one in kept:
        yield _trajectory(one, one.get("messages_and_choices") or one.get("messages"), group)


def _trajectory(row: Row, messages: Any, group: str) -> Row:
    turns = [_turn(message) for message in messages or () if isinstance(message, dict)]
    first = next((i for i, (_, own) in enumerate(turns) if own), len(turns))
    metrics = _decoded(row.get("metrics"))
    metadata = _decoded(row.get("metadata"))
    ends = [message.get("finish_reason") for message in messages or () if isinstance(message, dict)]
    end = next((reason for reason in reversed(ends) if reason), None)
    return {
        "_group": group,
        "prompt": "\n".join(text for text, _ in turns[:first]),
        "completion": "\n".join(text for text, _ in turns[first:]),
        "score": row.get("reward"),
        "finish_reason": end,
        **{name: value for name, value in metadata.items() if not isinstance(value, int | float)},
        "_parts": {name: _number(value) for name, value in metrics.items() if _number(value) is not None},
    }


def _turn(message: Row) -> tuple[str, bool]:
    """A message's text, and whether the model said it; a choice holds its message inside."""
    inner = _mapping(message.get("message")) if "finish_reason" in message else message
    text = _text(inner.get("content")) or ""
    calls = inner.get("tool_calls")
    if calls:
        text = f"{text}\n{calls if isinstance(calls, str) else json.dumps(calls, default=str)}".strip()
    return text, bool(message.get("trainable") or "finish_reason" in message)


# -- open-instruct ------------------------------------------------------------------------------


def _tokens(row: Row) -> Row:
    """Ids in place of text: alike responses have alike ids, and that is what they can be compared by."""
    prompt, response = row.get("prompt_tokens") or (), row.get("response_tokens") or ()
    kept = {k: v for k, v in row.items() if k not in ("prompt_tokens", "response_tokens", "sample_idx")}
    return {
        **kept,
        "_group": f"prompt {row.get('prompt_idx')} {hash(tuple(prompt))}",
        "prompt": " ".join(map(str, prompt)),
        "completion": " ".join(map(str, response)),
        "response_tokens": len(response),
    }


def _decoded(value: Any) -> Row:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return _mapping(value)


def _mapping(value: Any) -> Row:
    return value if isinstance(value, dict) else {}


def _text(content: Any) -> str:
    """A message's content: a text, or a list of parts of which some are text."""
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict)).strip()
    return content if isinstance(content, str) else ""


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return float(value) if isinstance(value, bool) else None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None
