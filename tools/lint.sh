#!/usr/bin/env bash
# lint.sh [REVISION]: runs clang-tidy on what changed since the revision. Without one: on everything that is not known to
# be clean; then builds with Clang and checks the compile times of both builds.
set -euo pipefail
cd "$(dirname "$0")/.."

tools/configure.sh clang
ninja -C build/clang build.ninja >build/configure-clang.log  # finds new sources
if [ $# != 0 ]; then
  exec .venv/bin/python tools/run_tidy.py build/clang --since "$1"
fi
status=0
.venv/bin/python tools/run_tidy.py build/clang || status=1
tools/build.sh clang
tools/build.sh release
for folder in build/clang build/release; do
  .venv/bin/python tools/check_build.py "$folder" || status=1
done
exit $status
