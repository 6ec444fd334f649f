"""Every hostile file by kind: scenarios, recordings, MuJoCo models, meshes, and what is no file at all."""

import os
import struct
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from fuzz import captures
from fuzz.hostile import Hostile
from fuzz.hostile_meshes import MESHES

_MAGIC = b"\x89MCAP0\r\n"


def _file(name: str, content: str | bytes) -> Callable[[Path], Path]:
    """What writes one file."""

    def make(folder: Path) -> Path:
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return folder / name

    return make


# Scenarios


def _document(path: Path) -> None:
    from sensorium.app.scenario.document import read_document

    read_document(path)


_MERGE_KEYS = "a: &a {x: 1}\nb:\n" + "".join(f"  k{n}: 0\n  <<: *a\n" for n in range(32_000))
_MERGE_CHAIN = "".join(f"a{n}: &a{n} {{{f'<<: *a{n - 1}, ' if n else ''}k{n}: 0}}\n" for n in range(3_000))
_MERGE_LIST = "a: &a {x: 1}\nb:\n  <<: [" + "*a," * 48_000 + "]\n"


# Recordings


def _record(opcode: int, content: bytes) -> bytes:
    return struct.pack("<BQ", opcode, len(content)) + content


def _string(text: str) -> bytes:
    return struct.pack("<I", len(text)) + text.encode()


def _chunk(inside: bytes) -> bytes:
    import zstandard

    packed = zstandard.compress(inside, 19)
    head = struct.pack("<QQQI", 0, 0, len(inside), zlib.crc32(inside)) + _string("zstd")
    return _record(6, head + struct.pack("<Q", len(packed)) + packed)


def _bombs(folder: Path, *, inside: bytes, chunks: int) -> Path:
    """A recording of equal chunks, each of which keeps to what a chunk may unpack to."""
    head = _record(1, _string("ros2") + _string("x"))
    schema = _record(3, struct.pack("<H", 1) + _string("x/msg/X") + _string("ros2msg") + struct.pack("<I", 0))
    channel = _record(4, struct.pack("<HH", 1, 1) + _string("/x") + _string("cdr") + struct.pack("<I", 0))
    (folder / "run.mcap").write_bytes(_MAGIC + head + schema + channel + chunks * _chunk(inside))
    return folder / "run.mcap"


def _one_long_message(folder: Path) -> Path:
    return _bombs(folder, inside=_record(5, struct.pack("<HIQQ", 1, 0, 0, 0) + bytes(60 << 20)), chunks=40)


def _many_messages(folder: Path) -> Path:
    return _bombs(folder, inside=2_000_000 * _record(5, struct.pack("<HIQQ", 1, 0, 0, 0)), chunks=2)


def _empty_records(folder: Path) -> Path:
    return _bombs(folder, inside=7_000_000 * _record(0, b""), chunks=2)


def _chunks_in_chunks(folder: Path) -> Path:
    """Chunks that begin one in the other, each a byte longer than the file."""
    count, head = 40_000, struct.Struct("<BQQQQIIQ")
    content = bytearray(_MAGIC + _record(1, _string("ros2") + _string("x")))
    size = len(content) + count * head.size
    for _ in range(count):
        left = size - len(content) - head.size
        content += head.pack(6, left + 41, 0, 0, left, 0, 0, left)
    (folder / "run.mcap").write_bytes(content)
    return folder / "run.mcap"


def _replay(path: Path) -> None:
    from sensorium.worlds import Replay

    Replay.from_mcap(path)


def _recover(path: Path) -> None:
    from sensorium.record.mcap.recover import recover

    recover(path, path.parent / "out.mcap")


# Models of MuJoCo


def _model(path: Path) -> None:
    from sensorium.worlds.mujoco.files import engine, load_model

    engine().MjData(load_model(path))


