#!/usr/bin/env bash
# threads.sh [TEST...]: runs unit tests under the thread sanitizer, those named as `engine exec`; or all of them, and the
# operators' cases on the engine.
set -euo pipefail
cd "$(dirname "$0")/.."

names=$(IFS='|' && echo "$*")
tests=${names:+"^unit/($names)\$"}
tests=${tests:-^(unit|cases_engine)/}
tools/configure.sh threads
mapfile -t known < <(ctest --test-dir build/threads -N -R "$tests" | sed -n 's|.*: unit/||p')
if [ ${#known[@]} = 0 ]; then
  echo "dev threads: no unit test is called '$*'" >&2
  exit 2
fi
known=("${known[@]//\//_}")
tools/build.sh threads assay op_cases "${known[@]/#/test_}"
export TSAN_SYMBOLIZER_PATH=/usr/bin/llvm-symbolizer-16 TSAN_OPTIONS=die_after_fork=0:second_deadlock_stack=1
exec ctest --test-dir build/threads --output-on-failure --timeout 3600 -j "$(nproc)" -R "$tests"
