#!/usr/bin/env bash
# build.sh [PRESET [TARGET...]]: configures if needed and builds all or the targets into build/PRESET. Python packages that
# only tests and tools need are installed meanwhile.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}

tools/configure.sh "$preset"
. tools/ccache.sh "$PWD"
shift || true
tools/setup.sh &
status=0
cmake --build "build/$preset" -j "$(nproc)" --target "${@:-all}" || status=$?
wait $! || status=$?
exit $status
