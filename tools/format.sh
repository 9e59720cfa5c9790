#!/usr/bin/env bash
# format.sh [--check]: lays out all C++ files, or fails if one is not laid out.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/setup.sh

arguments=(-i)
if [ "${1:-}" = --check ]; then arguments=(--dry-run -Werror); fi
find src tests -name '*.cpp' -o -name '*.h' | xargs -P "$(nproc)" -n 20 clang-format-16 "${arguments[@]}"
