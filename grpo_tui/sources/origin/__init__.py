"""Which framework, fork and version wrote a row or a file."""
