#!/usr/bin/env bash
# build.sh [PRESET [TARGET...]]: configures if needed and builds all or the targets into build/PRESET.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}

tools/configure.sh "$preset"
export CCACHE_BASEDIR=$PWD CCACHE_SLOPPINESS=pch_defines,time_macros
shift || true
exec cmake --build "build/$preset" -j "$(nproc)" --target "${@:-all}"
