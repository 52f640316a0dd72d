"""What was compared, in words and numbers a person can check on the chart."""
