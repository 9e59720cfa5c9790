#!/usr/bin/env bash
# lint.sh: builds with Clang, runs clang-tidy on what changed, checks the compile times of both builds.
set -euo pipefail
cd "$(dirname "$0")/.."

tools/build.sh clang
tools/build.sh release
status=0
.venv/bin/python tools/run_tidy.py build/clang || status=1
for folder in build/clang build/release; do
  .venv/bin/python tools/check_build.py "$folder" || status=1
done
exit $status
