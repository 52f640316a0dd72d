"""The models, and the JSON Schema that editors get from them."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from playbook_support import GOOD
from pydantic import ValidationError

from grpo_tui.playbook.format.load import load_text
from grpo_tui.playbook.format.schema import (
    AskStep,
    Branch,
    CheckStep,
    Playbook,
    ProbeStep,
    branches_of,
    conditions_of,
    json_schema,
    kind_of_step,
)
from grpo_tui.playbook.vocabulary import diagnoses, observations


@pytest.fixture
def playbook() -> Playbook:
    return load_text(GOOD, "a.yaml")


def test_steps_are_of_the_kind_their_key_says(playbook: Playbook) -> None:
    assert [kind_of_step(step) for step in playbook.steps] == ["check", "ask", "config", "probe"]
    check, ask, _, probe = playbook.steps
    assert isinstance(check, CheckStep) and check.if_true.evidence == {"healthy": 2, "collapse.entropy": -1}
    assert isinstance(ask, AskStep) and ask.cases[2].otherwise and ask.cases[2].note == "nobody looked"
    assert isinstance(probe, ProbeStep) and (probe.timeout, probe.with_) == (600, {"tokens": 2048})


def test_models_are_frozen_and_closed(playbook: Playbook) -> None:
    with pytest.raises(ValidationError):
        playbook.title = "other"  # type: ignore[misc]
    with pytest.raises(ValidationError):
        Branch.model_validate({"gto": "end"})


def test_a_file_cannot_say_where_it_came_from() -> None:
    tree = yaml.safe_load(GOOD)
    for key in ("origin", "digest", "lines", "_source"):
        with pytest.raises(ValidationError):
            Playbook.model_validate({**tree, key: "x"})


def test_parameters_can_be_overridden_but_not_invented(playbook: Playbook) -> None:
    changed = playbook.with_params({"window": 50})
    assert (changed.params["window"], playbook.params["window"]) == (50, 200)
    assert changed.digest == playbook.digest and changed.lines == playbook.lines
    with pytest.raises(KeyError, match="did you mean 'window'"):
        playbook.with_params({"windw": 50})


def test_every_branch_and_condition_has_its_place_in_the_file(playbook: Playbook) -> None:
    for index, step in enumerate(playbook.steps):
        for place, _ in branches_of(step):
            assert ("steps", index, *place) in playbook.lines
    places = [place for place, _ in conditions_of(playbook)]
    assert ("trigger", "raise", "warning") in places and ("fixes", 0, "expect", "check") in places
    assert all(place in playbook.lines for place in places)
    assert len(places) == 9


def test_a_playbook_survives_a_round_trip(playbook: Playbook) -> None:
    data = json.loads(playbook.model_dump_json(by_alias=True, exclude_defaults=True))
    assert Playbook.model_validate(data).model_dump() == playbook.model_dump()


def nodes(value: Any) -> list[dict[str, Any]]:
    found = [value] if isinstance(value, dict) else []
    for child in value.values() if isinstance(value, dict) else value if isinstance(value, list) else []:
        found.extend(nodes(child))
    return found


def test_json_schema_describes_every_field_and_knows_the_closed_sets() -> None:
    schema = json_schema()
    assert schema["$schema"] == "http://json-schema.org/draft-07/schema#"
    for name, model in {"": schema, **schema["definitions"]}.items():
        for key, field in model.get("properties", {}).items():
            assert field.get("description"), f"{name}.{key}"
    text = json.dumps(schema)
    for id in (*diagnoses(), *observations(), "ratio", "grad_norm", "temperature"):
        assert json.dumps(id) in text
    assert "drop(metric, within=1000)" in text


def test_json_schema_refers_only_to_what_it_holds() -> None:
    schema = json_schema()
    for node in nodes(schema):
        if "$ref" in node:
            assert node["$ref"].removeprefix("#/definitions/") in schema["definitions"]


def test_json_schema_accepts_the_good_playbook_and_not_a_typo() -> None:
    validator = pytest.importorskip("jsonschema").Draft7Validator(json_schema())
    tree = yaml.safe_load(GOOD)
    assert not list(validator.iter_errors(tree))
    tree["titel"] = tree.pop("title")
    assert list(validator.iter_errors(tree))


def test_an_alias_is_also_looked_for_under_its_canonical_name() -> None:
    text = GOOD.replace("metrics: {", "metrics: {ent: [our/entropy, actor/entropy], ")
    assert load_text(text, "a.yaml").metric_keys("ent") == ("our/entropy", "actor/entropy", "entropy")
