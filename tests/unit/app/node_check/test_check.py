"""Nodes of a cluster compared with this machine."""

import hashlib

import pytest

from sensorium.app.node_check import check, check_nodes
from sensorium.app.node_check.facts import facts
from sensorium.core.errors import BackendError
from sensorium.runtime.cluster import nodes
from sensorium.tracing.partitioned.software import differing, software


def test_a_node_says_what_it_has(tmp_path):
    (tmp_path / "way.csv").write_bytes(b"abc")
    told = facts((str(tmp_path / "way.csv"), str(tmp_path / "gone")), str(tmp_path / "way.csv"))
    assert told["files"] == {
        str(tmp_path / "way.csv"): hashlib.sha256(b"abc").hexdigest(),
        str(tmp_path / "gone"): None,
    }
    assert told["software"] == software()
    assert told["sees"]
    assert told["cpus"] >= 1
    assert not facts((), str(tmp_path / "gone"))["sees"]


def test_differences_are_told_in_words():
    assert differing({"numpy": "2.0", "python": "3.11"}, {"numpy": "2.0", "python": "3.11"}) == ""
    told = differing({"numpy": "2.0", "bsk": "2.8"}, {"numpy": "2.1", "mcap": "1.3"})
    assert told == "bsk none instead of 2.8, mcap 1.3 instead of none, numpy 2.1 instead of 2.0"


def test_nodes_that_are_the_same_are_used(local_cluster, tmp_path):
    (tmp_path / "way.csv").write_text("abc")
    (only,) = check_nodes(local_cluster, reads=[tmp_path / "way.csv"], out=tmp_path / "new" / "out")
    assert only.wrong == ""
    assert only.sees_out
    assert only.node.cpus == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["way.csv"]  # the probe is gone


def test_nodes_that_differ_are_refused_or_left_out(local_cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(check, "software", lambda: {**software(), "numpy": "1.0"})
    with pytest.raises(BackendError, match=r"1 of 1 nodes are not as this machine: .* has numpy .* instead of 1.0; "):
        check_nodes(local_cluster)
    lines = []
    with pytest.raises(BackendError, match="no node is left"):
        check_nodes(local_cluster, skip=True, tell=lines.append)
    assert len(lines) == 1
    assert "instead of 1.0" in lines[0]
    assert nodes.used(local_cluster) == []
    nodes.forget()
    assert len(nodes.used(local_cluster)) == 1
