"""Draws docs/images/worker_pool.svg: the protocol of the worker pool.

python docs/_extensions/worker_pool_picture.py
"""

from pathlib import Path
from xml.sax.saxutils import escape

TARGET = Path(__file__).parents[1] / "images" / "worker_pool.svg"

WIDTH, HEIGHT = 1120, 800
CALLER, WORKER, FORK, GREY = "#1f6feb", "#2da44e", "#bf5700", "#57606a"
ROLES = (("the caller does it", CALLER), ("the worker does it", WORKER), ("the fork does it", FORK))


def text(
    x: float, y: float, words: str, color: str = "#24292f", size: int = 13, *, bold: bool = False, at: str = "middle"
):
    """One line of words."""
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x}" y="{y}" font-size="{size}" fill="{color}" text-anchor="{at}"{weight}>{escape(words)}</text>'


def box(x: float, y: float, width: float, title: str, *lines: str) -> str:
    """A state, centered at x, from y on; 22 pixels for the title and 16 for each further line."""
    height = 30 + 16 * len(lines)
    parts = [
        f'<rect x="{x - width / 2}" y="{y}" width="{width}" height="{height}" rx="8" fill="#f6f8fa" stroke="{GREY}"/>'
    ]
    parts.append(text(x, y + 20, title, bold=True))
    parts += [text(x, y + 38 + 16 * i, line, GREY, 12) for i, line in enumerate(lines)]
    return "".join(parts)


def arrow(points: str, color: str, words: str = "", x: float = 0, y: float = 0, at: str = "middle") -> str:
    """A line through points with a tip, and its words."""
    line = (
        f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="1.6" marker-end="url(#{color[1:]})"/>'
    )
    return line + (text(x, y, words, color, 12, at=at) if words else "")


def worker_states() -> list[str]:
    """Upper left: the states of a worker."""
    return [
        text(30, 74, "A worker", size=16, bold=True, at="start"),
        box(150, 110, 200, "polls its slot", "without the GIL,", "0.5 ms since the last job"),
        box(450, 110, 180, "works on a job", "claims blocks from the back"),
        box(150, 270, 200, "last look", "number in parked_workers,", "polls for 0.1 ms more"),
        box(150, 420, 200, "blocks on its inbox", "asleep, no core used"),
        box(450, 420, 180, "does a share", "with the GIL or without"),
        arrow("250,125 358,125", WORKER, "job → job + 1", 304, 118),
        arrow("360,148 252,148", WORKER, "job + 1 → 0", 306, 164),
        arrow("150,174 150,268", WORKER, "no job came", 158, 225, "start"),
        arrow("150,334 150,418", WORKER, "still no job", 158, 380, "start"),
        arrow("50,440 20,440 20,140 48,140", CALLER, "None: wakes it", 26, 400, "start"),
        arrow("250,435 358,435", CALLER, "share", 304, 428),
        arrow("360,456 252,456", WORKER, "done", 306, 472),
        arrow("252,285 450,240 450,158", WORKER, "job", 440, 200, "end"),
        arrow("215,174 330,330 400,418", CALLER, "wake flag: look into the inbox", 330, 318, "start"),
    ]


def values() -> list[str]:
    """Upper right: the values of a slot, and of a share."""
    return [
        text(600, 74, "A slot (one for each worker, a cache line)", size=16, bold=True, at="start"),
        box(660, 140, 90, "0", "empty"),
        box(840, 140, 90, "job", "posted"),
        box(1020, 140, 110, "job + 1", "in work"),
        arrow("705,155 793,155", CALLER, "post", 750, 148),
        arrow("795,176 707,176", CALLER, "retract", 752, 192),
        arrow("885,163 963,163", WORKER, "begin", 924, 156),
        arrow("1020,188 1020,222 660,222 660,190", WORKER, "no block is left; a caller waits for this", 840, 216),
        text(
            600,
            246,
            "Every change is one compare-and-swap. job is the address of the job in memory,",
            GREY,
            12,
            at="start",
        ),
        text(600, 262, "an even number. Callers post only where the slot is 0.", GREY, 12, at="start"),
        text(600, 318, "A share of run (one for each worker that is asked)", size=16, bold=True, at="start"),
        box(660, 360, 100, "offered", "in an inbox"),
        box(850, 360, 100, "begun", "in work"),
        box(1030, 360, 100, "done"),
        box(870, 440, 130, "withdrawn", "the caller does it"),
        arrow("710,375 798,375", WORKER, "swap", 754, 368),
        arrow("900,375 978,375", WORKER, "swap", 939, 368),
        arrow("660,406 660,462 803,462", CALLER, "swap, after its own share", 606, 486, "start"),
    ]


def fork_sequence() -> list[str]:
    """Below: kernels, and the six steps of a fork."""
    steps = ["pending_forks", "wait until no other", "5 ms for", "Numba's and", "fork()", "parent: undo both;"]
    more = ["+ 1", "thread is active", "Embree's threads", "LLVM's locks", "", "child: reset all"]
    parts = [text(30, 548, "A kernel, and a fork in another thread", size=16, bold=True, at="start")]
    for i, (line, second) in enumerate(zip(steps, more, strict=True)):
        x = 110 + 178 * i
        parts.append(box(x, 690, 150, line, *([second] if second else [])))
        if i:
            parts.append(arrow(f"{x - 103},710 {x - 77},710", FORK))
    parts += [
        box(130, 580, 190, "adds itself", "active_kernels + thread"),
        box(400, 580, 190, "reads pending_forks", "is one pending?"),
        box(680, 580, 190, "runs", "blocks, workers, Embree"),
        box(960, 580, 190, "removes itself", "in finally"),
        arrow("225,600 303,600", CALLER),
        arrow("495,600 583,600", CALLER, "no", 539, 593),
        arrow("775,600 863,600", CALLER),
        arrow(
            "400,626 400,648 130,648 130,628",
            CALLER,
            "yes: removes itself, and tries again (for 1 s at most)",
            412,
            652,
            "start",
        ),
        text(
            30,
            770,
            "Each side writes before it reads the other's list, so that at least one of them sees the other; no lock "
            "is needed. All hooks of the fork but the wait are C functions,",
            GREY,
            12,
            at="start",
        ),
        text(30, 787, "which no signal handler can interrupt.", GREY, 12, at="start"),
    ]
    return parts


def main() -> None:
    """Write the picture."""
    tips = "".join(
        f'<marker id="{color[1:]}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        f'<path d="M0,0 L8,4 L0,8 z" fill="{color}"/></marker>'
        for _, color in ROLES
    )
    legend = [
        text(500 + 210 * i, 30, words, color, 14, bold=True, at="start") for i, (words, color) in enumerate(ROLES)
    ]
    title = text(30, 32, "The worker pool", size=20, bold=True, at="start")
    lines = '<path d="M30,515 H1090 M575,60 V500" stroke="#d0d7de"/>'
    parts = [title, *legend, lines, *worker_states(), *values(), *fork_sequence()]
    TARGET.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif">'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/><defs>{tips}</defs>{"".join(parts)}</svg>\n'
    )


if __name__ == "__main__":
    main()
