"""What fills space besides matter: the light of sun and sky."""

from sensorium.fields.sun import Sun

__all__ = ["Sun"]
