"""`sensorium schema`: the JSON Schema of scenario files, for editors."""

import json
from pathlib import Path
from typing import Annotated

import typer


def schema(
    out: Annotated[Path | None, typer.Option(help="File to write; by default it is printed.")] = None,
) -> None:
    """Print the JSON Schema of scenario files, with which editors complete and check them."""
    from sensorium.app.scenario.scenario import json_schema
    from sensorium.files.atomic import replacing

    text = json.dumps(json_schema(), indent=2) + "\n"
    if out is None:
        print(text, end="")
        return
    with replacing(out) as file:
        file.write(text.encode())
