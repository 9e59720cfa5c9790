#!/usr/bin/env bash
# setup.sh [--build] [GROUP...]: installs what is missing of the Debian packages of `base` and the named groups, and
# makes .venv; with --build only as much of it as the build needs, so that the rest can be installed meanwhile.
# Exits 3 when packages are missing and may not be installed from here.
set -euo pipefail
cd "$(dirname "$0")/.."

section() {
  awk -v wanted="[$1]" '/^\[/ {inside = ($0 == wanted); next} inside && NF && !/^#/' tools/dependencies.txt
}

# Prints the packages of the given groups that are absent or too old.
missing_packages() {
  local -A installed=()
  local status name version group
  while read -r status name version; do
    if [ "$status" = installed ]; then installed[$name]=$version; fi
  done < <(dpkg-query -W -f '${db:Status-Status} ${Package} ${Version}\n')
  for group in "$@"; do
    while read -r name version; do
      dpkg --compare-versions "${installed[$name]:-0}" ge "${version:-0.0.1}" || echo "$name"
    done < <(section "debian $group")
  done
}

apt_get() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=120 \
    -o Acquire::Retries=3 "$@" </dev/null >build/apt.log 2>&1
}

install_packages() {
  as_root=(env)
  if [ "$(id -u)" != 0 ]; then as_root=(sudo -n); fi
  if ! "${as_root[@]}" true 2>/dev/null; then
    echo "setup: packages are missing; install them with: apt-get install --no-install-recommends $*" >&2
    exit 3
  fi
  echo "setup: apt-get install $*"
  apt-cache show "$@" >/dev/null 2>&1 || apt_get update || true
  apt_get install --no-install-recommends "$@" || {
    apt_get update
    apt_get install --no-install-recommends "$@"
  } || {
    cat build/apt.log >&2
    echo "setup: apt-get could not install $*" >&2
    exit 3
  }
}

setup_packages() {
  if ! command -v dpkg-query >/dev/null; then
    echo "setup: installs on Debian and Ubuntu only; elsewhere, provide what tools/dependencies.txt lists" >&2
    exit 3
  fi
  local missing
  mapfile -t missing < <(missing_packages "$@")
  if [ ${#missing[@]} = 0 ]; then return; fi
  install_packages "${missing[@]}"
  mapfile -t missing < <(missing_packages "$@")
  if [ ${#missing[@]} = 0 ]; then return; fi
  echo "setup: the system's versions are too old: ${missing[*]}; see tools/dependencies.txt" >&2
  exit 3
}

# Prints the first Python that can make an environment.
usable_python() {
  local python
  for python in python3 /usr/bin/python3; do
    if "$python" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
      echo "$python"
      return
    fi
  done
  echo "setup: no python3 of version 3.10 or newer with the modules venv and ensurepip" >&2
  exit 3
}

# Installs a section's Python packages. Compiling all of them takes half of the time; Python compiles what is imported.
install_python() {
  .venv/bin/pip install --quiet --no-input --no-compile --disable-pip-version-check -r <(section "$1") </dev/null
}

make_environment() {
  local python
  if [ -x .venv/bin/python ] && [ "$(cat .venv/begun 2>/dev/null)" = "$stamp" ]; then return; fi
  python=$(usable_python)
  echo "setup: making .venv with $("$python" --version)"
  rm -rf .venv
  "$python" -m venv .venv
  install_python "python build"
  echo "$stamp" >.venv/begun
}

fill_environment() {
  if [ "$(cat .venv/stamp 2>/dev/null)" = "$stamp" ]; then return; fi
  install_python python
  echo "$stamp" >.venv/stamp
}

only_build=
if [ "${1:-}" = --build ]; then
  only_build=yes
  shift
fi
mkdir -p build
exec 9>build/setup.lock
flock 9
setup_packages base "$@"
stamp=$( (section "python build"; section python) | sha256sum)
make_environment
if [ -z "$only_build" ]; then fill_environment; fi
