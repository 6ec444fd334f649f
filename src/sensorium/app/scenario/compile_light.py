"""Compiles the kernels of light for lidars, as `python -m sensorium.app.scenario.compile_light`, and exits.

One sweep in a world of one wall does it: the kernel is the same for every scene, medium and lidar.
"""

from sensorium.core.frames import Pose
from sensorium.environment import Environment
from sensorium.patterns import Spinning
from sensorium.scene import shapes
from sensorium.scene.scene import Scene
from sensorium.sensors.lidar.lidar import Lidar
from sensorium.worlds import Static


def compile_light() -> None:
    """Fire one sweep of a few rays, only to compile its kernels."""
    scene = Scene()
    scene.add(shapes.box(1.0, 1.0, 1.0), pose=Pose((5.0, 0.0, 0.0)))
    env = Environment(scene, Static(step_s=0.1))
    env.attach(Lidar(pattern=Spinning(elevation_deg=(0.0,), columns=4, rate_hz=10.0), mode="relative"))
    env.step()


if __name__ == "__main__":
    compile_light()
