"""The incident report of a bundled run: what it holds, masked or not, as Markdown and as one HTML file."""

from html.parser import HTMLParser
from pathlib import Path

import pytest

from grpo_tui.cli import main
from grpo_tui.demo import DEMOS
from grpo_tui.publish.page import html_page

RUN = DEMOS["lr-too-high"].folder


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRPO_TUI_STATE", str(tmp_path / "state"))


class Seen(HTMLParser):
    """Tags, and everything that would be fetched or run."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.fetched: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.fetched += [str(v) for name, v in attrs if name in ("src", "href") or name.startswith("on")]


def test_markdown_has_its_figures_beside_it(tmp_path: Path) -> None:
    out = tmp_path / "report" / "i.md"
    out.parent.mkdir()
    assert main(["report", str(RUN), "--out", str(out)]) == 0
    text = out.read_text()
    for part in (
        "# Incident report: lr-too-high",
        "## Alarms",
        "## What explains it",
        "## Curves",
        "## Not known",
    ):
        assert part in text
    referred = {line.split("(")[1].rstrip(")") for line in text.splitlines() if line.startswith("![")}
    assert referred and all((out.parent / name).is_file() for name in referred)
    assert "figures/entropy.svg" in referred


def test_it_says_the_verdict_in_the_words_of_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "i.md"
    assert main(["report", str(RUN), "--out", str(out)]) == 0
    capsys.readouterr()
    assert main(["diagnose", str(RUN)]) == 0
    said = capsys.readouterr().out
    start = said.index("SUSPECTED") if "SUSPECTED" in said else said.index("CONFIRMED")
    told = said[start:].split("\n\n")[0].splitlines()
    assert any("do first:" in line for line in told) and any("would change our mind" in line for line in told)
    written = out.read_text().replace("\\", "").replace("&lt;", "<").replace("&gt;", ">").casefold()
    squeezed = " ".join(written.split())
    assert [line for line in told if " ".join(line.casefold().split()) not in squeezed] == []


def test_html_needs_nothing_else(tmp_path: Path) -> None:
    out = tmp_path / "i.html"
    assert main(["report", str(RUN), "--out", str(out)]) == 0
    seen = Seen(out.read_text())
    assert seen.fetched == [] and "script" not in seen.tags and "img" not in seen.tags
    assert seen.tags.count("svg") >= 4


def test_masked_it_names_no_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "private-place" / "run-9"
    run.mkdir(parents=True)
    log = (RUN / "train.log").read_bytes()
    (run / "train.log").write_bytes(
        log + b"Traceback (most recent call last):\nOSError: http://gpu-77:80/x\n"
    )
    assert main(["report", str(run), "--mask"]) == 0
    said = capsys.readouterr()
    assert "private-place" not in said.out and "gpu-77" not in said.out and "run-9" in said.out
    assert "read the report before you share it" in said.err


def test_foreign_markup_stays_text() -> None:
    page = html_page(
        "<t>", "a <script>alert(1)</script> [x](javascript:alert(1))\n\n![q](figures/none.svg)\n", {}
    )
    seen = Seen(page)
    assert "script" not in seen.tags and "img" not in seen.tags and seen.fetched == []


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["export", str(RUN), "entorpy"], "did you mean 'entropy'?"),
        (["export", "/nowhere"], "no such file"),
        (["export", str(RUN), "--csv", "/nowhere/x.csv"], "cannot be written"),
        (["report", str(RUN), "--out", "/nowhere/x.md"], "cannot be written"),
    ],
)
def test_bad_input_is_one_line(words: list[str], line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    said = capsys.readouterr().err.strip()
    assert line in said and "\n" not in said


def test_one_metric_is_one_file_and_raw_names_are_known(tmp_path: Path) -> None:
    assert main(["export", str(RUN), "reward", "--svg", str(tmp_path / "r.svg")]) == 0
    assert main(["export", str(RUN), "reward", "entropy", "--svg", str(tmp_path / "all")]) == 0
    assert (tmp_path / "r.svg").is_file()
    assert sorted(path.name for path in (tmp_path / "all").iterdir()) == ["entropy.svg", "reward.svg"]
