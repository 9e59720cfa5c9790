#!/usr/bin/env bash
# format.sh [--check]: lays out all C++ files, or fails if one is not laid out.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/setup.sh

list_files() {
  find include src tests python/bindings -name '*.cpp' -o -name '*.h'
}

if [ "${1:-}" != --check ]; then
  list_files | xargs -P "$(nproc)" -n 20 clang-format-16 -i
  exit
fi
violation='^([^ :]+):[0-9]+:[0-9]+: warning: .*'
wrong=$(list_files | xargs -P "$(nproc)" -n 100 clang-format-16 --dry-run 2>&1 | sed -nE "s/$violation/\1/p" | sort -u)
if [ -n "$wrong" ]; then
  printf '%s\n' "$wrong" "format: run ./dev format" >&2
  exit 1
fi
