"""A terminal app beside a GRPO run: log line -> curve -> alarm -> guided check -> probe -> recorded decision."""

__version__ = "0.1.0"
