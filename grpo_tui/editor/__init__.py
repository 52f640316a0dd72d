"""Files for editors: what makes a playbook's mistakes and a run's progress visible where people work."""
