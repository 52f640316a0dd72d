"""The mask probe: does the loss touch exactly the generated tokens? Prompt, padding, tools: none [S0-13]"""
