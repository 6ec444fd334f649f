"""What light in parts remembers of hits; that its returns are those of one process is in ../test_parts_tracer.py."""

import numpy as np

from sensorium.tracing.hits import label_of
from sensorium.tracing.kernels.light.in_parts import HitLog
from sensorium.tracing.kernels.light.remote_hits import new_light_hits


def test_every_hit_keeps_its_number_while_the_log_grows():
    log, rng, all_faces, all_labels = HitLog(objects=5), np.random.default_rng(0), [], []
    for count in (0, 3, 600, 1, 5000):
        found = new_light_hits(count)
        found.face_id[:], found.label[:] = rng.integers(-1, 90, count), rng.integers(-1, 9, count)
        assert log.add(found.face_id, found.label) == len(all_faces)
        all_faces += found.face_id.tolist()
        all_labels += found.label.tolist()
    assert log.faces[: len(all_faces)].tolist() == all_faces
    tables, look_up = log.labels(), label_of.py_func
    for number in (0, 2, 3, 603, 604, len(all_faces) - 1):
        assert look_up(tables, 0, number % 5, number) == all_labels[number]
