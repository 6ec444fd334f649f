# Everything runs in the Python environment that is active: pip install -e '.[test]' first.
.PHONY: demo test slow lint bench fuzz docs wheel ci

demo:  ## drive the built-in scene, write pictures and a point cloud to sensorium-demo/
	sensorium demo

test:  ## all tests but the slow ones
	pytest

slow:  ## the slow ones
	pytest -m slow

lint:  ## style and types
	ruff check .
	mypy

bench:  ## the ratios of the benchmarks, and peers where they are installed
	sensorium bench

fuzz:  ## every reader of files, a minute each; pip install -e '.[fuzz]' first, or do without atheris
	PYTHONPATH=src:. python -m fuzz --seconds 60

docs:  ## the documentation, into docs/_build/html: pip install -e '.[docs]' first
	python -m sphinx -q -W --keep-going docs docs/_build/html
	@echo "docs/_build/html/index.html"

wheel:  ## a wheel in dist/ with kernels for x86-64-v3 and x86-64-v4: its first run compiles nothing
	.ci/wheel dist

ci:  ## what the continuous integration runs, in a clean virtual environment
	.ci/run
