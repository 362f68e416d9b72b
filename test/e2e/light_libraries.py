# SPDX-License-Identifier: Apache-2.0
"""A distribution's LibTorch may be linked with libraries (OpenCV, FFmpeg and all that these want) of which it calls nothing: loading them
takes a small program long, and the tests start some thousand. Empty ones in front of them are as good."""
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path


def output(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace").stdout


def needed(library):
    return re.findall(r"\(NEEDED\).*\[(.+)\]", output("readelf", "-d", str(library)))


def symbols(library, which):
    return {line.split()[-1].split("@")[0] for line in output("nm", "-D", which, str(library)).splitlines() if line}


def versions(library):
    """Of which libraries it asks for versions: these are looked for in the files themselves."""
    return set(re.findall(r"File: (\S+)", output("readelf", "-V", str(library))))


def unused(libraries, others):
    """Names of what `libraries` are linked with themselves and that nothing calls which a program with these and `others` loads without them."""
    paths = {}
    for library in [*libraries, *others]:
        paths.update(re.findall(r"^\s*(\S+) => (\S+)", output("ldd", str(library)), re.M))
    own = {os.path.realpath(library) for library in libraries}
    left_out = {n for library in libraries for n in needed(library) if n in paths and os.path.realpath(paths[n]) not in own}
    defined = {n: symbols(paths[n], "--defined-only") for n in left_out}
    wanted, versioned = {}, {}
    while True:
        loaded, next_ones = set(), [str(library) for library in [*libraries, *others]]
        while next_ones:
            path = next_ones.pop()
            if path in loaded:
                continue
            loaded.add(path)
            next_ones += [paths[n] for n in needed(path) if n in paths and n not in left_out]
        for path in loaded - wanted.keys():
            wanted[path], versioned[path] = symbols(path, "--undefined-only"), versions(path)
        called = {n for n in left_out if any(defined[n] & wanted[path] or n in versioned[path] for path in loaded)}
        if not called:
            return sorted(left_out)
        left_out -= called


def empty_libraries(libraries, others, compiler, parent):
    """A folder for LD_LIBRARY_PATH of such programs, made below `parent` once."""
    state = [(os.path.realpath(library), os.stat(library).st_mtime_ns) for library in [*libraries, *others]]
    folder = Path(parent, "empty-libraries-" + hashlib.sha256(repr(state).encode()).hexdigest()[:16])
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=folder.name + ".", dir=folder.parent))
        for name in unused(libraries, others):
            subprocess.run([compiler, "-shared", "-nostdlib", "-x", "c", os.devnull, "-Wl,-soname," + name, "-o", str(work / name)], check=True)
        try:
            work.rename(folder)
        except OSError:  # another run was quicker
            shutil.rmtree(work, ignore_errors=True)
    return folder
