"""Radar properties of objects: which are targets, and the cross-section of each from the viewing direction."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.core.frames import Pose
from sensorium.physics.materials import Mirror
from sensorium.physics.materials.base import MAX_TRANSPARENT_K
from sensorium.physics.optics.spectra import Spectrum, extremes
from sensorium.physics.radio.permittivity import normal_reflectance, permittivity
from sensorium.physics.radio.reflectors import AbstractReflector
from sensorium.scene.layout import Layout
from sensorium.scene.mesh import Mesh
from sensorium.sensors.radar.spec import LABELS, Radar

Float = NDArray[np.float64]

# Area vectors of a closed surface sum to zero, up to this share of its area
_CLOSED = 1e-6

# Faces times directions that are computed at once
_AT_ONCE = 1_000_000


class Targets:
    """Cross-sections of the objects of all worlds."""

    def __init__(self, spec: Radar, layout: Layout, body_names: tuple[str, ...]) -> None:
        self._spec, self.layout = spec, layout
        _check_names(spec, layout)
        labels = {number: name for name, number in layout.label_numbers.items()}
        self.body = np.array([-1 if name is None else body_names.index(name) for name in layout.body], np.int64)
        """Body of each object, -1 for the world, shape (objects,)."""
        rows, objects = layout.mesh_index.shape
        self.is_target = np.ones((rows, objects), np.bool_)
        """Whether an object is a target, and not ground; shape (rows, objects), one row if all worlds are equal."""
        self.is_given = np.zeros((rows, objects), np.bool_)
        """Whether its cross-section is given."""
        self.reflectance = np.zeros((rows, objects))
        """|R|^2 of its material [1]."""
        self.group = np.arange(objects)[None].repeat(rows, axis=0)
        """First object of the target that each is a part of, shape (rows, objects)."""
        self._stated_m2 = np.zeros((rows, objects))
        self._shapes: dict[tuple[int, int], AbstractReflector] = {}
        ground = () if spec.ground is None else spec.ground.labels
        groups: dict[tuple[int, str, str], int] = {}
        for row, column in np.argwhere(layout.mesh_index >= 0).tolist():
            name, label = layout.name[column] or "", labels.get(int(layout.label[row, column]), "")
            self.is_target[row, column] = label not in ground or not label
            material = layout.materials[layout.material_index[row, column]]
            self.reflectance[row, column] = self._reflectance(name, label, material)
            given = next((spec.cross_sections[key] for key in (name, label) if key in spec.cross_sections), None)
            by_label = name not in spec.cross_sections
            given = LABELS.get(label) if given is None else given
            if given is None:
                continue
            self.is_given[row, column] = True
            if isinstance(given, AbstractReflector):
                self._shapes[row, column] = given
            else:
                self._stated_m2[row, column] = given

            # Parts of one body with one label are one target, whose cross-section they share
            body = layout.body[column]
            if by_label and body is not None and not isinstance(given, AbstractReflector):
                self.group[row, column] = groups.setdefault((row, body, label), column)

    def stated(self, p_WS: Float, world: NDArray[np.int64], X_WB: Pose) -> Float:
        """Stated cross-section of the whole target that each object is, or is a part of [m^2], shape (heads, objects).

        0 for objects whose cross-section is not given.

        Args:
            p_WS: Where the sensors are [m], shape (heads, 3).
            world: World of each, shape (heads,).
            X_WB: Poses of the bodies, batch shape (worlds, bodies).
        """
        rows = self.rows_of(world)
        sigma: Float = self._stated_m2[rows]
        for (row, column), shape in self._shapes.items():
            at = np.flatnonzero(rows == row)
            away = self._away(row, column, at, p_WS, world, X_WB)
            sigma[at, column] = shape.cross_section(away, wavelength_m=self._spec.chirp.wavelength_m)
        return sigma

    def whole(self, p_WS: Float, world: NDArray[np.int64], X_WB: Pose, in_sight: NDArray[np.bool_]) -> Float:
        """Cross-sections of whole objects [m^2], shape (heads, objects): as stated, else area times reflectance.

        Parts in sight of one target share its cross-section by their area.

        Args:
            p_WS, world, X_WB: As for `stated`.
            in_sight: Which objects are, shape (heads, objects).
        """
        rows = self.rows_of(world)
        sigma, area = self.stated(p_WS, world, X_WB), np.zeros(in_sight.shape)
        wanted = in_sight & (~self.is_given | self._is_part)[rows]
        for column in np.flatnonzero(wanted.any(axis=0)).tolist():
            for row in np.unique(rows[wanted[:, column]]).tolist():
                at = np.flatnonzero(wanted[:, column] & (rows == row))
                away = self._away(row, column, at, p_WS, world, X_WB)
                area[at, column] = self._areas[int(self.layout.mesh_index[row, column])].projected(away)
        sigma = np.where(self.is_given[rows], sigma, area * self.reflectance[rows])
        head, part = np.nonzero(in_sight & self._is_part[rows])
        together = np.zeros(in_sight.shape)
        np.add.at(together, (head, self.group[rows[head], part]), area[head, part])
        sigma[head, part] *= area[head, part] / np.maximum(together[head, self.group[rows[head], part]], 1e-12)
        return sigma

    def rows_of(self, world: NDArray[np.int64]) -> NDArray[np.int64]:
        """Rows of these tables for worlds; there is one if all worlds are equal."""
        return world if len(self.is_target) > 1 else np.zeros(len(world), np.int64)

    def _away(
        self, row: int, column: int, at: NDArray[np.int64], p_WS: Float, world: NDArray[np.int64], X_WB: Pose
    ) -> Float:
        """Unit vectors from the middle of an object to the sensors `at`, in the object's frame, shape (n, 3)."""
        X_BO, body = self.layout.X_BO[row, column], int(self.body[column])
        X_WO = X_BO if body < 0 else X_WB[world[at], body] @ X_BO
        away = X_WO.inverse().apply(p_WS[at]) - self.layout.meshes[int(self.layout.mesh_index[row, column])].center
        return np.asarray(away / np.maximum(np.linalg.norm(away, axis=-1, keepdims=True), 1e-9))

    @cached_property
    def _is_part(self) -> NDArray[np.bool_]:
        """Whether an object is one of several parts of a target, shape (rows, objects)."""
        members = np.zeros(self.group.shape, np.int64)
        row = np.arange(len(self.group))[:, None]
        np.add.at(members, (row, self.group), self.is_given)
        return np.asarray(self.is_given & (members[row, self.group] > 1))

    @cached_property
    def _areas(self) -> list["_Areas"]:
        return [_Areas(mesh) for mesh in self.layout.meshes]

    def _reflectance(self, name: str, label: str, material: object | None) -> float:
        """|R|^2 at normal incidence: as given, else by the material's index; metals are mirrors."""
        spec = self._spec
        given = next((spec.permittivities[key] for key in (name, label) if key in spec.permittivities), None)
        if isinstance(given, str):
            return float(normal_reflectance(permittivity(given, frequency_hz=spec.chirp.carrier_hz)))
        if given is not None:
            return float(normal_reflectance(given))
        if isinstance(material, Mirror) or extremes(getattr(material, "extinction_coefficient", 0.0))[1] > (
            MAX_TRANSPARENT_K
        ):
            return 1.0
        index: float | Spectrum | None = getattr(material, "refractive_index", None)
        if index is None:
            return float(normal_reflectance(spec.default_permittivity))
        longest = index.value[-1] if isinstance(index, Spectrum) else index
        return float(normal_reflectance(max(longest, 1.0) ** 2))


