"""A look at a cluster before it is joined: what it answers, as one sentence with what to do."""

import socket

import pytest

from sensorium.runtime.cluster import probing


@pytest.fixture
def address():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ({"error": "AuthenticationError: RPC error: InvalidAuthToken: ..."}, "demands a token"),
        ({"error": "RuntimeError: no\n  luck"}, "RuntimeError: no luck"),
        (
            {"nodes": ["a (10.0.0.1)"], "here": False},
            r"is none of its nodes \(a \(10.0.0.1\)\); run the",
        ),
    ],
)
def test_what_would_go_wrong_is_told(monkeypatch, tmp_path, address, told, says):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(probing, "_look", lambda address: told)
    with pytest.raises(OSError, match=says):
        probing.probe(address)


def test_what_is_in_order_or_unknown_is_let_pass(monkeypatch, address):
    for told in ({"nodes": ["a (10.0.0.1)"], "here": True}, {}):
        monkeypatch.setattr(probing, "_look", lambda address, told=told: told)
        probing.probe(address)
        probing.probe("auto")
    monkeypatch.setattr(probing, "_look", lambda address: pytest.fail("not to be looked at"))
    probing.probe("ray://10.0.0.1:10001")


def test_a_port_where_nobody_listens_is_told():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(OSError, match="refused"):
        probing.probe(f"127.0.0.1:{port}")
