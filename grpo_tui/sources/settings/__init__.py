"""What a run was told: its settings from files and from its console, under canonical keys, with defaults."""
