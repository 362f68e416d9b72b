#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs the Debian packages that hvdize needs (scripts/packages.txt), as root or through sudo. Does nothing when all are there.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "setup: this is not a Debian system; see docs/dependencies.md for what hvdize needs. Going on with what is here."
  exit 0
fi

missing=()
while read -r package why; do
  case $package in '' | '#'*) continue ;; esac
  if [ "$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null)" != "install ok installed" ]; then
    missing+=("$package")
    printf 'setup: needs %-24s %s\n' "$package" "$why"
  fi
done <"$here/packages.txt"
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "setup: neither root nor sudo. Ask an administrator to run: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
echo "setup: installing ${#missing[@]} packages with apt-get"
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
