#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of the documentation as a reader would: every code block marked `sh` of README.md and docs/, with the programs of this
build in PATH and a small trainer in the folder (test/scripts/docs).      usage: docs_commands.py BUILD

Blocks that are not run here stand in ELSEWHERE, with the test that runs them. Prints "ok" or "FAIL" for each block; status 1 after a failure.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PROJECT = Path(__file__).resolve().parent / "docs"

# The beginning of a block, and who runs it: a file of this repository and a text that it must hold.
ELSEWHERE = {
    "scripts/demo.sh": ("scripts/demo.sh", "hvd-verify"),
    "cmake --install build": ("test/package/run.sh", "cpack -G DEB"),
    # On the pages of the quick starts, in their own folders.
    "quick-start-": ("test/scripts/quick_start_test.py", "quick-start-*.md"),
    "sbatch ": ("test/scripts/slurm_test.py", '"examples" / "slurm"'),
    "hvdize-c++ -std=c++20 train.cpp -o train $(pkg-config": ("test/package/run.sh", "pkg-config --libs hvdize"),
}
# What a reader does between two lines, where the page says so.
COMPILE = 'c++ -std=c++20 -Iinclude %s.cpp -o %s "$CORE_LIBRARY"'
STEPS = {"# build both, then": "\n".join([COMPILE % ("train", "train_seq"), COMPILE % ("train_dist", "train_dist")]),
         "# copy rewriters/dialects/core.yaml to mine.yaml, then": "cp '%s' mine.yaml" % (ROOT / "rewriters" / "dialects" / "core.yaml")}


def blocks():
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = page.read_text()
        for found in re.finditer(r"^```sh\n(.*?)^```$", text, re.M | re.S):
            yield "%s:%d" % (page.relative_to(ROOT), text[: found.start()].count("\n") + 1), found.group(1)


def environment(site, work):
    links = work / "programs"  # the real compiler where a page says c++
    links.mkdir()
    (links / "c++").symlink_to(site["compiler"])
    runtime = Path(site["runtime"])
    return {**os.environ, "PATH": os.pathsep.join([site["bin"], str(links), os.environ["PATH"]]), "CORE_LIBRARY": str(runtime),
            "CORE_INCLUDE": str(Path(site["source"], "runtime", "include")), "LD_LIBRARY_PATH": str(runtime.parent), "HVDIZE_CACHE": str(work / "headers")}


def run(script, folder, env):
    done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", script], cwd=folder, env=env, timeout=400, text=True, errors="replace",
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def with_steps(block):
    return "".join(STEPS.get(line, line) + "\n" for line in block.splitlines())


def shown_edits(folder, env):
    """What docs/transformations.md shows, and hvdize does not do to the program that it names."""
    status, output = run("hvdize transformations.cpp --diff --quiet -- -std=c++20 -Iinclude 2>/dev/null", folder, env)
    made = {sign: "".join("".join(line[1:].split()) for line in output.splitlines() if line.startswith(sign)) for sign in "+-"}
    page = (ROOT / "docs" / "transformations.md").read_text()
    shown = [line for block in re.findall(r"^```diff\n(.*?)^```$", page, re.M | re.S) for line in block.splitlines() if line[0] in "+-"]
    return status == 0 and len(shown) > 10, [line for line in shown if "".join(line[1:].split()) not in made[line[0]]]


def main():
    site = json.loads(Path(sys.argv[1], "test", "site.json").read_text())
    failures = 0
    with tempfile.TemporaryDirectory(prefix="hvdize-docs-") as temporary:
        work = Path(temporary)
        env = environment(site, work)
        reader = work / "reader"  # one reader, who keeps what earlier blocks have made
        shutil.copytree(PROJECT, reader)
        (reader / "include" / "hvd").symlink_to(Path(env["CORE_INCLUDE"], "hvd"))
        for where, block in blocks():
            other = next((who for begin, who in ELSEWHERE.items() if block.startswith(begin) or where.startswith("docs/" + begin)), None)
            if other:
                good, output = other[1] in (ROOT / other[0]).read_text(), "%s does not hold '%s'" % other
            else:
                shutil.rmtree(reader / "build", ignore_errors=True)
                status, output = run(with_steps(block), reader, env)
                good = status == 0
            print("%-4s %s: %s" % ("ok" if good else "FAIL", where, block.splitlines()[0] + (" (run by %s)" % other[0] if other else "")), flush=True)
            if not good:
                failures += 1
                print("\n".join("    " + line for line in output.splitlines()[-30:]), flush=True)
        done, wrong = shown_edits(reader, env)
        print("%-4s docs/transformations.md: the edits that it shows are made" % ("ok" if done and not wrong else "FAIL"), *wrong, sep="\n    ", flush=True)
        failures += not done or bool(wrong)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
