"""What objects are to a radar: which are targets, and the cross-section of each from where it is seen."""

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.errors import SpecError
from sensorium.frames import Pose
from sensorium.materials import Mirror
from sensorium.materials.base import MAX_TRANSPARENT_K
from sensorium.radio.permittivity import normal_reflectance, permittivity
from sensorium.radio.reflectors import AbstractReflector
from sensorium.scene.layout import Layout
from sensorium.scene.mesh import Mesh
from sensorium.sensors.radar.spec import LABELS, Radar
from sensorium.spectra import Spectrum, extremes

Float = NDArray[np.float64]

# Area vectors of a closed surface sum to nothing, up to this share of its area
_CLOSED = 1e-6

# Faces times directions that are worked out at once
_AT_ONCE = 1_000_000


class Seen(NamedTuple):
    """Objects from where the sensors are, each of shape (heads, objects)."""

    cross_section_m2: Float
    """Of the whole object [m^2]."""
    area_m2: Float
    """What it covers of the view, were nothing in front of it [m^2]."""


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
        """Whether an object is one, and not ground; shape (rows, objects), one row where all worlds look alike."""
        self.is_given = np.zeros((rows, objects), np.bool_)
        """Whether the radar is told its cross-section."""
        self.reflectance = np.zeros((rows, objects))
        """|R|^2 of its material [1]."""
        self._given: dict[tuple[int, int], float | AbstractReflector] = {}
        self._group = np.arange(objects)[None].repeat(rows, axis=0)
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
            self._given[row, column] = given

            # Parts of one body with one label are one target, whose cross-section they share
            body = layout.body[column]
            if by_label and body is not None and not isinstance(given, AbstractReflector):
                self._group[row, column] = groups.setdefault((row, body, label), column)

    def seen(self, p_WS: Float, world: NDArray[np.int64], X_WB: Pose, *, everything: bool) -> Seen:
        """Cross-sections and areas of the objects.

        Args:
            p_WS: Where the sensors are [m], shape (heads, 3).
            world: World of each, shape (heads,).
            X_WB: Poses of the bodies, batch shape (worlds, bodies).
            everything: Whether objects that the radar is told nothing of are wanted too: area times reflectance.
        """
        layout = self.layout
        heads, objects = len(p_WS), layout.mesh_index.shape[1]
        rows = world if len(layout.mesh_index) > 1 else np.zeros(heads, np.int64)
        sigma, area = np.zeros((heads, objects)), np.zeros((heads, objects))
        wanted = self.is_target & (layout.mesh_index >= 0) & (self.is_given | everything)
        for column in np.flatnonzero(wanted.any(axis=0)).tolist():
            for row in np.unique(rows[wanted[rows, column]]).tolist():
                at = np.flatnonzero(rows == row)
                X_BO, body = layout.X_BO[row, column], int(self.body[column])
                X_WO = X_BO if body < 0 else X_WB[world[at], body] @ X_BO
                mesh = int(layout.mesh_index[row, column])
                away = X_WO.inverse().apply(p_WS[at]) - layout.meshes[mesh].center
                away /= np.maximum(np.linalg.norm(away, axis=-1, keepdims=True), 1e-9)
                area[at, column] = self._areas[mesh].projected(away)
                given = self._given.get((row, column))
                if isinstance(given, AbstractReflector):
                    wave = self._spec.chirp.wavelength_m
                    sigma[at, column] = given.cross_section(away, wavelength_m=wave)
                elif given is not None:
                    sigma[at, column] = given
                else:
                    sigma[at, column] = area[at, column] * self.reflectance[row, column]

        # What several objects have together, by area
        for column in np.flatnonzero((self._group != np.arange(objects)).any(axis=0) | self._shared).tolist():
            group = self._group[rows, column]
            together = np.where(self._group[rows] == group[:, None], area, 0.0).sum(axis=1)
            share = np.where(self.is_given[rows, column], area[:, column] / np.maximum(together, 1e-12), 1.0)
            sigma[:, column] *= share
        return Seen(sigma, area)

    @cached_property
    def _shared(self) -> NDArray[np.bool_]:
        """Objects that lead a group of several, shape (objects,)."""
        objects = self._group.shape[1]
        others = self._group != np.arange(objects)
        return np.array([(others & (self._group == column)).any() for column in range(objects)], np.bool_)

    @cached_property
    def _areas(self) -> list["_Areas"]:
        return [_Areas(mesh) for mesh in self.layout.meshes]

    def _reflectance(self, name: str, label: str, material: object | None) -> float:
        """|R|^2 at normal incidence: as the radar is told, else by the material's index; metals are mirrors."""
        spec = self._spec
        told = next((spec.permittivities[key] for key in (name, label) if key in spec.permittivities), None)
        if isinstance(told, str):
            return float(normal_reflectance(permittivity(told, frequency_Hz=spec.chirp.carrier_Hz)))
        if told is not None:
            return float(normal_reflectance(told))
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
    """Raise if the radar is told of what the scene has not, which is a misspelt name more often than not."""
    known = {name for name in layout.name if name} | set(layout.label_numbers)
    if not known:
        return
    for field in ("cross_sections", "permittivities"):
        for key in getattr(spec, field):
            if key not in known:
                have = ", ".join(sorted(known))
                raise SpecError(f"{field} has {key!r}; it must be an object's name or label, of which there are {have}")


class _Areas:
    """Faces of a mesh as area vectors, to tell what it covers from any side."""

    def __init__(self, mesh: Mesh) -> None:
        corners = mesh.vertices[mesh.faces]
        self._vectors = 0.5 * np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        total = np.linalg.norm(self._vectors, axis=1).sum()

        # A closed body is seen from both sides at once, a sheet is not
        self._sides = 0.5 if np.linalg.norm(self._vectors.sum(axis=0)) <= _CLOSED * total else 1.0

    def projected(self, direction: Float) -> Float:
        """Area across unit directions, shape (n, 3) [m^2]; of a body with hollows, parts that hide others count."""
        at_once = max(1, _AT_ONCE // len(self._vectors))
        pieces = [direction[i : i + at_once] @ self._vectors.T for i in range(0, len(direction), at_once)]
        return self._sides * np.concatenate([np.abs(piece).sum(axis=1) for piece in pieces])