def _mjcf(asset: str = "", body: str = "", top: str = "") -> Callable[[Path], Path]:
    return _file("model.xml", f"<mujoco>{top}<asset>{asset}</asset><worldbody>{body}</worldbody></mujoco>")


def _png_model(folder: Path) -> Path:
    from PIL import Image

    Image.new("1", (16_000, 16_000)).save(folder / "sky.png")
    return _mjcf('<texture type="2d" name="t" file="sky.png"/>')(folder)


def _attached(folder: Path) -> Path:
    """Ten models, each with ten times the next."""
    for level in range(10):
        attach = "".join(f'<attach model="m" body="b" prefix="p{n}"/>' for n in range(10)) if level < 9 else ""
        asset = f'<asset><model name="m" file="m{level + 1}.xml"/></asset>' if level < 9 else ""
        body = f'<body name="b"><geom size="1"/>{attach}</body>'
        text = f"<mujoco>{asset}<worldbody>{body}</worldbody></mujoco>"
        (folder / f"m{level}.xml").write_text(text)
    return folder / "m0.xml"


def _included(folder: Path) -> Path:
    (folder / "more.xml").write_text("<mujoco>" + 100 * '<geom size="1"/>' + "</mujoco>")
    return _mjcf(body='<replicate count="1000"><include file="more.xml"/></replicate>')(folder)


_COPIED = "copies of its elements"
_CELLS = "points, pixels and numbers"
_TWICE = '<replicate count="3000"><replicate count="3000"><geom size="1"/></replicate></replicate>'


# What is no file


def _pipe(folder: Path, name: str = "input") -> Path:
    os.mkfifo(folder / name)
    return folder / name


def _device(folder: Path, name: str = "input") -> Path:
    """What never ends, behind a link in the folder."""
    (folder / name).symlink_to("/dev/zero")
    return folder / name


def _pipe_in_model(folder: Path, text: str) -> Path:
    _pipe(folder, "pipe")
    return _mjcf(text)(folder) if "texture" in text else _file("model.xml", f"<mujoco>{text}</mujoco>")(folder)


def _reader(module: str, name: str) -> Callable[[Path], Any]:
    """A reader of the library, imported when it is called."""

    def read(path: Path) -> Any:
        from importlib import import_module

        return getattr(import_module(module), name)(path)

    return read


def _dark_set(folder: Path) -> Path:
    """A descriptor of images that are black, of 121 million pixels in 120 kB."""
    from PIL import Image

    names = [f"{kind}{k}.png" for kind in "bd" for k in range(2)]
    Image.new("L", (11_000, 11_000)).save(folder / names[0])
    for name in names[1:]:
        (folder / name).write_bytes((folder / names[0]).read_bytes())
    lines = [f"b {k} {k}\ni b0.png\ni b1.png" for k in range(1, 9)]
    text = "\n".join(["n 8 11000 11000", *lines, "d 1\ni d0.png\ni d1.png"])
    (folder / "EMVA1288_Data.txt").write_text(text)
    return folder / "EMVA1288_Data.txt"


_measure = _reader("sensorium.recordings.opening", "measure_recording")


def _fragments(folder: Path) -> Path:
    """Fragments of one datagram whose first is missing, over and over."""
    parts = [captures.ipv4(bytes(8), offset=8 * (1 + k % 8000), more=k % 8000 != 7999) for k in range(40_000)]
    (folder / "a.pcap").write_bytes(captures.pcap([captures.ethernet(part) for part in parts]))
    return folder / "a.pcap"


def _packed_bag(folder: Path) -> Path:
    """A chunk of zeros."""
    (folder / "a.bag").write_bytes(captures.rosbag1("std_msgs/String", [bytes(80_000_000)], packing="bz2"))
    return folder / "a.bag"


