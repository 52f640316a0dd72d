"""Console lines that are facts: how they are found, what they mean, in which stage they happened."""
