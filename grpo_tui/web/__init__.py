"""The same app in a browser on this machine."""
