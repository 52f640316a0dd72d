"""From evidence to a ranking: the rule of the format, several playbooks as one, what to ask next."""
