"""What sensors share: specifications, timing, mounts, sampling, errors, readings."""
