"""A function of the person's own, named by its place: read first, imported only when it is needed.

Importing runs the file, so what is about to be imported is said beforehand, from the text alone.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..errors import CannotRun


@dataclass(frozen=True)
class Described:
    """What importing will touch: the file, its hash, what it imports, and what it runs at its top level."""

    spec: str
    file: str | None
    sha: str | None
    imports: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def text(self) -> str:
        """One line for a person, before anything is imported."""
        where = self.file or "a module found on the path"
        names = ", ".join(self.imports) or "nothing"
        calls = f"; runs at import: {', '.join(self.runs)}" if self.runs else ""
        return f"imports {where} ({self.spec.rpartition(':')[2]}), which imports {names}{calls}"


def split_spec(spec: str) -> tuple[str, str]:
    """`file.py:function` or `package.module:function` -> both parts. Raises `CannotRun`."""
    place, _, name = spec.rpartition(":")
    if not place or not name.isidentifier():
        raise CannotRun(f"{spec}: name a function as FILE.py:FUNCTION or package.module:FUNCTION")
    return place, name


def describe(spec: str) -> Described:
    """Reads the file without running it. A module is looked up on the path; its parents are not imported."""
    place, _ = split_spec(spec)
    path = Path(place).expanduser() if place.endswith(".py") else _file_of_module(place)
    if path is None:
        return Described(spec, None, None)
    try:
        source = path.read_bytes()
        tree = ast.parse(source, str(path))
    except (OSError, SyntaxError, ValueError) as error:
        raise CannotRun(f"{path} cannot be read as Python: {error}") from None
    imports = [name for node in ast.walk(tree) for name in _imported(node)]
    runs = [_called(node.value) for node in tree.body if isinstance(node, ast.Expr)]
    return Described(
        spec,
        str(path.resolve()),
        hashlib.sha256(source).hexdigest()[:16],
        tuple(dict.fromkeys(imports)),
        tuple(name for name in runs if name),
    )


def _file_of_module(place: str) -> Path | None:
    relative = Path(*place.split("."))
    for entry in sys.path:
        for candidate in (relative.with_suffix(".py"), relative / "__init__.py"):
            if (Path(entry or ".") / candidate).is_file():
                return Path(entry or ".") / candidate
    return None


def _imported(node: ast.AST) -> Iterable[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return ["." * node.level + (node.module or "")]
    return []


def _called(node: ast.expr) -> str | None:
    return ast.unparse(node.func) + "()" if isinstance(node, ast.Call) else None


def load_function(spec: str) -> Callable[..., Any]:
    """Imports and returns the function; a file's own folder goes first on the path, as when it is run.

    Raises `CannotRun` in one line where the import fails or no such function is there.
    """
    place, name = split_spec(spec)
    try:
        module = (
            _import_file(Path(place).expanduser())
            if place.endswith(".py")
            else importlib.import_module(place)
        )
    except CannotRun:
        raise
    except Exception as error:
        raise CannotRun(f"{place} cannot be imported: {type(error).__name__}: {error}") from None
    function: Callable[..., Any] | None = getattr(module, name, None)
    if function is None or not callable(function):
        raise CannotRun(f"{place} has no function {name}")
    return function


def _import_file(path: Path) -> Any:
    if not path.is_file():
        raise CannotRun(f"no such file: {path}")
    sys.path.insert(0, str(path.resolve().parent))
    spec = importlib.util.spec_from_file_location(f"user_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def bound(function: Callable[..., Any], offered: tuple[str, ...]) -> Callable[[dict[str, Any]], Any]:
    """`function` called with those of the `offered` arguments that it names; unknown ones are refused."""
    parameters = inspect.signature(function).parameters.values()
    rest = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)
    unknown = [
        p.name
        for p in parameters
        if p.name not in offered
        and p.default is inspect.Parameter.empty
        and p.kind not in (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    ]
    if unknown:
        raise CannotRun(f"the function asks for {', '.join(unknown)}; it is given {', '.join(offered)}")
    names = set(offered) if rest else {p.name for p in parameters} & set(offered)
    return lambda values: function(**{name: values[name] for name in offered if name in names})
