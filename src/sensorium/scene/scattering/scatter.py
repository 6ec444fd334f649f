"""Objects scattered at random over worlds: a number of assets in a region, with a gap between them on request."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensorium.core.errors import SceneError
from sensorium.core.frames import Pose
from sensorium.scene.mesh import Mesh
from sensorium.scene.scene import SceneObject


class ScatterTables(NamedTuple):
    """One row a scatter; lists of several entries are numbered through all scatters."""

    asset_first: NDArray[np.int64]  # (scatters + 1,) assets of scatter g are asset_first[g] .. asset_first[g + 1]
    slot_first: NDArray[np.int64]  # (scatters + 1,)
    clear_first: NDArray[np.int64]  # (scatters + 1,)
    counts: NDArray[np.int64]  # (scatters, 2) least and most
    region: NDArray[np.float64]  # (scatters, 2, 3) low and high corner [m]
    turn_rad: NDArray[np.float64]  # (scatters, 2, 3) least and greatest roll, pitch, yaw
    gap_m: NDArray[np.float64]  # (scatters,) -1: may overlap
    moves: NDArray[np.bool_]  # (scatters,) whether bodies carry it
    attempts: NDArray[np.int64]  # (scatters,)
    leaves_out: NDArray[np.bool_]  # (scatters,) whether an object without a free place is left out
    room: NDArray[np.float64]  # (assets, 3) radius, lower and upper end of the cylinder it takes up [m]
    clear: NDArray[np.float64]  # (pieces, 5) x, y of both ends and radius of clear zones [m]


Vector = tuple[float, float, float]
Range = tuple[float, float]

STREAM = "scatter"
"""Name of the stream that places are drawn from."""

_MOST_ATTEMPTS = 65_536  # draws distinguished by the counter


@dataclass(frozen=True, eq=False)
class ClearZone:
    """A zone of every world, seen from above, that objects must not reach into.

    Attributes:
        points: One point (x, y) [m] to stay away from, or several: a way from one to the next.
        radius_m: How far to stay away from it [m].
    """

    points: ArrayLike
    radius_m: float

    def __post_init__(self) -> None:
        points = np.asarray(self.points, np.float64)
        if points.size == 0 or points.shape[-1:] != (2,) or points.ndim > 2 or not np.isfinite(points).all():
            raise SceneError(f"points is {self.points!r}; it must be one point (x, y) or a sequence of them, finite")
        if not (math.isfinite(self.radius_m) and self.radius_m >= 0.0):
            raise SceneError(f"radius_m is {self.radius_m}; it must be finite and at least 0")

    def segments(self) -> NDArray[np.float64]:
        """Its way, piece by piece: x, y of one end, x, y of the other and the radius [m], shape (pieces, 5)."""
        points = np.asarray(self.points, np.float64).reshape(-1, 2)
        ends = np.concatenate([points[:1], points]) if len(points) == 1 else points
        radius = np.full((len(ends) - 1, 1), self.radius_m)
        return np.concatenate([ends[:-1], ends[1:], radius], axis=1)


@dataclass(frozen=True, eq=False)
class Scatter:
    """A number of assets, each at its own random pose in every world.

    An asset occupies the upright cylinder about its own origin that contains it at any rotation about z, or at any
    rotation if roll or pitch are drawn too. Two such cylinders are clear of each other if they are so from above, or if
    one ends below the other.

    Attributes:
        assets: Assets, chosen equally often: meshes, or scene objects to give them a material and a label.
        count: How many in each world; or the least and the most of them, all equally likely.
        low: Corner of the region [m], x y z of the asset's origin.
        high: The corner opposite.
        yaw_deg: Least and greatest angle about z [deg]; R = Rz(yaw) Ry(pitch) Rx(roll).
        pitch_deg: About y.
        roll_deg: About x.
        gap_m: Least distance from objects scattered before, in this scatter and in those before it [m]. None: they may
            overlap.
        room_m: Radius of the cylinder that each takes up [m], instead of the one that holds its mesh: that of a trunk
            lets crowns touch.
        clear: Zones that they must not reach into.
        body: Bodies that carry them, one for each of `count`; the region is then in the body's frame. None fixes them
            in their worlds.
        when_full: What to do in a world where an object finds no free place: "raise", or "leave out" the object.

    >>> posts = sn.Scatter([sn.shapes.cylinder(0.2, 3.0)], 5, low=(-9, -9, 1.5), high=(9, 9, 1.5), gap_m=1.0)
    >>> scene = sn.SceneBatch.scattered([posts], worlds=3, seed=1)
    >>> scene.index.shape, scene.pose.shape
    ((3, 5), (3, 5))
    """

    assets: Sequence[SceneObject | Mesh]
    count: int | tuple[int, int]
    low: Vector = (0.0, 0.0, 0.0)
    high: Vector = (0.0, 0.0, 0.0)
    yaw_deg: Range = (-180.0, 180.0)
    pitch_deg: Range = (0.0, 0.0)
    roll_deg: Range = (0.0, 0.0)
    gap_m: float | None = None
    room_m: float | None = None
    clear: Sequence[ClearZone] = ()
    body: Sequence[str] | None = None
    when_full: Literal["raise", "leave out"] = "raise"
    attempts: int = 200
    """Number of places tried for each object."""
    objects: tuple[SceneObject, ...] = field(init=False, repr=False)
    """The assets as scene objects."""

    def __post_init__(self) -> None:
        made = checked_assets(self.assets)
        object.__setattr__(self, "objects", made)
        if not made:
            raise SceneError("assets is empty; something must be scattered")
        try:
            least, most = self.counts
            whole = (least, most) == (int(least), int(most)) and 0 <= least <= most and most >= 1
        except (TypeError, ValueError, OverflowError):
            whole = False
        if not whole:
            raise SceneError(
                f"count is {self.count!r}; it must be a whole number of at least 1, or least and most of it"
            )
        for name, size in (("low", 3), ("high", 3), ("yaw_deg", 2), ("pitch_deg", 2), ("roll_deg", 2)):
            value = getattr(self, name)
            if not _are_numbers(value, size):
                raise SceneError(f"{name} is {value!r}; it must be {size} numbers")
        for name, low, high in (
            *zip("xyz", self.low, self.high, strict=True),
            ("yaw_deg", *self.yaw_deg),
            ("pitch_deg", *self.pitch_deg),
            ("roll_deg", *self.roll_deg),
        ):
            if not (math.isfinite(low) and math.isfinite(high) and low <= high):
                raise SceneError(f"{name} runs from {low} to {high}; it must be finite and not fall")
        for name in ("gap_m", "room_m"):
            length = getattr(self, name)
            if length is not None and not (math.isfinite(length) and length >= 0.0):
                raise SceneError(f"{name} is {length}; it must be None, or finite and at least 0")
        if self.when_full not in ("raise", "leave out"):
            raise SceneError(f"when_full is {self.when_full!r}; it must be 'raise' or 'leave out'")
        if not 1 <= self.attempts <= _MOST_ATTEMPTS:
            raise SceneError(f"attempts is {self.attempts}; it must be from 1 to {_MOST_ATTEMPTS}")
        if self.body is not None and (isinstance(self.body, str) or len(self.body) != most):
            raise SceneError(f"body is {self.body!r}; it must name {most} bodies, one for each of count")
        if self.body is not None and (self.gap_m is not None or self.clear):
            raise SceneError("gap_m or clear is given with body; what moves with a body keeps no distance")

    @property
    def counts(self) -> tuple[int, int]:
        """Least and most of them in a world."""
        least, most = (self.count, self.count) if isinstance(self.count, int | np.integer) else self.count
        return least, most

    @property
    def tilts(self) -> bool:
        """Whether objects are rotated about x or y too."""
        return any(self.roll_deg) or any(self.pitch_deg)


def _are_numbers(value: object, size: int) -> bool:
    """Whether a value is a row of this many numbers."""
    try:
        return np.asarray(value, np.float64).shape == (size,)
    except (TypeError, ValueError):
        return False


def checked_assets(assets: Iterable[SceneObject | Mesh]) -> tuple[SceneObject, ...]:
    """Assets as scene objects; any other value, or a single one instead of a sequence, is refused."""
    if isinstance(assets, Mesh | SceneObject):
        raise SceneError(f"assets is a single {type(assets).__name__}; it must be a sequence of them, such as [asset]")
    if isinstance(assets, str) or not isinstance(assets, Iterable):
        rule = "it must be a sequence of Meshes or SceneObjects"
        raise SceneError(f"assets is a {type(assets).__name__}, {assets!r}; {rule}")
    made = tuple(SceneObject(asset) if isinstance(asset, Mesh) else asset for asset in assets)
    for k, asset in enumerate(made):
        if not isinstance(asset, SceneObject):
            raise SceneError(f"asset {k} is a {type(asset).__name__}; it must be a Mesh or a SceneObject")
    return made


class Placer:
    """Draws the slots of any world in any of its episodes: a function of seed, world and episode alone.

    For `SceneBatch(redraw=...)`.
    """

    def __init__(self, scatters: Sequence[Scatter], seed: int) -> None:
        if isinstance(scatters, Scatter):
            raise SceneError("scatters is a single Scatter; it must be a sequence of them, such as [scatter]")
        self.scatters = tuple(scatters)
        if not self.scatters:
            raise SceneError("scatters is empty; there must be one at least")
        for number, scatter in enumerate(self.scatters):
            if not isinstance(scatter, Scatter):
                raise SceneError(f"scatter {number} is a {type(scatter).__name__}; it must be a sn.Scatter")
        self.assets = tuple(asset for scatter in self.scatters for asset in scatter.objects)
        self.slots = sum(scatter.counts[1] for scatter in self.scatters)
        self.body: tuple[str | None, ...] = tuple(
            name for scatter in self.scatters for name in (scatter.body or (None,) * scatter.counts[1])
        )
        # Imported here: compiled code loads slowly, and few scenes scatter objects
        from sensorium.random import stream_key

        self._key = np.array(stream_key(seed, STREAM), np.uint32)
        self._tables = _tables(self.scatters)

    def __call__(self, worlds: NDArray[np.int64], episodes: NDArray[np.int64]) -> tuple[NDArray[np.int32], Pose]:
        """Asset index, -1 for none, and X_BS of every slot, shape (worlds, slots).

        Args:
            worlds: Numbers of worlds among all of an experiment, shape (worlds,).
            episodes: How often each was drawn before, same shape.
        """
        from sensorium.runtime import worker_pool
        from sensorium.scene.scattering.scatter_kernel import strew

        shape = (len(worlds), self.slots)
        index = np.zeros(shape, np.int32)
        position, quaternion = np.zeros((*shape, 3)), np.zeros((*shape, 4))
        full = np.full(len(worlds), -1, np.int32)
        numbers = np.ascontiguousarray(worlds, np.int64), np.ascontiguousarray(episodes, np.int64)
        worker_pool.share(strew, len(worlds), *numbers, self._tables, self._key, index, position, quaternion, full)
        if (full >= 0).any():
            row = int(np.argmax(full >= 0))
            number = int(full[row])
            scatter = self.scatters[number]
            raise SceneError(
                f"world {worlds[row]} has no room for all of scatter {number}: {scatter.attempts} places were tried "
                f"for one thing; make its region larger, its gap_m ({scatter.gap_m}) or count smaller, or let "
                "when_full be 'leave out'"
            )
        return index, Pose._trusted(position, quaternion)


def scattered_objects(scatters: Sequence[Scatter], *, seed: int, world: int = 0, episode: int = 0) -> list[SceneObject]:
    """Objects of scatters in one world, for a `Scene`.

    Args:
        scatters: As for `SceneBatch.scattered`.
        seed: Of the places.
        world: Number of the world.
        episode: Which of its draws.
    """
    placer = Placer(scatters, seed)
    index, X_BS = placer(np.array([world]), np.array([episode]))
    return [
        SceneObject(asset.mesh, X_BS[0, slot] @ asset.pose, placer.body[slot], asset.material, asset.label)
        for slot, asset in ((slot, placer.assets[kind]) for slot, kind in enumerate(index[0]) if kind >= 0)
    ]


def _tables(scatters: Sequence[Scatter]) -> ScatterTables:
    """Scatters as the kernel reads them."""
    room, zones = [], [np.zeros((0, 5))]
    assets, slots, clear = [0], [0], [0]
    for scatter in scatters:
        room += [_room(asset, scatter) for asset in scatter.objects]
        zones += [zone.segments() for zone in scatter.clear]
        assets.append(len(room))
        slots.append(slots[-1] + scatter.counts[1])
        clear.append(sum(len(zone) for zone in zones))
    turns = [np.radians([s.roll_deg, s.pitch_deg, s.yaw_deg]) for s in scatters]
    return ScatterTables(
        asset_first=np.array(assets, np.int64),
        slot_first=np.array(slots, np.int64),
        clear_first=np.array(clear, np.int64),
        counts=np.array([s.counts for s in scatters], np.int64),
        region=np.array([(s.low, s.high) for s in scatters], np.float64),
        turn_rad=np.array(turns, np.float64).transpose(0, 2, 1).copy(),
        gap_m=np.array([-1.0 if s.gap_m is None else s.gap_m for s in scatters]),
        moves=np.array([s.body is not None for s in scatters]),
        attempts=np.array([s.attempts for s in scatters], np.int64),
        leaves_out=np.array([s.when_full == "leave out" for s in scatters]),
        room=np.array(room, np.float64),
        clear=np.concatenate(zones),
    )


def _room(asset: SceneObject, scatter: Scatter) -> Vector:
    """Radius, lower and upper end [m] of the cylinder about its slot's origin that an asset takes up."""
    used = asset.mesh.vertices[np.unique(asset.mesh.faces)]
    p_S = asset.pose.apply(used)
    radius, low, high = float(np.hypot(p_S[:, 0], p_S[:, 1]).max()), float(p_S[:, 2].min()), float(p_S[:, 2].max())
    if scatter.tilts:
        radius = high = float(np.linalg.norm(p_S, axis=1).max())
        low = -high
    return radius if scatter.room_m is None else scatter.room_m, low, high
