"""One file a command: what it prints and its exit code. Heavy libraries are imported when needed.

`cli` holds the parser; each module here has `run(options) -> int`. Exit codes: 0 fine, 1 found
something at or above `--fail-on`, 2 wrong usage or unreadable input.
"""
