#!/usr/bin/env bash
# threads.sh [TEST...]: runs unit tests under the thread sanitizer: all, or those named as `engine exec`.
set -euo pipefail
cd "$(dirname "$0")/.."

names=$(IFS='|' && echo "$*")
tools/configure.sh threads
mapfile -t known < <(ctest --test-dir build/threads -N -R "^unit/(${names:-.*})\$" | sed -n 's|.*: unit/||p')
if [ ${#known[@]} = 0 ]; then
  echo "dev threads: no unit test is called '$*'" >&2
  exit 2
fi
known=("${known[@]//\//_}")
tools/build.sh threads assay "${known[@]/#/test_}"
export TSAN_SYMBOLIZER_PATH=/usr/bin/llvm-symbolizer-16 TSAN_OPTIONS=die_after_fork=0:second_deadlock_stack=1
exec ctest --test-dir build/threads --output-on-failure --timeout 3600 -j "$(nproc)" -R "^unit/(${names:-.*})\$"
