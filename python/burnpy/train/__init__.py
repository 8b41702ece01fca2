"""Training: metrics, so far; loops, checkpoints and logs are built on them."""
