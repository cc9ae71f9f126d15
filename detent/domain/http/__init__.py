"""The HTTP target, but for the network: what may be asked of it, whom it may reach, what it sends."""
