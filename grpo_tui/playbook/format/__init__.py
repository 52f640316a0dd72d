"""From a YAML file to a frozen playbook, or to every problem in it with its place."""
