"""All families of checks, in the order of the page."""

from sensorium.qa.validation.laws.air import AIR
from sensorium.qa.validation.laws.allan import ALLAN
from sensorium.qa.validation.laws.beams import BEAMS
from sensorium.qa.validation.laws.camera import CAMERA
from sensorium.qa.validation.laws.cones import CONES
from sensorium.qa.validation.laws.depth import DEPTH
from sensorium.qa.validation.laws.determinism import DETERMINISM
from sensorium.qa.validation.laws.devices import DEVICES
from sensorium.qa.validation.laws.engines import ENGINES
from sensorium.qa.validation.laws.fields import FIELDS
from sensorium.qa.validation.laws.fresnel import FRESNEL
from sensorium.qa.validation.laws.inertial import INERTIAL
from sensorium.qa.validation.laws.joints import JOINTS
from sensorium.qa.validation.laws.lidar import LIDAR
from sensorium.qa.validation.laws.noise import NOISE
from sensorium.qa.validation.laws.pulses import PULSES
from sensorium.qa.validation.laws.radar import RADAR
from sensorium.qa.validation.laws.randomness import RANDOM
from sensorium.qa.validation.laws.ranges import RANGES
from sensorium.qa.validation.laws.recordings import RECORDINGS
from sensorium.qa.validation.laws.surfaces import SURFACES

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
    CONES,
    RADAR,
    INERTIAL,
    JOINTS,
    NOISE,
    ALLAN,
    RANDOM,
    FIELDS,
    ENGINES,
    DEVICES,
    RECORDINGS,
    DETERMINISM,
)
