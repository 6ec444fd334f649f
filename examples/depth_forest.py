"""One forest in a depth camera: depth, labels, normals, flow, and the depth of a RealSense D455.

python examples/depth_forest.py           leaves depth_forest.png
python examples/depth_forest.py --gif     leaves depth_forest.gif, three seconds of the flight
"""

import sys

import numpy as np

import sensorium as sn
from sensorium.view import depth_image_plots as draw
from sensorium.view import save_figure

# Trees of five kinds, trunks apart and clear of the way; everything follows from the seeds
leaf, bark = sn.Lambertian(reflectance=0.45), sn.Lambertian(reflectance=0.3)
assets = [sn.SceneObject(sn.trees.broadleaf(10.0 + 1.5 * k, seed=k), material=leaf) for k in range(3)]
assets.append(sn.SceneObject(sn.trees.broadleaf(9.0, seed=3, leaves=False), material=bark))
assets.append(sn.SceneObject(sn.trees.conifer(9.0, seed=4), material=leaf))
bush = sn.SceneObject(sn.shapes.ellipsoid(0.5, 0.45, 0.4, 2), material=leaf, label="bush")
way = sn.ClearZone([(-5.0, 0.0), (30.0, 0.0)], 1.8)
ground = sn.Scene()
ground.add(sn.shapes.plane(200.0), material=sn.Lambertian(reflectance=0.25), label="ground")
forest = sn.SceneBatch.scattered(
    [
        sn.Scatter(assets, 130, low=(-5, -20, 0), high=(40, 20, 0), room_m=0.25, gap_m=1.2, clear=[way]),
        sn.Scatter([bush], (30, 50), low=(-5, -15, 0), high=(30, 15, 0), clear=[way]),
    ],
    worlds=1,
    seed=11,
    shared=ground,
)

# A drone that weaves along the way with two cameras at one place: an ideal one, and a D455 at 424 x 240
drone = sn.paths.Waypoints(
    [0.0, 1.5, 3.0],
    [
        sn.Pose.from_euler_deg((0.0, 0.0, 1.5), yaw=6.0),
        sn.Pose.from_euler_deg((4.5, 0.5, 1.8), yaw=-8.0, roll=4.0),
        sn.Pose.from_euler_deg((9.0, -0.3, 1.6), yaw=4.0),
    ],
)
env = sn.Environment(forest, sn.worlds.Kinematic({"drone": drone}, step_s=0.1), seed=2)
pixels = {"width": 424, "height": 240, "focal_px": (215.829, 215.829), "rate_hz": 10.0}  # as measured at this size
ideal = sn.DepthCamera(
    pattern=sn.patterns.Pinhole(**pixels),
    outputs={"depth", "segmentation", "normals", "flow"},
    frame="world",
    max_range_m=30.0,
)
seen = env.attach(ideal, body="drone", name="ideal")
d455 = env.attach(sn.DepthCamera.from_device("intel-realsense-d455", pattern=pixels, max_range_m=30.0), body="drone")


def pictures():
    """Titles and pictures of the last images."""
    truth, measured = seen.read(), d455.read()
    depth, label = truth.depth_m[0], truth.segmentation[0]
    stereo, valid = measured.depth_m[0], measured.valid[0]
    limits = {"near_m": 0.6, "far_m": 25.0}
    return [
        ("depth", draw.depth_colors(depth, truth.valid[0], **limits)),
        ("segmentation", draw.label_colors(label)),
        ("normals in the world", draw.normal_colors(truth.normals[0])),
        ("flow since the image before", draw.flow_colors(truth.flow[0], most_px=30.0)),
        ("depth by a RealSense D455", draw.depth_colors(stereo, valid, **limits)),
        ("its error, ±0.5 m", draw.error_colors(stereo - depth, valid, most_m=0.5)),
    ]


if sys.argv[1:] == ["--gif"]:
    from PIL import Image

    frames = []
    for _ in env.run(3.0):
        if env.time_ns > 100_000_000:
            depth, _, _, flow, stereo, _ = (picture[::2, ::2] for _, picture in pictures())
            frames.append(Image.fromarray((255 * np.concatenate([depth, flow, stereo], axis=1)).astype(np.uint8)))
    shades = [frame.quantize(64, dither=Image.Dither.NONE) for frame in frames]
    shades[0].save("depth_forest.gif", save_all=True, append_images=shades[1:], duration=100, loop=0, optimize=True)
    print(f"{len(frames)} images")
else:
    for _ in env.run(1.3):
        pass
    depth, measured = seen.read().depth_m[0], d455.read()
    lost, error = ~measured.valid[0], measured.depth_m[0] - depth
    near = (depth > 3.5) & (depth < 4.5) & ~lost
    print(f"{lost[depth < 30.0].mean():.0%} of what is there has no depth;", end=" ")
    print(f"at 4 m the D455 is off by {1e3 * np.median(np.abs(error[near])) / 0.6745:.0f} mm, 1 sigma")
    save_figure("depth_forest.png", draw.panels(pictures()))
