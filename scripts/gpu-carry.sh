#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Puts into a folder what scripts/gpu-check.sh needs and a bare machine may lack: GoogleTest's sources and zlib's headers.
#
#   scripts/gpu-carry.sh FOLDER
set -euo pipefail
to=${1:?usage: gpu-carry.sh FOLDER}
googletest=/usr/src/googletest/googletest
for needed in "$googletest/src/gtest-all.cc" /usr/include/zlib.h; do
  [ -e "$needed" ] || { echo "gpu-carry: '$needed' is missing: install libgtest-dev and zlib1g-dev" >&2; exit 1; }
done
mkdir -p "$to/googletest" "$to/include"
cp -r "$googletest/include" "$googletest/src" "$to/googletest/"
for header in zlib.h zconf.h; do
  cp "$(find /usr/include -name $header -print -quit)" "$to/include/"
done
echo "gpu-carry: $(du -sh "$to" | cut -f1) in $to"
