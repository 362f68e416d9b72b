#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Follows the quick starts as written: docs/quick-start-*.md, in an empty folder each, with the installed package.

usage: quick_start_test.py BUILD [PAGE...]          installs this build into a temporary folder first
       quick_start_test.py --installed PAGE...      with what is in the system's folders (scripts/clean-root.sh)

A block whose first line is "// FILE" or "# FILE" is that file; blocks marked `sh` are run in their order. hvd-verify must have found no difference.
Prints "ok", "FAIL" or "skip" for each page; status 1 after a failure.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"


def follow(page, folder, env):
    """Status and output of the last command that was run."""
    output = ""
    for language, text in re.findall(r"^```(\w+)\n(.*?)^```$", page.read_text(), re.M | re.S):
        name = re.match(r"(?://|#) ([\w.]+)\n", text)
        if language == "sh":
            done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", text], cwd=folder, env=env, timeout=400, text=True, errors="replace",
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            output += "$ " + "$ ".join(text.splitlines(True)) + done.stdout
            if done.returncode != 0:
                return done.returncode, output
        elif name:
            Path(folder, name.group(1)).write_text(text)
        else:
            return 1, "a block that is neither a file nor commands: " + text.splitlines()[0]
    return 0, output


def compared(output):
    """Whether hvd-verify has compared two numbers of ranks, and found them equal."""
    return len(re.findall(r"\bequal$|\bidentical$", output, re.M)) >= 2 and not re.search(r"\b(differs?|FAIL)\b", output)


def installed(build, prefix):
    done = subprocess.run(["cmake", "--install", build, "--prefix", str(prefix)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=200)
    if done.returncode != 0:
        raise SystemExit(done.stdout)
    libraries = next(prefix.rglob("libhvd_runtime.so")).parent
    return {"PATH": os.pathsep.join([str(prefix / "bin"), os.environ["PATH"]]), "LD_LIBRARY_PATH": str(libraries), "CMAKE_PREFIX_PATH": str(prefix),
            "PKG_CONFIG_PATH": str(libraries / "pkgconfig")}


def main():
    pages = [DOCS / name for name in sys.argv[2:]] or sorted(DOCS.glob("quick-start-*.md"))
    failed = 0
    with tempfile.TemporaryDirectory(prefix="hvdize-start-") as work:
        env, torch = dict(os.environ, HVDIZE_CACHE=work + "/headers"), True
        if sys.argv[1] != "--installed":
            env.update(installed(sys.argv[1], Path(work, "installed")))
            torch = bool(json.loads(Path(sys.argv[1], "test", "site.json").read_text())["torch"])
        for page in pages:
            if "torch" in page.name and not torch:
                print("skip %s: LibTorch is not part of this build" % page.name)
                continue
            folder = Path(work, page.stem)
            folder.mkdir()
            status, output = follow(page, folder, env)
            good = status == 0 and compared(output)
            print("%-4s docs/%s as written" % ("ok" if good else "FAIL", page.name), flush=True)
            if not good or sys.argv[1] == "--installed":
                print("\n".join("    " + line for line in output.splitlines()[-60:]), flush=True)
            failed += not good
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
