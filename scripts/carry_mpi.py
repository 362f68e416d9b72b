#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Copies what runs programs with Open MPI from this Debian machine into a folder, under the paths that it has here: a part of gpu-carry.sh.

usage: carry_mpi.py FOLDER"""
import re
import shutil
import subprocess
import sys
from pathlib import Path

PACKAGES = ["openmpi-bin", "openmpi-common", "libopenmpi3", "libpmix2"]
UNWANTED = re.compile(r"/share/(doc|man|lintian|bug)/|java|oshmem|mpifh|usempi|/profile/")
# Every machine with a C++ compiler has these, perhaps newer ones.
THERE = re.compile(r"lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s)\.so")


def main():
    to = Path(sys.argv[1])
    listed = subprocess.run(["dpkg", "-L", *PACKAGES], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    files = [Path(line) for line in listed if line.startswith("/") and not UNWANTED.search(line) and not Path(line).is_dir()]
    programs = [f for f in files if f.is_file() and f.open("rb").read(4) == b"\x7fELF"]
    needed = subprocess.run(["ldd", *programs], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    for found in sorted(set(re.findall(r"=> (/\S+)", needed))):
        library = Path(found if found.startswith("/usr") else "/usr" + found)
        if not THERE.match(library.name):
            files += [library, library.resolve()]
    for file in dict.fromkeys(files):
        copy = to / file.relative_to("/")
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.unlink(missing_ok=True)
        shutil.copy2(file, copy, follow_symlinks=False)


if __name__ == "__main__":
    main()
