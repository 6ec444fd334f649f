"""Record a simulated drive as a table of poses and joints, which runs without the simulator: drive.csv of the gallery.

    python examples/record_drive.py

leaves drive.csv in the current folder; `{kind: replay, file: drive.csv}` is then a world of a scenario.
"""

import csv

from sensorium.app.gallery import path_of
from sensorium.app.scenario import Scenario

DURATION_S, EVERY = 14.0, 2
JOINTS = ("rear_left", "rear_right")

# The van of the gallery as MuJoCo drives it: once round the yard's island; no sensors are needed
scenario = Scenario.load(path_of("yard-drive"), {"sensors": {}, "scene.include": []})
env = scenario.environment()
van, columns = env.world.body_names.index("van"), [env.world.joint_names.index(joint) for joint in JOINTS]

with open("drive.csv", "w", newline="") as file:
    table = csv.writer(file, lineterminator="\n")
    pose, velocity, turning = ("x", "y", "z", "qw", "qx", "qy", "qz"), ("vx", "vy", "vz"), ("wx", "wy", "wz")
    joints = [f"{what}:{joint}" for joint in JOINTS for what in ("joint", "joint_velocity")]
    table.writerow(["time_s", "body", *pose, *velocity, *turning, *joints])

    def write() -> None:
        """A row of now."""
        state = env.state
        numbers = [
            *state.X_WB.position[0, van],
            *state.X_WB.quaternion[0, van],
            *state.v_WB[0, van],
            *state.w_WB[0, van],
        ]
        for column in columns:
            numbers += [state.joint_position[0, column], state.joint_velocity[0, column]]
        table.writerow([f"{env.time_s:.2f}", "van", *(f"{round(number, 6) + 0.0:.6f}" for number in numbers)])

    # Every second step of 10 ms
    write()
    rows = 1
    for step, _ in enumerate(env.run(DURATION_S), start=1):
        if step % EVERY == 0:
            write()
            rows += 1
print(f"{rows} rows, {env.time_s:.1f} s")
