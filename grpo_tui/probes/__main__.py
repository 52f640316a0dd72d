"""Entry of `PYTHON DIR_OF_THIS_FILE ratio ...`: loads the package under a private name.

Running a directory puts that directory first on `sys.path`, where files such as `device.py` would
shadow modules of the training environment. It is taken off again before anything else is imported.
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_NAME = "grpo_tui_probes"


def _without_own_directory() -> str:
    import os

    here = os.path.dirname(os.path.realpath(__file__))  # noqa: PTH120 - pathlib is not safe to import yet
    sys.path[:] = [entry for entry in sys.path if os.path.realpath(entry or os.curdir) != here]
    return here


def _load_main() -> "Callable[[list[str]], int]":
    """The `main` of the package's `cli`, whichever way this file was started."""
    if __package__:
        from . import cli

        return cli.main
    here = _without_own_directory()
    import importlib
    import importlib.util

    spec = importlib.util.spec_from_file_location(
        _NAME, f"{here}/__init__.py", submodule_search_locations=[here]
    )
    assert spec is not None and spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[_NAME] = package
    spec.loader.exec_module(package)
    main: Callable[[list[str]], int] = importlib.import_module(f"{_NAME}.cli").main
    return main


if __name__ == "__main__":
    sys.exit(_load_main()(sys.argv[1:]))
