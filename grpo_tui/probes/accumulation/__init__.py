"""The accumulation probe: one batch of N against N accumulated ones. Is the gradient the same? [S0-13]"""
