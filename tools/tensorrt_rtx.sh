#!/usr/bin/env bash
# tensorrt_rtx.sh: makes an environment of Python with TensorRT-RTX in build/tensorrt-rtx, for tests that ask for it.
set -euo pipefail
cd "$(dirname "$0")/.."

version=1.7.1.116
echo "TensorRT-RTX $version is NVIDIA's, and proprietary: its licence is the LICENSE.txt of tensorrt_rtx_cu13_libs."
echo "It is installed from PyPI into build/tensorrt-rtx, to test the bridge with it; Assay contains nothing of it."
[ -x build/tensorrt-rtx/bin/python ] || python3 -m venv build/tensorrt-rtx
build/tensorrt-rtx/bin/pip install --quiet "tensorrt-rtx-cu13-bindings==$version" "tensorrt-rtx-cu13-libs==$version" \
  nvidia-cuda-runtime numpy
