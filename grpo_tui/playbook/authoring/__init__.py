"""For whoever writes a playbook: lint, and the tests a playbook carries, on made-up curves."""
