#!/usr/bin/env bash
# lint.sh [REVISION]: runs clang-tidy on what changed since the revision. Without one: on everything that is not known to
# be clean; then builds with Clang and checks the time that each source takes.
set -euo pipefail
cd "$(dirname "$0")/.."

tools/configure.sh clang
tools/setup.sh
ninja -C build/clang build.ninja >build/configure-clang.log  # finds new sources
if [ $# != 0 ]; then
  exec .venv/bin/python tools/run_tidy.py build/clang --since "$1"
fi
status=0
.venv/bin/python tools/run_tidy.py build/clang || status=1
tools/build.sh clang
.venv/bin/python tools/check_build.py build/clang || status=1
exit $status
