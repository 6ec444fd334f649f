"""Parts of a scene on several machines: each on its own, none on a machine with something else under the same path."""

import json
import textwrap

import numpy as np
import pytest

import sensorium as sn

pytestmark = pytest.mark.slow  # machines are made of namespaces, each with a Ray node of its own

CAST = textwrap.dedent("""\
    import hashlib, json, sys, time
    import numpy as np
    import sensorium as sn
    from sensorium.core.errors import SensoriumError

    rng = np.random.default_rng(3)
    origin = rng.uniform(-20, 20, (6001, 3)) * [1, 1, 0] + [0, 0, 5.0]
    direction = rng.normal(size=(6001, 3)) * [1, 1, 0.3] - [0, 0, 0.3]
    with sn.cluster.joined(sys.argv[1]):
        for turn in range(int(sys.argv[3])):
            began = time.monotonic()
            try:
                with sn.PartitionedCaster(sys.argv[2], wait_s=float(sys.argv[4])) as caster:
                    hosts = sorted(report.host for report in caster.reports())
                    hits = caster.cast(origin, direction)
                    peak = [report.peak_bytes for report in caster.reports()]
            except SensoriumError as error:
                print(json.dumps({"error": str(error), "type": type(error).__name__, "s": time.monotonic() - began}))
                continue
            digest = hashlib.sha256()
            for name in ("range_m", "object_id", "face_id", "normal", "barycentric"):
                digest.update(np.ascontiguousarray(getattr(hits, name)).tobytes())
            told = {"hosts": hosts, "sha256": digest.hexdigest(), "hit": float(hits.hit.mean()), "peak": peak}
            print(json.dumps(told | {"s": time.monotonic() - began}))
""")


def hills(seed, size=60):
    heights = np.random.default_rng(seed).uniform(0, 0.6, (size, size))
    return [sn.SceneObject(sn.shapes.heightfield(heights, 60.0, 60.0))]


def cast(machine, rack, folder, times=1, wait_s=5.0):
    lines = machine.python(CAST, rack.address, folder, times, wait_s, timeout=900).splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("parts", [2, 3])
def test_each_part_has_a_node_of_its_own(rack, tmp_path, parts):
    """20 starts of 20, on three idle nodes; hits are those of one process."""
    sn.split_scene(hills(0), tmp_path / "parts", parts=parts)
    first, *_ = rack.nodes(3)
    told = cast(first, rack, tmp_path / "parts", times=20)
    spread = sum(len(set(each["hosts"])) == parts for each in told)
    print(f"{parts} parts on {parts} of 3 nodes in {spread} of {len(told)} starts")
    assert spread == len(told) == 20
    sn.split_scene(hills(0), tmp_path / "whole", parts=1)
    (whole,) = cast(first, rack, tmp_path / "whole")
    assert {each["sha256"] for each in told} == {whole["sha256"]}
    assert whole["hit"] > 0.3


def test_a_scene_of_twice_a_nodes_memory(rack, tmp_path):
    """What no node can hold runs on three, and is refused on two, in one line with what each has."""
    from sensorium.tracing.partitioned.part_processes import memory_needed

    scene, node_mb = hills(1, size=2000), 780
    need = {}
    for parts in (1, 3):
        index = sn.split_scene(scene, tmp_path / f"parts-{parts}", parts=parts)
        need[parts] = [memory_needed(entry) / 1e6 for entry in index.parts]
    assert max(need[1]) > 2 * node_mb
    assert max(need[3]) < node_mb
    first, _ = rack.nodes(2, memory_mb=node_mb)
    for parts in (1, 3):
        (told,) = cast(first, rack, tmp_path / f"parts-{parts}", wait_s=3.0)
        assert told["type"] == "BackendError"
        assert "not free within 3 s" in told["error"]
        assert "sn1 (10.77.0.1) has 0.78 of 0.78 GB free; sn2 (10.77.0.2) has 0.78 of 0.78 GB free" in told["error"]
        assert told["s"] < 20
    third = rack.add()
    third.start_ray(memory_mb=node_mb, head=first)
    (told,) = cast(first, rack, tmp_path / "parts-3")
    took = [round(peak / 1e6) for peak in told["peak"]]
    print(f"one process needs {need[1][0]:.0f} MB, a node has {node_mb}; three parts need {need[3]} MB and took {took}")
    assert told["hosts"] == ["sn1", "sn2", "sn3"]
    assert max(told["peak"]) < node_mb * 1e6


