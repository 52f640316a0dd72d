"""Markdown and figures as one HTML file that needs nothing else: no script, no font, no network."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping

from markdown_it import MarkdownIt

_FIGURE = re.compile(r'<p>\s*<img src="figures/([\w-]+)\.svg"[^>]*>\s*</p>')
_STYLE = """
:root{color-scheme:light dark;--ink:#1c2329;--paper:#fbfbf8;--line:#d5d8d2;--soft:#f0f0ec}
@media (prefers-color-scheme:dark){:root{--ink:#d8dee6;--paper:#101418;--line:#3a4653;--soft:#1b222a}}
body{color:var(--ink);background:var(--paper);font:15px/1.55 system-ui,sans-serif;margin:0 auto;
max-width:52rem;padding:2rem 1.25rem 4rem}
h1{font-size:1.6rem;margin:0 0 1rem}
h2{font-size:1.2rem;margin:2.2rem 0 .6rem;border-bottom:1px solid var(--line)}
h3{font-size:1rem;margin:1.4rem 0 .4rem}h4{font-size:1rem;margin:1rem 0 .3rem}
code{font:13px ui-monospace,monospace;background:var(--soft);padding:.1em .3em;border-radius:3px;
overflow-wrap:anywhere}
table{border-collapse:collapse;display:block;overflow-x:auto}
td,th{border:1px solid var(--line);padding:.25rem .6rem;text-align:left;vertical-align:top}
figure{margin:1rem 0}figure svg{max-width:100%;height:auto}li{margin:.15rem 0}
@media print{body{max-width:none}figure{break-inside:avoid}}
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def html_page(title: str, markdown: str, figures: Mapping[str, str]) -> str:
    """The whole document. HTML inside the Markdown stays text; `figures` are our own SVG."""
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    body = _FIGURE.sub(lambda match: _figure(match, figures), reader.render(markdown))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{html.escape(_POLICY)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{_STYLE}</style></head>\n<body>\n{body}</body></html>\n"
    )


def _figure(match: re.Match[str], figures: Mapping[str, str]) -> str:
    svg = figures.get(match[1])
    return f"<figure>{svg}</figure>" if svg is not None else ""
