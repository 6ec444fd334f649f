"""Constants of nature that several models share."""

SPEED_OF_LIGHT_M_S = 299_792_458.0
"""In vacuum [m/s], exact by the definition of the meter."""
