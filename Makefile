# Everything runs in the Python environment that is active: pip install -e '.[test]' first.
.PHONY: demo test lint bench docs ci

demo:  ## drive the built-in scene, write pictures and a point cloud to sensorium-demo/
	sensorium demo

test:  ## all tests
	pytest

lint:  ## style and types
	ruff check .
	mypy

bench:  ## the ratios of the benchmarks, and peers where they are installed
	sensorium bench

docs:  ## there is nothing to build: the documentation is Markdown
	@echo "Read README.md, then docs/architecture.md; CONTRIBUTING.md says how to change things."

ci:  ## what the continuous integration runs, in a clean virtual environment
	.ci/run
