"""All families of checks, in the order of the page."""

from sensorium.validation.air import AIR
from sensorium.validation.allan import ALLAN
from sensorium.validation.beams import BEAMS
from sensorium.validation.camera import CAMERA
from sensorium.validation.depth import DEPTH
from sensorium.validation.determinism import DETERMINISM
from sensorium.validation.devices import DEVICES
from sensorium.validation.engines import ENGINES
from sensorium.validation.fields import FIELDS
from sensorium.validation.fresnel import FRESNEL
from sensorium.validation.inertial import INERTIAL
from sensorium.validation.joints import JOINTS
from sensorium.validation.lidar import LIDAR
from sensorium.validation.noise import NOISE
from sensorium.validation.pulses import PULSES
from sensorium.validation.randomness import RANDOM
from sensorium.validation.ranges import RANGES
from sensorium.validation.surfaces import SURFACES

FAMILIES = (
    FRESNEL,
    SURFACES,
    BEAMS,
    AIR,
    RANGES,
    LIDAR,
    PULSES,
    CAMERA,
    DEPTH,
    INERTIAL,
    JOINTS,
    NOISE,
    ALLAN,
    RANDOM,
    FIELDS,
    ENGINES,
    DEVICES,
    DETERMINISM,
)
