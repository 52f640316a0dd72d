"""Explain one metric of a run: the catalog's sentences with what this run says about itself."""

from __future__ import annotations

import difflib

from .metrics.catalog import catalog
from .metrics.explanation import Context, Explanation
from .metrics.explanation import explain as in_words
from .run import Run
from .sources.origin.version import parse
from .summary import where_of

__all__ = ["Explanation", "explain", "known", "resolve", "suggest"]


def explain(run: Run, name: str) -> Explanation:
    """Explain a metric of `run` by its canonical name, its raw one, or that of a derived metric.

    A metric that the run does not have is explained all the same; its `last` part says so.
    """
    name = resolve(run, name)
    logged = next((track for track in run.tracks if track.newest.find(name) is not None), None)
    told = run.config if run.config_known else {k: v for k, v in run.config.items() if not v.default}
    context = Context(
        framework=run.framework,
        releases=parse(run.framework_version),
        raw=run.raw_name(name) if logged is not None else "",
        source=f"{where_of(run, logged.source.path)} ({logged.source.reader.name})" if logged else "",
        formula=run.derivation(name).formula if logged is None else "",
        resolution=run.resolution(name),
        settings={key: held.value for key, held in told.items()},
    )
    return in_words(name, run.points(name), context)


def resolve(run: Run, name: str) -> str:
    """The name under which the run keeps a metric that was asked for in any spelling."""
    wanted = name.strip()
    held = run.names()
    if wanted in held or wanted in catalog().metrics:
        return wanted
    for known in held:
        if run.raw_name(known) == wanted:
            return known
    claims = catalog().claims(wanted)
    return claims[0][0] if claims else wanted


def known(run: Run, name: str) -> bool:
    """Whether anything can be said of a name: the run has it, or the catalog does."""
    found = resolve(run, name)
    return found in run.names() or catalog().metric(found) is not None


def suggest(run: Run, name: str) -> list[str]:
    """Names near to one that nobody knows."""
    candidates = [*run.names(), *run.derived, *catalog().metrics]
    near = difflib.get_close_matches(name, candidates, n=3, cutoff=0.5)
    return near or [held for held in candidates if name.lower() in held.lower()][:3]
