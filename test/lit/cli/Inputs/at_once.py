# SPDX-License-Identifier: Apache-2.0
"""usage: at_once.py HVDIZE SOURCE CACHE -- FLAGS: several hvdize at once, with one empty cache."""
import os
import subprocess
import sys
from pathlib import Path

program, source, cache = sys.argv[1:4]
flags = sys.argv[4:]
environment = {**os.environ, "HVDIZE_CACHE": cache}


def start(number):
    return subprocess.Popen([program, source, "-o", "%s.%d.cpp" % (source, number), "--verbose", *flags], env=environment, text=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def finish(process):
    said = process.communicate()[0]
    if process.returncode != 0:
        sys.exit("status %d\n%s" % (process.returncode, said))
    return said


processes = [start(number) for number in range(4)]
for process in processes:
    finish(process)
texts = {Path("%s.%d.cpp" % (source, number)).read_bytes() for number in range(4)}
print("equal outputs" if texts == {Path(source).read_bytes()} else "outputs differ")
kept = [p.suffix for p in Path(cache).iterdir()]
print("%d precompiled%s" % (kept.count(".pch"), ", with a half file" if ".part" in kept else ""))
print("used afterwards" if "precompiled headers used" in finish(start(9)) else "not used afterwards")
