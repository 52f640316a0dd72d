"""A walk through a playbook: the step machine, its written memory, its report."""
