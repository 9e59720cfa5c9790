#!/usr/bin/env bash
# bench.sh [NAME... [-- ARGS]]: runs bench/NAME.py (default: all measurements), with ARGS for each.
set -euo pipefail
cd "$(dirname "$0")/.."

# Every file in bench/ that is not a maker of models or a helper measures something; older.py needs another build.
names=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  names+=("$1")
  shift
done
if [ "${1:-}" = -- ]; then shift; fi
if [ ${#names[@]} = 0 ]; then
  mapfile -t names < <(find bench -maxdepth 1 -name '*.py' ! -name 'make_*' ! -name measure.py ! -name older.py -printf '%f\n' | sort)
  names=("${names[@]%.py}")
fi
for name in "${names[@]}"; do
  if [ ! -f "bench/$name.py" ]; then
    echo "dev bench: there is no bench/$name.py" >&2
    exit 2
  fi
done

tools/build.sh release assay assay_python
status=0
for name in "${names[@]}"; do
  echo "== $name"
  .venv/bin/python "bench/$name.py" "$@" || status=1
done
exit $status
