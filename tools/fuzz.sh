#!/usr/bin/env bash
# fuzz.sh [SECONDS]: runs the unit tests under the sanitizers, then each fuzz target for its share of SECONDS (60),
# at least 20 each, and interrupts commands at random moments. An input may take a minute: sanitized code is 30 to 60
# times slower. Corpora are in tests/fuzz/corpus; new inputs stay in build/fuzz/corpus, findings in build/fuzz/findings.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
if ! [[ $seconds =~ ^[1-9][0-9]*$ ]]; then
  echo "dev fuzz: '$seconds' is no number of seconds" >&2
  exit 2
fi

tools/build.sh fuzz
export ASAN_SYMBOLIZER_PATH=/usr/bin/llvm-symbolizer-16
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
status=0
ctest --test-dir build/fuzz --output-on-failure --timeout 600 -j "$(nproc)" -R '^unit/' || status=1

mapfile -t targets < <(find build/fuzz/tests -maxdepth 1 -name 'fuzz_*' -type f -executable | sort)
if [ ${#targets[@]} = 0 ]; then exit $status; fi
each=$((seconds / ${#targets[@]}))
if [ $each -lt 20 ]; then each=20; fi

run_target() {
  local name=${1##*/fuzz_}
  local new=build/fuzz/corpus/$name findings=build/fuzz/findings/ kept=tests/fuzz/corpus/$name
  mkdir -p "$new" "$findings"
  local folders=("$new")
  if [ -d "$kept" ]; then folders+=("$kept"); fi
  "$1" -max_total_time="$each" -timeout=60 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$findings$name-" "${folders[@]}" >"build/fuzz/$name.log" 2>&1 || {
    tail -n 40 "build/fuzz/$name.log" >&2
    local input
    input=$(sed -n 's/.*Test unit written to //p' "build/fuzz/$name.log")
    echo "fuzz $name: FOUND something; repeat it with: $1 $input" >&2
    return 1
  }
  local count
  count=$(awk '/number_of_executed_units/ {print $2}' "build/fuzz/$name.log")
  echo "fuzz $name: $count inputs in $each s, nothing found"
}

for target in "${targets[@]}"; do
  run_target "$target" || status=1
done
ASSAY=$PWD/build/fuzz/bin/assay .venv/bin/python tests/interop/signals_test.py 50 || status=1
exit $status
