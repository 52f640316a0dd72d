"""Bytes on disk -> records, configuration, rollouts, incidents.

One file a dialect. A reader turns lines (or a whole small file) into the frozen things of
`records`; it keeps no history of its own and knows nothing of runs, rules or screens, so a new
dialect is one new file and nothing else learns of it. `detect` finds the readers of a path by
content, `tail` follows what grows.
"""
