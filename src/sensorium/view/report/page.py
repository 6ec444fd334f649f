"""The page itself: one self-contained HTML file."""

import base64
import hashlib
import html
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any, NamedTuple
from urllib.parse import quote


@dataclass(frozen=True)
class Page:
    """Content of a page.

    Attributes:
        title: Its heading.
        strip: Facts at the top, by name.
        table: Facts at the end, by name; text, numbers, paths or sequences of them.
        sensors: Rows of the table of sensors: name, kind, place, rate, readings, faults.
        data: Data that page.js draws.
        notes: Omissions and their reasons.
    """

    title: str
    strip: Mapping[str, str]
    table: Mapping[str, Any]
    sensors: Sequence[tuple[str, ...]]
    data: Mapping[str, Any]
    notes: Sequence[str]


class Section(NamedTuple):
    """A section of a page.

    Attributes:
        anchor: Its name in links.
        heading: Its heading.
        words: What it shows.
        body: Its content, as markup that `rows_body` and `picture_body` make.
    """

    anchor: str
    heading: str
    words: str
    body: str


# Key of the data, anchor, heading, description
_DRAWN = (
    (
        "clouds",
        "cloud",
        "In 3-D",
        "The last sweep of every lidar, in the world frame. Drag to turn it; click it, then scroll to zoom.",
    ),
    (
        "tracks",
        "above",
        "From above",
        "Where the bodies went; the dot is the end. One meter is as long along both axes.",
    ),
    (
        "images",
        "images",
        "Images",
        "The last image of every camera, and the last sweep as the lidar sees it, row by row.",
    ),
    (
        "signals",
        "signals",
        "Signals",
        "Measured (pale) beside the truth (dark), and below the error: measured minus true. Time is the world's. Long "
        "signals are shown by the extremes of equal stretches, so that every spike is there. Shaded: a fault is "
        "active. Drag to zoom, double-click to see all.",
    ),
    (
        "allan",
        "allan",
        "Allan deviation",
        "Overlapping Allan deviation of the errors, faults included, with its 95 % interval: white noise falls by the "
        "root of the averaging time, bias instability is the floor, a random walk rises again.",
    ),
    ("faults", "faults", "Faults", "Which fault was active when."),
)


def page(content: Page, *, folder: Path) -> bytes:
    """The whole file.

    Args:
        content: Content of the page.
        folder: Folder of the page; links to files are relative to it.
    """
    drawn = [section for section in _DRAWN if content.data.get(section[0])]
    sections = [
        Section(anchor, heading, words, f'<div data-draws="{key}"></div>') for key, anchor, heading, words in drawn
    ]
    if content.sensors:
        head = ("Sensor", "Kind", "On", "Rate", "Readings", "Faults")
        body = rows_body(head, content.sensors)
        sections.append(Section("sensors", "Sensors", "What was attached, and what arrived.", body))
    facts = "".join(f"<tr><th>{_text(k)}</th><td>{_value(v, folder)}</td></tr>" for k, v in content.table.items())
    notes = "".join(f"<li>{_text(note)}</li>" for note in content.notes)
    body = f'<div class="wide"><table class="facts">{facts}</table></div>' + (f"<ul>{notes}</ul>" if notes else "")
    sections.append(Section("facts", "Run facts", "All it takes to know this run again.", body))
    return framed(
        content.title, "run report", content.strip, sections, data=content.data, library=_plotly() if drawn else ""
    )


def framed(
    title: str,
    kind: str,
    strip: Mapping[str, str],
    sections: Sequence[Section],
    *,
    data: Mapping[str, Any] | None = None,
    library: str = "",
) -> bytes:
    """A page of sections, which any browser opens without a network.

    Args:
        title: Its heading.
        kind: What it is, above the heading.
        strip: Facts at the top, by name.
        sections: In order.
        data: Data that page.js draws; none for a page of tables and pictures.
        library: The plotting library's script, where there are data.
    """
    script = _own("page.js")

    # One pass over the frame: inserted text is never searched again
    text = Template(_own("page.html")).substitute(
        policy=_policy([library, script]),
        style=_own("page.css"),
        kind=_text(kind),
        title=_text(title),
        strip="".join(f"<div><dt>{_text(k)}</dt><dd>{_text(v)}</dd></div>" for k, v in strip.items()),
        index="".join(f'<li><a href="#{each.anchor}">{each.heading}</a></li>' for each in sections),
        sections="\n".join(
            f'<section id="{each.anchor}"><h2>{each.heading}</h2><p class="words">{each.words}</p>{each.body}</section>'
            for each in sections
        ),
        data=_json(data or {}),
        library=library,
        script=script,
    )
    return text.encode("utf-8")


def picture_body(png: bytes, words: str) -> str:
    """A picture inside the page; `words` stand for it where it is not shown."""
    data = base64.b64encode(png).decode("ascii")
    return f'<img style="max-width:100%" alt="{html.escape(words)}" src="data:image/png;base64,{data}">'


def list_body(lines: Iterable[str]) -> str:
    """A list of sentences."""
    return "<ul>" + "".join(f"<li>{_text(line)}</li>" for line in lines) + "</ul>"


def rows_body(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table with a row of headings; it scrolls by itself where the screen is narrow."""
    above = "".join(f"<th>{_text(cell)}</th>" for cell in head)
    below = "".join("<tr>" + "".join(f"<td>{_text(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{above}</tr></thead><tbody>{below}</tbody></table></div>'


def _value(value: Any, folder: Path) -> str:
    """A fact's value: a path is a link as seen from the page's folder, a sequence one line for each."""
    if isinstance(value, Path):
        seen = os.path.relpath(value, folder)
        return f'<a href="{html.escape(quote(Path(seen).as_posix()))}">{_text(seen)}</a>'
    if isinstance(value, list | tuple):
        return "<br>".join(_value(one, folder) for one in value)
    return _text(value)


def _text(value: Any) -> str:
    """Anything as text of a page, in which no markup survives."""
    return html.escape(str(value))


def _json(data: Any) -> str:
    """Data inside a script element: it can neither end the element nor begin another."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _policy(scripts: Iterable[str]) -> str:
    """Content security policy: the browser may run only these scripts, and load nothing."""
    hashes = (base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii") for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes)
    return f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:"


@cache
def _plotly() -> str:
    """The plotting library, from its own Python package."""
    from plotly.offline import get_plotlyjs

    # A script element must not contain its own end; the library does not, and a later version that does is an error
    script = get_plotlyjs()
    assert "</script" not in script.lower()
    return script


@cache
def _own(name: str) -> str:
    return (files("sensorium.view.report") / name).read_text(encoding="utf-8")
