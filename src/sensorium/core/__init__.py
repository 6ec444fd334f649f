"""What everything else stands on: errors, units, time, frames, specifications, plug-ins."""
