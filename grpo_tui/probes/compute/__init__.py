"""Device, memory and the two ways a log-prob is computed: a trainer's forward and a KV-cache decode."""
