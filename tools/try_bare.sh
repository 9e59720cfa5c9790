#!/usr/bin/env bash
# try_bare.sh [VERB...]: runs ./dev VERB (default: test) on a clone of HEAD in a fresh Debian bookworm that has git, g++
# and Python only. Needs root and debootstrap. The system stays in $TMPDIR/assay-bare; delete it to start from nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
system=${TMPDIR:-/tmp}/assay-bare

if [ ! -d "$system" ]; then
  debootstrap --variant=minbase --include=ca-certificates,git,g++,python3 bookworm "$system.unfinished"
  # How packages are reached is the machine's affair.
  cp /etc/resolv.conf "$system.unfinished/etc/"
  cp -r /etc/apt/apt.conf.d /etc/apt/auth.conf.d "$system.unfinished/etc/apt/"
  cp /etc/ssl/certs/ca-certificates.crt "$system.unfinished/etc/ssl/certs/"
  if [ -f /etc/pip.conf ]; then cp /etc/pip.conf "$system.unfinished/etc/"; fi
  mv "$system.unfinished" "$system"
fi
rm -rf "$system/src"
git clone --quiet --no-hardlinks . "$system/src"

# The mounts live in a name space of their own and vanish with it.
exec unshare --mount bash -c '
  system=$1
  shift
  mount -t proc proc "$system/proc"
  mount --bind /dev "$system/dev"
  exec chroot "$system" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME="$HOME" LANG=C.UTF-8 CI=true \
    sh -c "cd /src && exec ./dev \"\$@\"" dev "$@"
' try_bare "$system" "${@:-test}" </dev/null
