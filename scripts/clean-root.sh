#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs the Debian packages of a build into a new Debian system in a folder, and follows the quick starts there as they are written. As root, with debootstrap
# and a network.
#
#   scripts/clean-root.sh BUILD ROOT [PAGE...]      BUILD: where "cpack -G DEB" has been run; ROOT: a folder that is not there yet, or a system that debootstrap made;
#                                                   PAGE: quick-start-core.md quick-start-cmake.md (default), quick-start-torch.md
#
# The last lines are "ok" or "FAIL" for each page. The folder is left for you to look at and to remove.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${1:?usage: clean-root.sh BUILD ROOT [PAGE...]}
root=${2:?usage: clean-root.sh BUILD ROOT [PAGE...]}
shift 2
pages=("$@")
[ ${#pages[@]} -gt 0 ] || pages=(quick-start-core.md quick-start-cmake.md)

packages=("$build"/*.deb)
[ -e "${packages[0]}" ] || { echo "clean-root: no packages in '$build': run cpack -G DEB there" >&2; exit 1; }
[ "$(id -u)" = 0 ] || { echo "clean-root: debootstrap needs root" >&2; exit 1; }
command -v debootstrap >/dev/null || { echo "clean-root: debootstrap is not installed" >&2; exit 1; }

[ -e "$root/etc/debian_version" ] || debootstrap --variant=minbase bookworm "$root"
# The system looks for packages where this one does.
[ ! -d /etc/apt/sources.list.d ] || cp -r /etc/apt/sources.list.d "$root/etc/apt/"
[ ! -e /etc/apt/sources.list ] || cp /etc/apt/sources.list "$root/etc/apt/"
cp -r /usr/share/keyrings/. "$root/usr/share/keyrings/"
cp /etc/resolv.conf "$root/etc/" 2>/dev/null || true
[ ! -d /etc/apt/apt.conf.d ] || find /etc/apt/apt.conf.d -name '*proxy*' -exec cp {} "$root/etc/apt/apt.conf.d/" \;

wanted=(g++ pkg-config python3 openmpi-bin)
chosen=()
for package in "${packages[@]}"; do
  case $(basename "$package") in
    *-cuda_*) continue ;;
    *-torch_*) [[ " ${pages[*]} " = *torch* ]] || continue ;;
  esac
  chosen+=("./packages/$(basename "$package")")
done
[[ " ${pages[*]} " != *cmake* ]] || wanted+=(cmake make)
[[ " ${pages[*]} " != *torch* ]] || wanted+=(libtorch-dev)

rm -rf "$root/packages" "$root/check"
mkdir -p "$root/packages" "$root/check/docs" "$root/check/test/scripts"
cp "${packages[@]}" "$root/packages/"
cp "$here"/docs/quick-start-*.md "$root/check/docs/"
cp "$here/test/scripts/quick_start_test.py" "$root/check/test/scripts/"

mounted() { mountpoint -q "$root/proc"; }
mounted || mount -t proc proc "$root/proc"
trap 'umount "$root/proc"' EXIT
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
inside apt-get update -qq
inside apt-get install -y -qq --no-install-recommends "${wanted[@]}"
# With what they recommend, as a user gets them: OpenBLAS.
inside sh -c 'cd / && exec apt-get install -y -qq "$@"' install "${chosen[@]}"
inside hvdize --version
inside python3 /check/test/scripts/quick_start_test.py --installed "${pages[@]}"
