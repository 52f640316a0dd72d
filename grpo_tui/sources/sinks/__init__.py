"""Binary sinks of experiment trackers: TensorBoard, wandb, trackio; read by our own code, never written."""
