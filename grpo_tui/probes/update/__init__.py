"""The update probe: three real optimizer steps and their prediction. Do the weights move? [S3-2]"""
