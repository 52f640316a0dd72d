"""The verifier probe: does the reward function score what it should, wherever it is called? [S3-6] [S3-13]"""
