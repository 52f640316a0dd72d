"""Files with one row a step: JSON Lines, CSV, trainer states, notebooks."""
