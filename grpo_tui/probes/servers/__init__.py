"""Live inference servers, asked over HTTP with the standard library alone: ids in, ids and log-probs out.

Each dialect has a file. What a server cannot do is said before anything is asked of it.
"""
