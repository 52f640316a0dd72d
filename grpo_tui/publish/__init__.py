"""What leaves the tool as a file: figures, tables, incident reports; and what is masked on the way out."""
