"""What lies at a path: one run, several, or none; and which reader each file wants."""
