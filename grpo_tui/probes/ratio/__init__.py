"""The ratio probe: same tokens, trainer twice and inference once. Do the probabilities agree? [S0-14]"""
