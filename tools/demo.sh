#!/usr/bin/env bash
# demo.sh: makes a small model and an edited copy in build/demo, looks at them, and compares all layers of the
# reference, the engine and ONNX Runtime.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/build.sh release assay
mkdir -p build/demo
.venv/bin/python tools/demo_model.py build/demo
export PATH=$PWD/build/release/bin:$PWD/.venv/bin:$PATH
cd build/demo

bold= plain=
if [ -t 1 ]; then bold=$'\033[1m' plain=$'\033[0m'; fi

# Shows a command and what it prints, and keeps that. Status 1 says that something was found.
show() {
  local file=$1 status=0
  shift
  printf '\n%s$ %s%s\n' "$bold" "$*" "$plain"
  "$@" >"$file" 2>&1 || status=$?
  cat "$file"
  if [ $status -gt 1 ]; then
    echo "dev demo: the command ended with $status" >&2
    exit $status
  fi
}

show model.txt assay inspect model model.onnx --shape-inference --show layers cost
show run.txt assay run model.onnx --ref --onnxrt --input-shapes image:[2,3,32,32] --onnx-outputs mark all --tolerance auto \
  --report layers.html -qq
show engine.txt assay run model.onnx --trt --onnxrt --input-shapes image:[2,3,32,32] --onnx-outputs mark all \
  --tolerance auto -qq
show lint.txt assay check lint model.onnx --input-shapes image:[2,3,32,32]
show diff.txt assay inspect diff model.onnx edited.onnx
show sparsity.txt assay inspect sparsity model.onnx
printf '\nThe models and these listings are in build/demo; the comparison of all layers is the page build/demo/layers.html.\n'
