"""What makes a library be read again, and what is kept of the old one."""

from __future__ import annotations

from pathlib import Path

import pytest
from playbook_support import GOOD

from grpo_tui.playbook.library import Library, Source, read_sources
from grpo_tui.playbook.reload import PlaybookWatch

OVERLAY = "extends: entropy-small\nformat: 1\nparams: {window: 50}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.yaml").write_text(GOOD, encoding="utf-8")
    (tmp_path / "b.yaml").write_text(OVERLAY, encoding="utf-8")
    return tmp_path


def watch_of(folder: Path) -> PlaybookWatch:
    return PlaybookWatch(read_sources([Source(folder, "given")]))


def window(library: Library | None) -> object:
    assert library is not None
    return library.playbooks["entropy-small"].params["window"]


def test_nothing_changed(folder: Path) -> None:
    watch = watch_of(folder)
    assert watch.look() is None
    (folder / "notes.txt").write_text("x")
    assert watch.look() is None
    assert PlaybookWatch(Library()).look() is None


def test_an_overlay_is_followed_too(folder: Path) -> None:
    watch = watch_of(folder)
    (folder / "b.yaml").write_text(OVERLAY.replace("50", "7000"))
    assert window(watch.look()) == 7000
    (folder / "b.yaml").unlink()
    assert window(watch.look()) == 200


@pytest.mark.parametrize("broken", ["a.yaml", "b.yaml"])
@pytest.mark.parametrize("text", ["playbook: [", "", "extends: entropy-smal\nformat: 1\n"])
def test_a_broken_edit_keeps_the_old_whole(folder: Path, broken: str, text: str) -> None:
    watch = watch_of(folder)
    before = (folder / broken).read_text()
    (folder / broken).write_text(text)
    library = watch.look()
    assert window(library) == 50
    assert library is not None and {Path(p.path).name for p in library.problems} >= {broken}
    (folder / broken).write_text(before)
    mended = watch.look()
    assert window(mended) == 50 and mended is not None and not mended.problems


def test_a_new_file_and_one_that_goes(folder: Path) -> None:
    watch = watch_of(folder)
    (folder / "c.yaml").write_text(GOOD.replace("playbook: entropy-small", "playbook: other"))
    library = watch.look()
    assert library is not None and set(library.playbooks) == {"entropy-small", "other"}
    (folder / "c.yaml").unlink()
    library = watch.look()
    assert library is not None and set(library.playbooks) == {"entropy-small"}


def test_an_edit_that_uses_a_missing_playbook_keeps_the_old(folder: Path) -> None:
    watch = watch_of(folder)
    (folder / "a.yaml").write_text(
        GOOD.replace("    ask: rollouts.near-identical\n    open: rollouts\n", "    use: nowhere\n")
    )
    library = watch.look()
    assert library is not None and library.problems
    assert window(library) == 50
