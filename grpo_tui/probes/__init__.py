"""Probes: small checks that run a model for a minute and answer one question about a training run.

This room imports the standard library only, and torch, transformers, safetensors and tokenizers
inside functions. It never imports the rest of the package: a probe has to run in the interpreter
that trains (`[S3-9]`), where textual, pandas and pydantic may not exist, started as
`PYTHON /path/to/grpo_tui/probes ratio --model DIR`. The same files also work imported as
`grpo_tui.probes`, so every import inside is relative.
"""

PROTOCOL = 1
"""Version of the event lines (`v`) and of the result schemas (`probe.<name>/1`)."""
