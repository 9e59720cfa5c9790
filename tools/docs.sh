#!/usr/bin/env bash
# docs.sh: writes docs/cli.md. docs.sh --check PROGRAM: fails if docs/cli.md is not what PROGRAM prints.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "${1:-}" = --check ]; then
  "$2" docs cli | diff -u docs/cli.md - | head -n 40 || {
    echo "docs/cli.md is out of date; run ./dev docs" >&2
    exit 1
  }
else
  tools/build.sh release assay
  build/release/bin/assay docs cli >build/cli.md
  cmp -s build/cli.md docs/cli.md || cp build/cli.md docs/cli.md
  echo "docs/cli.md is current"
fi
