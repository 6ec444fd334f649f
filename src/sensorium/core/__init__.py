"""The lowest layer, which every other package imports: errors, units, time, frames, specifications, plug-ins."""
