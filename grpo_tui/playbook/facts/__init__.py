"""What a run answers by itself: facts that nobody has to be asked for.

Rollouts on disk, settings and the arithmetic between them, and lines of the console settle many of the
questions that a playbook asks. Here they become answers by observation id, each with the sentence that
shows where it comes from. A person's answer always wins, and what cannot be told stays unknown: a fact
that guesses would be worse than a question. Nothing here reads a file; the run hands over groups.
"""
