#!/usr/bin/env bash
# configure.sh [PRESET]: installs what the build needs and configures build/PRESET if needed.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}
folder=build/$preset

case $preset in
  release) tools/setup.sh --build ;;
  clang | fuzz | threads) tools/setup.sh --build clang ;;
  *)
    echo "dev build: unknown preset '$preset'; presets: release, clang, fuzz, threads" >&2
    exit 2
    ;;
esac

. tools/ccache.sh "$PWD"
if [ ! -f "$folder/build.ninja" ] || [ CMakePresets.json -nt "$folder/build.ninja" ]; then
  cmake --preset "$preset" >"build/configure-$preset.log" 2>&1 || {
    cat "build/configure-$preset.log" >&2
    exit 1
  }
fi
