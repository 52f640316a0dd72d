"""What a number is called, what it means, and how its past is read.

This room knows nothing of files, frameworks' consoles or screens: it holds append-only columns
(`series`), the dictionary of names (`catalog`) and the window functions that conditions use
(`windows`). Everything above can rely on it without pulling in a reader or a widget.
"""
