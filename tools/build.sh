#!/usr/bin/env bash
# build.sh [PRESET]: configures if needed and builds into build/PRESET.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}
folder=build/$preset

case $preset in
  release) tools/setup.sh ;;
  clang | fuzz) tools/setup.sh clang ;;
  *)
    echo "dev build: unknown preset '$preset'; presets: release, clang, fuzz" >&2
    exit 2
    ;;
esac

export CMAKE_CXX_COMPILER_LAUNCHER=ccache
export CLICOLOR_FORCE=${CLICOLOR_FORCE:-0}
if [ ! -f "$folder/build.ninja" ] || [ CMakePresets.json -nt "$folder/build.ninja" ]; then
  cmake --preset "$preset" >"build/configure-$preset.log" 2>&1 || {
    cat "build/configure-$preset.log" >&2
    exit 1
  }
fi
exec cmake --build "$folder" -j "$(nproc)"
