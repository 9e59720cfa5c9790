#!/usr/bin/env bash
# gpu.sh [BUILD]: builds what tests on a card need, unless BUILD is a folder that has it, and runs them on card 0 of this
# machine; the report is printed and lies in build/gpu.txt.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-}
if [ -z "$build" ]; then
  build=build/release
  tools/build.sh release assay op_cases onnx_cases infer_tool run_tool
fi
python=.venv/bin/python
[ -x $python ] || python=python3
mkdir -p build
exec "$python" tests/gpu/card.py "$build" --report build/gpu.txt
