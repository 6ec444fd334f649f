"""The depth benchmark's scenes on Warp's CPU device: the same worlds, bodies, rays and outputs."""

from sensorium.qa.benchmarks.rows import depth
from sensorium.qa.benchmarks.timing import ratio
from sensorium.scene.partition.in_parts import SceneInParts
from sensorium.tracing.warp.caster import WarpCaster, WarpImages

WORLDS = 64
"""Fewer than for ourselves, since Warp takes a second for a hundred; the cost of a world does not depend on them."""


class WarpDepth:
    """Depth and labels of a rig's last images, cast by Warp; bodies are placed again each time, as in a step."""

    def __init__(self, of: depth.Rig) -> None:
        state, image, scene = of.env.state, of.camera.read(), of.env.scene
        assert not isinstance(scene, SceneInParts)
        self._caster = WarpCaster(scene, worlds=state.X_WB.shape[0], device="cpu")
        self._poses = {name: state.X_WB[:, of.env.world.body_names.index(name)] for name in self._caster.bodies}
        self._table, self._heads = of.pattern.rays(), image.X_WS[0][:, 0]
        self._far_m = image.far
        self.images: WarpImages | None = None

    def __call__(self) -> None:
        """Place and cast."""
        self._caster.place(self._poses)
        self.images = self._caster.images(self._table, self._heads, t_max_m=self._far_m)


def against_warp(worlds: int = WORLDS, *, rounds: int = 5) -> float:
    """Rate of whole steps of the environment, with the world's motion, over Warp's placing and casting."""
    subject = depth.rig(worlds)
    return ratio(subject.step, WarpDepth(subject), rounds=rounds)
