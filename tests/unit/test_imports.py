"""The map of docs/architecture.md, enforced: who may import whom, and what `import sensorium` may cost."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import sensorium

PACKAGE = Path(sensorium.__file__).parent

DOCUMENT = PACKAGE.parents[1] / "docs" / "architecture.md"


def layers_of(document: str) -> list[tuple[str, ...]]:
    """The rows of the document's table of layers, each with the parts it names."""
    table = document.split("```layers\n")[1].split("```")[0]
    return [tuple(part.strip() for part in row.split(":")[0].split(",")) for row in table.strip().splitlines()]


# A module may import modules of earlier rows and of its own part; parts that share a row know nothing of each other.
LAYERS = [*layers_of(DOCUMENT.read_text()), ("__main__",)]
RANK = {part: rank for rank, parts in enumerate(LAYERS) for part in parts}

# What is written like a user's program may use the public names: `import sensorium as sn`
WRITTEN_LIKE_A_USER = ("qa.benchmarks", "qa.demo", "qa.validation", "app.cli", "__main__")

# The imports that go up, inside functions: `env.run(view=True)` opens the viewer, `env.run(live=[...])` the sinks
UPWARD = {
    ("stepping.py", f"sensorium.{name}") for name in ("view.viewer.live", "live.opening", "live.sending")
}

# All but sensorium/__init__.py, whose work is to know everybody
MODULES = sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def part_of(module: Path) -> str:
    """The part that a file belongs to."""
    return part_named(".".join(module.with_suffix("").parts))


def part_named(name: str) -> str:
    """The longest part that a module's name, without the package's, begins with; else its first word."""
    words = name.split(".")
    parts = (".".join(words[:length]) for length in range(len(words), 0, -1))
    return next((part for part in parts if part in RANK), words[0])


def is_module(name: str) -> bool:
    path = PACKAGE.parent.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").exists()


def imported_names(path: Path) -> list[str]:
    """Full names of everything of this package that a file imports, wherever in the file."""
    names = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}:{node.lineno} imports relatively; write the full name"
            # `from sensorium.runtime import jit` imports sensorium.runtime.jit, `__version__` the package itself
            within = [(node.module or "", f"{node.module}.{alias.name}") for alias in node.names]
            names += [full if is_module(full) else module for module, full in within]
    return [name for name in names if name.split(".")[0] == "sensorium"]


def test_every_part_has_a_layer_and_every_layer_exists():
    assert len(RANK) == sum(len(parts) for parts in LAYERS), "a part stands in two rows"
    parts = {part_of(module) for module in MODULES}
    assert parts <= set(RANK), f"{sorted(parts - set(RANK))} have no row in {DOCUMENT.name}"
    assert set(RANK) <= parts, f"{sorted(set(RANK) - parts)} have a row in {DOCUMENT.name} and do not exist"


def test_the_foundation_is_below_and_the_command_line_on_top():
    order = ["core", "runtime", "random", "scene", "worlds", "tracing", "sensors", "environment", "app.cli"]
    assert sorted(order, key=lambda part: RANK[part]) == order


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_imports_go_one_way(module):
    own = part_of(module)
    for name in imported_names(PACKAGE / module):
        if (str(module), name) in UPWARD:
            continue
        if name == "sensorium":
            assert own in WRITTEN_LIKE_A_USER, f"{module} imports the package itself; it must name a module"
            continue
        other = part_named(name.removeprefix("sensorium."))
        known = other == own or RANK.get(other, len(LAYERS)) < RANK.get(own, -1)
        assert known, f"{module} imports {name}; by {DOCUMENT.name} {own} may not know {other}"


def modules_after(code: str) -> set[str]:
    """Top-level packages that a fresh interpreter has loaded after running the code."""
    report = f"import sys, json\n{code}\nprint(json.dumps(sorted({{name.split('.')[0] for name in sys.modules}})))"
    done = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, timeout=120, check=True)
    return set(json.loads(done.stdout))


COMPILERS = {"numba", "llvmlite", "embreex"}
FILES_AND_PICTURES = {"trimesh", "matplotlib", "plotly", "rerun", "mcap", "rosbags", "PIL", "pyarrow"}
SLOW = COMPILERS | FILES_AND_PICTURES | {"scipy", "mujoco", "pydantic", "typer", "rich", "yaml"}


def test_importing_the_package_loads_nothing_slow():
    loaded = modules_after("import sensorium")
    assert "sensorium" in loaded
    assert not loaded & (SLOW | {"numpy"})


def test_a_scene_needs_no_compiler_and_no_mesh_library():
    code = "import sensorium as sn; sn.Scene().add(sn.shapes.sphere(1.0), pose=sn.Pose((1, 2, 3)), label='ball')"
    assert not modules_after(code) & SLOW


def test_sensing_loads_neither_plots_nor_mesh_files_nor_recorders():
    code = "import sensorium as sn; sn.Environment, sn.Lidar, sn.RayCaster, sn.worlds.Kinematic"
    loaded = modules_after(code)
    assert {"numba", "pydantic"} <= loaded
    assert not loaded & (FILES_AND_PICTURES | {"mujoco", "typer"})


def test_every_public_name_can_be_reached():
    assert set(sensorium.__all__) <= set(dir(sensorium))
    for name in dir(sensorium):
        assert getattr(sensorium, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Lydar'"):
        sensorium.Lydar  # noqa: B018
