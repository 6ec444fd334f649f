"""From a measurement of a recording to a data sheet of the device, with intervals and what other turns say of it."""
