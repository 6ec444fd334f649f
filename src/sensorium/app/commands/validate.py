"""`sensorium validate`: every law that the library claims, measured and compared with its reference."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sensorium.app.commands.terminal import Terminal, make_folder

if TYPE_CHECKING:
    from sensorium.qa.validation import Result

_STYLES = {"passed": "green", "failed": "bold red", "skipped": "yellow"}


def validate(
    quick: Annotated[bool, typer.Option("--quick", help="Fewer samples, smaller scenes, fewer devices.")] = False,
    out: Annotated[Path, typer.Option(help="Folder for the page; made if it does not exist.")] = Path(
        "sensorium-validation"
    ),
    only: Annotated[
        str | None, typer.Option(help="Only checks whose name or family matches, such as 'fresnel*'.")
    ] = None,
    processes: Annotated[
        int | None, typer.Option(help="Families measured side by side, in processes; by default 2.", min=1)
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the checks with what they claim, and stop.")] = False,
) -> None:
    """Measure every law that the library claims, and write a page of them; exit code 1 says that one does not hold."""
    from sensorium.qa.validation import all_checks, chosen, page, run_checks, run_side_by_side
    from sensorium.runtime.worker_pool import get_threads

    console = Terminal()
    checks = chosen(all_checks(), only)
    if listed:
        for check in checks:
            console.print(f"{check.name:<34} {check.claim}", soft_wrap=True, highlight=False, markup=False)
        return
    make_folder(out)

    def report(result: "Result") -> None:
        found, expected, words = page.outcome(result)
        numbers = f"found {found}, reference {expected}; {words}" if found else words
        line = f"{result.check.name:<34} {result.verdict:<8} {result.seconds:6.2f} s  {numbers}"
        console.print(line, style=_STYLES[result.verdict], soft_wrap=True, highlight=False, markup=False)
        if result.comparison is not None and result.comparison.note:
            console.print(f"{'':<34} {result.comparison.note}", soft_wrap=True, highlight=False, markup=False)

    began_s = time.monotonic()
    side_by_side = min(processes or min(2, get_threads()), len({check.family for check in checks}))
    if side_by_side > 1:
        results = run_side_by_side(checks, quick=quick, processes=side_by_side, report=report)
    else:
        results = run_checks(checks, quick=quick, report=report)
    number = page.counts(results)
    seconds = time.monotonic() - began_s
    console.print(
        f"\n{number['passed']} laws hold, {number['failed']} do not, {number['skipped']} were skipped; {seconds:.0f} s",
        highlight=False,
    )
    for file in page.write(out, results, quick=quick):
        console.print(f"wrote {file} ({file.stat().st_size / 1e3:.0f} kB)", soft_wrap=True, highlight=False)
    if number["failed"]:
        raise typer.Exit(1)
