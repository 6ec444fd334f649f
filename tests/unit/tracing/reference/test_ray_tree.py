import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SceneError
from sensorium.tracing.reference.ray_tree import ray_tree

WALL = sn.Lambertian(reflectance=0.5)
UP = np.array((0.0, 0.0, 1.0))


def stack(*layers):
    """Boxes along z, each (bottom, top, material), as one scene under a sensor that looks down from z = 0."""
    scene = sn.Scene()
    for bottom, top, material in layers:
        scene.add(sn.shapes.box(40, 40, top - bottom), pose=sn.Pose((0, 0, (bottom + top) / 2)), material=material)
    return sn.RayCaster(scene)


def test_a_single_surface_is_one_node():
    (node,) = ray_tree(stack((-3, -2, WALL)), (0, 0, 0), (0.6, 0, -0.8))
    assert (node.number, node.depth, node.parent, node.cause) == (0, 0, None, "surface")
    assert (node.object_id, node.mirror_id) == (0, -1)
    np.testing.assert_allclose(node.point, (1.5, 0, -2), atol=1e-6)
    assert node.length_m == node.opl_m == node.z_m == pytest.approx(2.5)
    captured = sn.optics.captured_fraction(2.5, detector_radius_m=0.01, exit_radius_m=0.01, half_divergence_rad=1.5e-3)
    assert node.intensity == pytest.approx(0.5 / np.pi * 0.8 * captured, rel=1e-6)


def test_nothing_in_the_way_is_a_node_that_returns_nothing():
    (node,) = ray_tree(stack((-3, -2, WALL)), (0, 0, 0), UP, max_range_m=70.0)
    assert (node.object_id, node.face_id, node.intensity) == (-1, -1, 0.0)
    np.testing.assert_allclose(node.point, (0, 0, 70))


def test_children_of_node_i_are_2i_1_and_2i_2():
    glass = sn.Dielectric(refractive_index=1.5)
    nodes = ray_tree(stack((-2, -1, glass), (-4, -3, WALL)), (0, 0, 0), (0.3, 0, -1), max_depth=3)
    by_number = {node.number: node for node in nodes}
    assert [node.number for node in nodes] == sorted(by_number)

    # In through the top (0 to 2), out below (to 6); mirrored at the top (1), inside at the bottom (5)
    assert by_number.keys() == {0, 1, 2, 5, 6, 11, 12}
    for node in nodes[1:]:
        assert node.parent == (node.number - 1) // 2
        np.testing.assert_allclose(by_number[node.parent].point, node.origin)
        assert node.depth == by_number[node.parent].depth + 1
        assert node.gain < by_number[node.parent].gain
    assert [by_number[i].cause for i in (1, 2, 5, 6, 12)] == [
        "reflection",
        "transmission",
        "reflection",
        "transmission",
        "reflection",
    ]
    assert by_number[6].object_id == 1
    np.testing.assert_allclose(by_number[6].direction, by_number[0].direction, atol=1e-6)
    np.testing.assert_allclose(by_number[1].direction, by_number[0].direction * (1, 1, -1), atol=1e-6)


def test_no_light_is_made_at_an_interface():
    """What is mirrored and what passes add up to what arrived, counted once; a rough surface scatters some away."""
    smooth = {"roughness": 1e-6}
    for material, rest in (
        (sn.Dielectric(refractive_index=1.7, **smooth), 1e-5),
        (sn.ThinGlass(**smooth), 1e-5),
        (sn.media.water(), 1e-3),
    ):
        nodes = ray_tree(
            stack((-3, -2, material)), (0, 0, 0), (0.9, 0, -1), max_depth=1, round_trip=False, wavelength_m=532e-9
        )
        assert 1.0 - rest < sum(node.gain for node in nodes[1:]) < 1.0
        twice = ray_tree(stack((-3, -2, material)), (0, 0, 0), (0.9, 0, -1), max_depth=1, wavelength_m=532e-9)
        assert [n.gain for n in twice] == pytest.approx([n.gain**2 for n in nodes])


def test_the_three_sums_are_kept_apart():
    water, fog = (
        sn.media.uniform(refractive_index=1.33, extinction_per_m=0.3),
        sn.media.uniform(extinction_per_m=0.1),
    )
    caster = stack((-5, -2, water), (-7, -4, WALL))
    node = ray_tree(caster, (0, 0, 0), -UP, atmosphere=fog, max_depth=1)[-1]
    assert node.number == 2
    assert node.opl_m == pytest.approx(2 + 1.33 * 2)
    assert node.tau == pytest.approx(0.1 * 2 + 0.3 * 2)
    assert node.z_m == pytest.approx(2 + 2 / 1.33)


def test_bodies_may_be_nested_and_the_start_may_be_inside():
    def n(index):
        return sn.Dielectric(refractive_index=index)

    nested = stack((-9, 9, n(1.3)), (-5, 5, n(1.4)), (-2, 2, n(1.5)))
    nodes = {node.number: node for node in ray_tree(nested, (0, 0, 0), UP, max_depth=3)}
    assert nodes[14].opl_m == pytest.approx(1.5 * 2 + 1.4 * 3 + 1.3 * 4 + 1000.0)
    assert [nodes[i].medium.refractive_index for i in (0, 2, 6, 14)] == [1.5, 1.4, 1.3, 1.0]


def test_beyond_the_critical_angle_nothing_passes():
    glass = stack((-2, 2, sn.Dielectric(refractive_index=1.5, roughness=1e-6)))
    for angle_deg, total in ((41.7, False), (41.9, True)):
        direction = (np.sin(np.deg2rad(angle_deg)), 0, np.cos(np.deg2rad(angle_deg)))
        nodes = ray_tree(glass, (0, 0, 0), direction, max_depth=1)
        assert [node.number for node in nodes] == ([0, 1] if total else [0, 1, 2])
        assert (nodes[1].gain == pytest.approx(1.0, rel=1e-4)) == total


def test_depth_and_floor_end_a_branch():
    pair = stack(
        (-2, -1, sn.Mirror(reflectance=0.5, roughness=1e-6)), (1, 2, sn.Mirror(reflectance=0.5, roughness=1e-6))
    )
    for depth in (0, 1, 4, 8):
        nodes = ray_tree(pair, (0, 0, 0), -UP, max_depth=depth)
        assert [node.number for node in nodes] == [2**k - 1 for k in range(depth + 1)]
        assert nodes[-1].mirror_id == (0 if depth else -1)
    # R^2 a bounce: 1/4, 1/16, 1/64
    assert len(ray_tree(pair, (0, 0, 0), -UP, max_depth=8, floor=0.02)) == 3


def test_materials_that_no_light_knows_are_refused():
    with pytest.raises(SceneError, match="a material is a float"):
        ray_tree(stack((-3, -2, 1.5)), (0, 0, 0), -UP)