_READERS = {
    "scenario": _document,
    "toml": _reader("sensorium.files.plain_files", "read_toml"),
    "json": _reader("sensorium.files.plain_files", "read_json"),
    "recover": _recover,
    "log": _reader("sensorium.analysis", "read_log"),
    "scan": _reader("sensorium.record", "load_npz"),
    "cloud": _reader("sensorium.view.viewer.pcd_file", "read_pcd"),
    "mcap": _replay,
    "model": _model,
    "emva1288": _reader("sensorium.recordings.readers.emva1288", "read_emva1288"),
    "las": _reader("sensorium.recordings.readers.las_waveforms", "read_las_waveforms"),
    "rinex": _reader("sensorium.recordings.readers.rinex", "read_rinex_observations"),
    "radar-list": _reader("sensorium.recordings.readers.radar_lists", "read_radar_list"),
    "realsense": _reader("sensorium.recordings.readers.realsense", "read_realsense"),
    "recording": _measure,
}
_NO_FILE = r"it must be a file|there is no such file"

HOSTILE: tuple[Hostile, ...] = (
    Hostile("yaml-merge-keys", _file("a.yaml", _MERGE_KEYS), _document, "", 1 << 27),
    Hostile("yaml-merge-chain", _file("a.yaml", _MERGE_CHAIN), _document, "levels are nested"),
    Hostile("yaml-merge-list", _file("a.yaml", _MERGE_LIST), _document, ""),
    Hostile("mcap-long-messages", _one_long_message, _recover, "unpacks to .* bytes or more", 1 << 29),
    Hostile("mcap-many-messages", _many_messages, _recover, "unpacks to more than .* records", 1 << 29),
    Hostile("mcap-empty-records", _empty_records, _recover, "unpacks to more than .* records", 1 << 29),
    Hostile("mcap-chunks-in-chunks", _chunks_in_chunks, _recover, ""),
    Hostile("emva1288-dark", _dark_set, _measure, "it may unpack to"),
    Hostile("pcap-fragments", _fragments, _measure, "has no packets of a lidar"),
    Hostile("bag-chunk", _packed_bag, _measure, "a chunk that unpacks to 8.* bytes"),
    Hostile("mjcf-hfield", _mjcf('<hfield name="h" nrow="50000" ncol="50000" size="1 1 1 1"/>'), _model, _CELLS),
    Hostile("mjcf-texture", _mjcf('<texture name="t" builtin="flat" width="9999" height="9"/>'), _model, _CELLS),
    Hostile("mjcf-image", _png_model, _model, _CELLS),
    Hostile("mjcf-numeric", _mjcf(top='<custom><numeric name="n" size="900000000"/></custom>'), _model, _CELLS),
    Hostile("mjcf-replicate", _mjcf(body='<replicate count="1e6"><geom size="1"/></replicate>'), _model, _COPIED),
    Hostile("mjcf-replicate-twice", _mjcf(body=_TWICE), _model, _COPIED),
    Hostile("mjcf-replicate-include", _included, _model, _COPIED),
    Hostile("mjcf-attach", _attached, _model, _COPIED),
    Hostile("mjcf-flexcomp", _mjcf(body='<flexcomp name="f" count="999 999 1"/>'), _model, _COPIED),
    Hostile("mjcf-keys", _mjcf(top='<size nkey="2000000000"/>'), _model, "nkey of size is '2000000000'"),
    Hostile("mjcf-memory", _mjcf(top='<size memory="100G"/>'), _model, "memory of size is '100G'"),
    Hostile("mjcf-pipe-include", partial(_pipe_in_model, text='<include file="pipe"/>'), _model, "which is no file"),
    Hostile(
        *("mjcf-pipe-texture", partial(_pipe_in_model, text='<texture type="2d" file="pipe"/>'), _model),
        "which is no file",
    ),
    *(Hostile(f"pipe-{name}", _pipe, read, _NO_FILE) for name, read in _READERS.items()),
    *(Hostile(f"device-{name}", _device, read, _NO_FILE) for name, read in _READERS.items()),
    *MESHES,
)
