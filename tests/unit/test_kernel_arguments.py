"""Kernels that Python calls take few arguments, as docs/architecture.md states; what belongs together is one tuple."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import sensorium

PACKAGE = Path(sensorium.__file__).parent

MOST = 8

# A kernel's share of the blocks, which every kernel of the worker pool takes
SHARE = (("first", "step", "count"), ("first", "step", "total"))


def kernels(source: str) -> Iterator[tuple[str, list[str]]]:
    """Kernels of a module, by decorator or by call of `jit.kernel`: name, and arguments beside the share of blocks."""
    tree = ast.parse(source)
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    made = {name for name, node in functions.items() if any(map(_is_kernel, node.decorator_list))}
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and _is_kernel(call.func):
            made |= {each.id for each in call.args if isinstance(each, ast.Name)}
    for name in sorted(made & functions.keys()):
        given = functions[name].args
        arguments = [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
        yield name, arguments[3:] if tuple(arguments[:3]) in SHARE else arguments


def _is_kernel(node: ast.expr) -> bool:
    return ast.unparse(node) in ("jit.kernel", "kernel")


def test_no_kernel_takes_more():
    found = [
        (f"{path.relative_to(PACKAGE)}: {name}", arguments)
        for path in sorted(PACKAGE.rglob("*.py"))
        for name, arguments in kernels(path.read_text())
    ]
    assert len(found) > 90
    assert [(name, arguments) for name, arguments in found if len(arguments) > MOST] == []


@pytest.mark.parametrize("made", ["@jit.kernel\n{}", "@kernel\n{}", "{}\nfast = jit.kernel(f)"])
def test_arguments_are_counted_without_the_share_of_blocks(made):
    assert list(kernels(made.format("def f(first, step, count, a, b): ..."))) == [("f", ["a", "b"])]
    assert list(kernels(made.format("def f(first, a, *, b): ..."))) == [("f", ["first", "a", "b"])]
    assert list(kernels("@jit.function\ndef f(a): ...")) == []


def test_the_rule_is_the_documented_one():
    text = " ".join((PACKAGE.parents[1] / "docs" / "architecture.md").read_text().split())
    assert f"takes at most {MOST} arguments beside first, step and count" in text
