#!/usr/bin/env bash
# wheel.sh: makes the Python package as a wheel in build/wheel, installs it into an empty environment and tries it there.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/setup.sh

rm -rf build/wheel build/wheel_env
export CMAKE_CXX_COMPILER_LAUNCHER=ccache
.venv/bin/python -m pip wheel --quiet --no-deps --wheel-dir build/wheel --config-settings build-dir=build/wheel_tree \
  --config-settings cmake.define.ASSAY_WERROR=ON .
.venv/bin/python -m venv build/wheel_env
build/wheel_env/bin/python -m pip install --quiet build/wheel/*.whl
build/wheel_env/bin/assay --version
build/wheel_env/bin/python -c 'import assay; print("assay", assay.__version__)'
ls -l build/wheel
