"""Senses and offsets of lidar sheets against the vendors' own formulas for points, written out anew."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.devices import describe


def points(lidar, distance_m):
    """Where each ray of a sweep is after a distance [m], shape (channels, columns, 3)."""
    rays = lidar.pattern.rays()
    origin = np.zeros(3) if rays.origin_S is None else rays.origin_S.astype(float)
    return origin + distance_m * rays.direction_S.astype(float)


@pytest.mark.parametrize("name", ["ouster-os0-128", "ouster-os1-128", "ouster-os1-64", "ouster-os2-128"])
def test_ouster_points(name):
    """With encoder angle t counting down, beam angles a and e, origin radius n and reported range r:

    x = (r - n) cos(t - a) cos e + n cos t, y = (r - n) sin(t - a) cos e + n sin t, z = (r - n) sin e.
    """
    sheet, lidar = describe(name).sheet, sn.Lidar.from_device(name)
    a, e = (np.radians(table.value)[:, None] for table in (sheet.azimuth_offset, sheet.elevation))
    n, r = 1e-3 * sheet.beam_origin.value, 20.0
    t = -2.0 * np.pi * np.arange(1024) / 1024
    x, y = ((r - n) * f(t - a) * np.cos(e) + n * f(t) for f in (np.cos, np.sin))
    z = (r - n) * np.sin(e)
    expected = np.stack(np.broadcast_arrays(x, y, z), axis=-1)
    np.testing.assert_allclose(points(lidar, r - n), expected, atol=1e-5)


@pytest.mark.parametrize("name", ["velodyne-hdl64e"])
def test_velodyne_points(name):
    """With the azimuth b counting clockwise from forward, less the channel's own, elevation e and offsets v and h:

    forward = (r cos e - v sin e) cos b + h sin b, left = h cos b - (r cos e - v sin e) sin b, up = r sin e + v cos e.
    """
    sheet, lidar = describe(name).sheet, sn.Lidar.from_device(name)
    e, c = (np.radians(table.value)[:, None] for table in (sheet.elevation, sheet.azimuth_offset))
    v, h = (
        0.0 if table is None else np.array(table.value)[:, None]
        for table in (sheet.vertical_offset, sheet.horizontal_offset)
    )
    offset_s = np.array(lidar.pattern.time_offset_s or np.zeros(len(e)))[:, None]
    time_s = np.arange(lidar.pattern.columns) * 0.1 / lidar.pattern.columns + offset_s
    b, r = 2.0 * np.pi * 10.0 * time_s - c, 30.0
    out = r * np.cos(e) - v * np.sin(e)
    forward, left, up = out * np.cos(b) + h * np.sin(b), h * np.cos(b) - out * np.sin(b), r * np.sin(e) + v * np.cos(e)
    expected = np.stack(np.broadcast_arrays(forward, left, up), axis=-1)
    np.testing.assert_allclose(points(lidar, r), expected, atol=1e-5)


@pytest.mark.parametrize("name", ["velodyne-vlp16", "velodyne-vlp32c", "velodyne-hdl32e", "velodyne-vls128"])
def test_velodyne_points_with_offsets_along_z(name):
    """With the azimuth b counting clockwise from forward, less the channel's own, elevation e and offset v:

    forward = r cos e cos b, left = -r cos e sin b, up = r sin e + v.
    """
    sheet, lidar = describe(name).sheet, sn.Lidar.from_device(name)
    e, v = np.radians(sheet.elevation.value)[:, None], 1e-3 * np.array(sheet.vertical_offset.value)[:, None]
    c = 0.0 if sheet.azimuth_offset is None else np.radians(sheet.azimuth_offset.value)[:, None]
    offset_s = np.array(lidar.pattern.time_offset_s)[:, None]
    b = 2.0 * np.pi * (np.arange(lidar.pattern.columns) / lidar.pattern.columns + 10.0 * offset_s) - c
    out, up = 10.0 * np.cos(e), 10.0 * np.sin(e) + v
    expected = np.stack(np.broadcast_arrays(out * np.cos(b), -out * np.sin(b), up), axis=-1)
    np.testing.assert_allclose(points(lidar, 10.0), expected, atol=1e-5)


@pytest.mark.parametrize("name", ["hesai-pandar64", "hesai-xt32"])
def test_hesai_columns_keep_the_order_of_their_channels(name):
    """The channel with the earliest offset fires first, and all of a column before the next."""
    sheet, lidar = describe(name).sheet, sn.Lidar.from_device(name)
    time_ns = lidar.pattern.rays().offset_ns
    assert np.array_equal(np.argsort(time_ns[:, 0], kind="stable"), np.argsort(sheet.channel_time.value, kind="stable"))
    assert time_ns[:, 0].max() < time_ns[:, 1].min()
