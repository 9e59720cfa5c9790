#!/usr/bin/env bash
# build.sh [PRESET [TARGET...]]: configures if needed and builds all or the targets into build/PRESET. Python packages that
# only tests and tools need are installed meanwhile.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}

tools/configure.sh "$preset"
# Without the last, the precompiled header of 120 MB is hashed for each file.
export CCACHE_BASEDIR=$PWD CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_INODECACHE=true
shift || true
tools/setup.sh &
status=0
cmake --build "build/$preset" -j "$(nproc)" --target "${@:-all}" || status=$?
wait $! || status=$?
exit $status
