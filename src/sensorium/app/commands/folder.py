"""Folders for results."""

import os
from pathlib import Path

from sensorium.core.errors import SpecError


def make_folder(folder: Path) -> None:
    """Make a folder, or say why it cannot hold results before time is spent on them."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise SpecError(f"--out is {str(folder)!r}, a file; it must be a folder or a new name") from None
    except OSError as error:
        raise SpecError(f"--out is {str(folder)!r}, which cannot be made: {error.strerror}") from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise SpecError(f"--out is {str(folder)!r}; it must be a folder that you may write to")
