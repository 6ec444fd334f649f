"""Bytes made wrong: what a disk, a careless program or an attacker does to a file."""

import random
import re
import struct
from collections.abc import Callable, Sequence

MOST_BYTES = 1 << 16

# Numbers that break counts, indices and sizes
_NUMBERS = (
    *(b"0", b"-1", b"1", b"255", b"65536", b"2147483647", b"-2147483648", b"4294967295", b"9223372036854775807"),
    *(b"18446744073709551616", b"1e308", b"-1e308", b"1e-320", b"1e400", b"nan", b"NaN", b"inf", b"-inf", b".nan"),
    *(b"1e999999999", b"9" * 5000, b"0.1", b"1_000", b"0x10", b"\xd9\xa3", b"true", b"null", b"", b"1e18", b"1e19"),
)
_WORDS = (
    *(b"[", b"]", b"{", b"}", b'"', b"'", b",", b":", b"\n", b"\\", b"\r", b"\t", b"\0", b"#", b"=", b";", b" "),
    *(b"../", b"../../../../etc/passwd", b"/etc/passwd", b"file:///etc/passwd", b"http://localhost/", b"//host/x"),
    *(b"data:;base64,", b"%2e%2e%2f", b"~", b"C:\\", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80"),
    *("\u2028".encode(), "\u202e".encode(), "\x1b[2J".encode(), "\x85".encode(), "é".encode(), "𝒳".encode()),
)
_INTEGERS = (0, 1, 2, 127, 128, 255, 256, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**53, 2**63 - 1, 2**64 - 1)
_NUMBER = re.compile(rb"-?\d+(\.\d+)?([eE][-+]?\d+)?")


def mutated(data: bytes, rng: random.Random, words: Sequence[bytes] = (), others: Sequence[bytes] = ()) -> bytes:
    """The bytes with one to four mistakes.

    Args:
        data: A file, or what is left of one.
        rng: Decides.
        words: What files of the kind are made of.
        others: Other files of the kind, to take pieces from.
    """
    for _ in range(rng.randint(1, 4)):
        data = rng.choice(_MISTAKES)(data, rng, words, others)[:MOST_BYTES]
    return data


def _place(data: bytes, rng: random.Random) -> int:
    return rng.randint(0, len(data))


def _piece(data: bytes, rng: random.Random, most: int = 64) -> tuple[int, int]:
    begin = _place(data, rng)
    return begin, min(len(data), begin + rng.randint(1, most))


def _flip(data: bytes, rng: random.Random, words: Sequence[bytes], others: Sequence[bytes]) -> bytes:
    """One bit."""
    if not data:
        return data
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]


def _cut(data: bytes, rng: random.Random, words: Sequence[bytes], others: Sequence[bytes]) -> bytes:
    """The file ends early."""
    return data[: _place(data, rng)]


def _remove(data: bytes, rng: random.Random, words: Sequence[bytes], others: Sequence[bytes]) -> bytes:
    begin, end = _piece(data, rng)
    return data[:begin] + data[end:]


def _repeat(data: bytes, rng: random.Random, words: Sequence[bytes], others: Sequence[bytes]) -> bytes:
    begin, end = _piece(data, rng)
    return data[:end] + data[begin:end] * rng.choice((1, 1, 2, 10, 1000)) + data[end:]


def _insert(data: bytes, rng: random.Random, words: Sequence[bytes], others: Sequence[bytes]) -> bytes:
    """A word where none should be, perhaps a thousand times, which nests deep."""
    at = _place(data, rng)
    word = rng.choice((*_WORDS, *_NUMBERS, *words))
    return data[:at] + word * rng.choice((1, 1, 1, 1, 3, 2000)) + data[at:]


def _noise(data: bytes, rng: random.Random, words: Sequence[bytes], others: Sequence[bytes]) -> bytes:
    begin, end = _piece(data, rng, 16)
    return data[:begin] + rng.randbytes(end - begin) + data[end:]


def _number(data: bytes, rng: random.Random, words: Sequence[bytes], others: Sequence[bytes]) -> bytes:
    """A number in the text becomes another one."""
    found = list(_NUMBER.finditer(data))
    if not found:
        return _integer(data, rng, words, others)
    match = rng.choice(found)
    return data[: match.start()] + rng.choice(_NUMBERS) + data[match.end() :]


def _word(data: bytes, rng: random.Random, words: Sequence[bytes], others: Sequence[bytes]) -> bytes:
    """A word of the format becomes another one of it."""
    there = [word for word in words if word and word in data]
    if not there:
        return _insert(data, rng, words, others)
    old = rng.choice(there)
    starts = [match.start() for match in re.finditer(re.escape(old), data)]
    at = rng.choice(starts)
    return data[:at] + rng.choice(words) + data[at + len(old) :]


def _integer(data: bytes, rng: random.Random, words: Sequence[bytes], others: Sequence[bytes]) -> bytes:
    """A count in a binary header."""
    width, letter = rng.choice(((1, "B"), (2, "H"), (4, "I"), (8, "Q")))
    value = rng.choice((*_INTEGERS, len(data), len(data) + 1)) & (256**width - 1)
    at = rng.randint(0, max(0, len(data) - width))
    return data[:at] + struct.pack(rng.choice("<>") + letter, value) + data[at + width :]


def _float(data: bytes, rng: random.Random, words: Sequence[bytes], others: Sequence[bytes]) -> bytes:
    """A number in a binary body."""
    value = rng.choice((float("nan"), float("inf"), -float("inf"), 3e38, -0.0, 1e-45))
    packed = struct.pack(rng.choice(("<f", "<d", ">f")), value)
    at = rng.randint(0, max(0, len(data) - len(packed)))
    return data[:at] + packed + data[at + len(packed) :]


def _line(data: bytes, rng: random.Random, words: Sequence[bytes], others: Sequence[bytes]) -> bytes:
    """A line is gone, there twice, or elsewhere."""
    lines = data.split(b"\n")
    line = lines.pop(rng.randrange(len(lines)))
    for _ in range(rng.choice((0, 1, 2))):
        lines.insert(rng.randint(0, len(lines)), line)
    return b"\n".join(lines)


def _mix(data: bytes, rng: random.Random, words: Sequence[bytes], others: Sequence[bytes]) -> bytes:
    """The beginning of one file and the end of another."""
    other = rng.choice(others) if others else data
    return data[: _place(data, rng)] + other[_place(other, rng) :]


def _encode(data: bytes, rng: random.Random, words: Sequence[bytes], others: Sequence[bytes]) -> bytes:
    """Text in another encoding."""
    return data.decode("utf-8", "replace").encode(rng.choice(("utf-16", "utf-32", "utf-8-sig", "cp037")), "replace")


_MISTAKES: tuple[Callable[[bytes, random.Random, Sequence[bytes], Sequence[bytes]], bytes], ...] = (
    *(_flip, _cut, _remove, _repeat, _insert, _insert, _noise, _number, _number, _number, _word, _word),
    *(_integer, _integer, _float, _line, _line, _mix, _encode),
)