def test_another_split_under_the_same_path_is_told(rack, tmp_path):
    """An older index, a file that is missing and one that is another: each named with its machine."""
    first, second = rack.nodes(2)
    for machine, seed in ((first, 0), (second, 0)):
        sn.split_scene(hills(seed), machine.disk / "parts", parts=2)
    (good,) = cast(first, rack, rack.disk / "parts")
    assert good["hosts"] == ["sn1", "sn2"]

    mesh = next((second.disk / "parts").glob("part-*/*.npz"))
    files = sorted((second.disk / "parts").glob("part-*/*.npz"))
    for mesh in files:
        mesh.write_bytes(mesh.read_bytes() + b"\0")
    (told,) = cast(first, rack, rack.disk / "parts")
    assert "cannot be built on sn2" in told["error"]
    assert "is another file than was split" in told["error"]

    for mesh in files:
        mesh.unlink()
    (told,) = cast(first, rack, rack.disk / "parts")
    assert "cannot be built on sn2" in told["error"]
    assert "there is no such file" in told["error"]

    sn.split_scene(hills(7), second.disk / "parts", parts=2)  # another scene
    (told,) = cast(first, rack, rack.disk / "parts")
    assert "cannot be built on sn2" in told["error"]
    assert "parts.json' is another than that of the asking machine" in told["error"]


LOSE = textwrap.dedent("""\
    import hashlib, json, sys, time
    import numpy as np
    import sensorium as sn

    rng = np.random.default_rng(3)
    origin = rng.uniform(-20, 20, (400_000, 3)) * [1, 1, 0] + [0, 0, 5.0]
    direction = rng.normal(size=(400_000, 3)) * [1, 1, 0.3] - [0, 0, 0.3]
    with sn.cluster.joined(sys.argv[1]), sn.PartitionedCaster(sys.argv[2]) as caster:
        print(json.dumps(sorted(report.host for report in caster.reports())), flush=True)
        slowest = 0.0
        while True:
            began = time.monotonic()
            hits = caster.cast(origin, direction)
            slowest = max(slowest, time.monotonic() - began)
            hosts = sorted(report.host for report in caster.reports())
            print(json.dumps([hashlib.sha256(hits.range_m.tobytes()).hexdigest(), slowest, hosts]), flush=True)
""")


@pytest.mark.parametrize("how", ["kill", "cut"])
def test_a_lost_node_costs_time_and_no_ray(rack, tmp_path, how):
    """A node is killed, or its cable pulled, between casts and within them; its part goes to the idle node."""
    import subprocess
    import sys

    sn.split_scene(hills(0), tmp_path / "parts", parts=2)
    machines = rack.nodes(2)
    third = rack.add()
    third.start_ray(memory_mb=8000, head=machines[0])
    caster = machines[0].start(sys.executable, "-c", LOSE, rack.address, tmp_path / "parts", stdout=subprocess.PIPE)
    try:
        hosts = json.loads(caster.stdout.readline())
        assert len(set(hosts)) == 2
        before = [json.loads(caster.stdout.readline()) for _ in range(3)]
        victim = next(machine for machine in (third, *machines[1:]) if machine.name in hosts)
        getattr(victim, how)()
        after = [json.loads(caster.stdout.readline()) for _ in range(3)]
        while victim.name in after[-1][2]:
            after.append(json.loads(caster.stdout.readline()))
        print(f"{how}: the longest cast took {after[-1][1]:.1f} s; parts on {hosts}, then on {after[-1][2]}")
        assert {each[0] for each in (*before, *after)} == {before[0][0]}
        assert victim.name not in after[-1][2]
        assert len(set(after[-1][2])) == 2  # the idle node has most room
    finally:
        caster.kill()
        caster.wait()
