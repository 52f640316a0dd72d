"""What a probe runs on: the checkpoint, the model in memory, the prompts, and the tiny stand-in."""
