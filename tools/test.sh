#!/usr/bin/env bash
# test.sh [--with tensorrt-rtx] [ARGS of ctest]: builds, checks, runs the fast tests. The last lines are ctest's
# summary. With TensorRT-RTX, the bridge to it is tested on NVIDIA's library.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "${1:-}" = --with ]; then
  if [ "${2:-}" != tensorrt-rtx ]; then
    echo "dev test: --with: expected tensorrt-rtx, found '${2:-}'" >&2
    exit 2
  fi
  shift 2
  tools/tensorrt_rtx.sh
  export ASSAY_TEST_TENSORRT_RTX=$PWD/build/tensorrt-rtx/bin/python
fi
failed=()
started=$SECONDS
step() {
  echo "== $1 ($((SECONDS - started)) s)"
}
check() {
  step "$1"
  "${@:2}" || failed+=("$1")
}

step build
tools/build.sh
tools/setup.sh browser || echo "dev test: tests of the page are skipped"
check format tools/format.sh --check
check layers .venv/bin/python tools/check_layers.py
check text .venv/bin/python tools/check_text.py
check sizes .venv/bin/python tools/check_sizes.py
check words .venv/bin/python tools/check_words.py
check operators .venv/bin/python tools/check_operators.py
rm -f build/release/conformance.txt
check tests ctest --test-dir build/release --output-on-failure --no-tests=error --timeout 1800 -j "$(nproc)" "$@"
[ ! -f build/release/conformance.txt ] || cat build/release/conformance.txt

if [ ${#failed[@]} != 0 ]; then
  echo "dev test: failed: ${failed[*]}" >&2
  exit 1
fi
