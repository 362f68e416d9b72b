#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Puts into a folder what scripts/gpu-check.sh needs and a bare machine may lack: GoogleTest's sources, zlib's headers, LibTorch programs and
# an example that hvdize has rewritten, and what runs programs with Open MPI (FOLDER/mpi, a part of this machine's file system: on a machine without MPI,
# `cp -an FOLDER/mpi/. /` as root adds it and replaces nothing).
#
#   scripts/gpu-carry.sh FOLDER [BUILD]        BUILD: a build of hvdize with LibTorch, default build; without it no programs are put there
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
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=${2:-$here/../build}
if [ -x "$build/bin/hvdize" ] && grep -q '"torch": "[^"]' "$build/test/site.json"; then
  python3 - "$here" "$build" "$to/torch" <<'EOF'
import shutil, subprocess, sys
from pathlib import Path
here, build, to = Path(sys.argv[1]), Path(sys.argv[2]).resolve(), Path(sys.argv[3])
sys.path[:0] = [str(here), str(here.parent / "test" / "e2e")]
from build import Builder
from gpu_check_torch import OPTIONS, PROGRAMS, ROOT
builder = Builder(build)
for name in PROGRAMS:
    source = ROOT / "test" / "e2e" / "programs" / "torch" / (name + ".cpp")
    for kind in ("sequential", "distributed"):
        (to / kind).mkdir(parents=True, exist_ok=True)
    shutil.copy(source, to / "sequential" / source.name)
    subprocess.run([builder.hvdize, source, "-o", to / "distributed" / source.name, "--quiet", *OPTIONS.get(name, []), "--", *builder.parse_flags(source, [])], check=True)
EOF
  rm -rf "$to/examples"
  mkdir -p "$to/examples/helenna"
  cp "$build"/examples/hvdize/helenna/*.cpp "$build"/examples/hvdize/helenna/*.h "$to/examples/helenna/"
else
  echo "gpu-carry: no LibTorch programs: there is no build of hvdize with LibTorch in '$build'" >&2
fi
if command -v mpirun.openmpi >/dev/null; then
  python3 "$here/carry_mpi.py" "$to/mpi"
else
  echo "gpu-carry: no Open MPI: there is none here" >&2
fi
echo "gpu-carry: $(du -sh "$to" | cut -f1) in $to"
