#!/usr/bin/env bash
# wheel.sh: makes the Python package as a source distribution and, from that, as a wheel that holds the libraries it needs,
# both in build/wheel; installs the wheel into an empty environment, and runs the tests of the package with it.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/setup.sh

made=build/wheel_made
source=build/wheel_source
rm -rf build/wheel "$made" "$source" build/wheel_env
mkdir -p build/wheel "$source"
.venv/bin/python -c 'from scikit_build_core import build; build.build_sdist("build/wheel")' >build/wheel.log
tar -xzf build/wheel/*.tar.gz --strip-components=1 -C "$source"
. tools/ccache.sh "$PWD/$source"
.venv/bin/python -m pip wheel --quiet --no-deps --wheel-dir "$made" --config-settings build-dir=build/tree \
  --config-settings cmake.define.ASSAY_WERROR=ON "./$source"
PATH=$PWD/.venv/bin:$PATH .venv/bin/python -m auditwheel repair --wheel-dir build/wheel "$made"/*.whl >build/wheel.log 2>&1 || {
  cat build/wheel.log >&2
  exit 1
}

python=build/wheel_env/bin/python
.venv/bin/python -m venv build/wheel_env
"$python" -m pip install --quiet build/wheel/*.whl
build/wheel_env/bin/assay --version | head -1
"$python" -c 'import assay; print("module", assay.__version__)'

# The tests compare with other packages, which are in .venv.
PYTHONPATH=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
ASSAY_ONNXRUNTIME=$(echo .venv/lib/python3*/site-packages)
export PYTHONPATH ASSAY=$PWD/build/wheel_env/bin/assay PYTHONDONTWRITEBYTECODE=1 ASSAY_ONNXRUNTIME=$PWD/$ASSAY_ONNXRUNTIME
for test in tests/python/*_test.py; do
  .venv/bin/python "$test" >build/wheel_test.log 2>&1 || {
    cat build/wheel_test.log >&2
    echo "wheel: $test failed" >&2
    exit 1
  }
done
ls build/wheel/*
