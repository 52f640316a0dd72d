"""The non-finite probe: where does the first NaN or Inf appear, from weights to optimizer step? [S0-9]"""