def _check_names(spec: Radar, layout: Layout) -> None:
    """Raise if the radar names an object that the scene does not have, which is usually a misspelt name."""
    known = {name for name in layout.name if name} | set(layout.label_numbers)
    if not known:
        return
    for field in ("cross_sections", "permittivities"):
        for key in getattr(spec, field):
            if key not in known:
                have = ", ".join(sorted(known))
                raise SpecError(f"{field} has {key!r}; it must be an object's name or label, of which there are {have}")


class _Areas:
    """Faces of a mesh as area vectors, to compute its projected area from any side."""

    def __init__(self, mesh: Mesh) -> None:
        corners = mesh.vertices[mesh.faces]
        self._vectors = 0.5 * np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        self._one_sided = mesh.one_sided
        total = np.linalg.norm(self._vectors, axis=1).sum()

        # A closed body is seen from both sides at once, a sheet is not
        self._sides = 0.5 if np.linalg.norm(self._vectors.sum(axis=0)) <= _CLOSED * total else 1.0

    def projected(self, direction: Float) -> Float:
        """Area across unit directions, shape (n, 3) [m^2]; of a body with hollows, parts that hide others count."""
        at_once = max(1, _AT_ONCE // len(self._vectors))
        pieces = [direction[i : i + at_once] @ self._vectors.T for i in range(0, len(direction), at_once)]
        if self._one_sided is None:
            return self._sides * np.concatenate([np.abs(piece).sum(axis=1) for piece in pieces])
        seen = [np.where(self._one_sided, piece.clip(0.0), self._sides * np.abs(piece)) for piece in pieces]
        return np.concatenate([piece.sum(axis=1) for piece in seen])
