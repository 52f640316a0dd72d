"""From rows to alarms: triggers, their life, and where a finding began."""
