#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Breaks hvdize in one place at a time and looks whether a test notices.

usage: mutation.py [--work DIR] [--only REGEX] [--list] [--out TABLE.md] [--jobs N] [--ranks N[,N]]

A copy of the sources is built in DIR (default: build/mutation; kept, so that a second run is quick). For each mutant of
scripts/mutants.txt one text is replaced, which must stand in its file exactly once, the programs are built, and the end-to-end cases and tests of
the rewriters (test/lit) that are named with it are run; when none of those fails, all cases are. Prints one line per mutant and writes a table with --out.

Exit status: 0 every mutant was noticed, 1 some were not, 2 something could not be done (a text that is not found, a mutant that does not
compile, cases that fail without any mutant).
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGETS = ["hvdize", "hvd-verify", "hvd-run", "hvd_runtime"]


class MutationError(Exception):
    """A mutant or the build cannot be used; the message says which and why."""


@dataclass
class Mutant:
    name: str
    file: str
    old: str
    new: str
    cases: str  # regular expression of the names of end-to-end cases and of tests of the rewriters


def read_mutants(path):
    """Blocks of lines `name:`, `file:`, `cases:`, one or more `old:`, and `new:` (none: the old text is removed), with empty lines between."""
    mutants = []
    for block in re.split(r"\n\s*\n", path.read_text()):
        lines = [line for line in block.splitlines() if line.strip() and not line.startswith("#")]
        if not lines:
            continue
        values = {"old": [], "new": []}
        for line in lines:
            key, colon, value = line.partition(":")
            if not colon or key not in ("name", "file", "cases", "old", "new"):
                raise MutationError("%s: '%s' is not KEY: VALUE with a known key" % (path.name, line))
            value = value[1:] if value.startswith(" ") else value
            if key in ("old", "new"):
                values[key].append(value)
            else:
                values[key] = value.strip()
        missing = [key for key in ("name", "file", "cases") if key not in values]
        if missing or not values["old"]:
            raise MutationError("%s: the block of '%s' lacks %s" % (path.name, values.get("name", lines[0]), ", ".join(missing) or "old"))
        mutants.append(Mutant(values["name"], values["file"], "\n".join(values["old"]), "\n".join(values["new"]), values["cases"]))
    return mutants


class Workshop:
    def __init__(self, folder, jobs, ranks, torch):
        # The build lies where it does in a checkout: a compiler cache then knows the objects of an earlier build of the same sources.
        self.source, self.build = folder / "source", folder / "source" / "build"
        self.jobs, self.ranks = jobs, ranks
        self.torch = torch  # LibTorch is heavy: only when its binding has a mutant
        self.environment = dict(os.environ, HVD_DEADLINE="20", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

    def copy_sources(self):
        """The working tree's tracked files; those that did not change keep their time, so that little is built again."""
        listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], check=True, stdout=subprocess.PIPE, text=True).stdout
        wanted = {name for name in listed.split("\0") if name and (ROOT / name).is_file()}
        for name in wanted:
            to = self.source / name
            if to.exists() and to.read_bytes() == (ROOT / name).read_bytes():
                continue
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, to)
        for path in list(self.source.rglob("*")):
            name = path.relative_to(self.source)
            if path.is_file() and str(name) not in wanted and name.parts[0] != "build" and "__pycache__" not in name.parts:
                path.unlink()

    def command(self, arguments, timeout=3600):
        return subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True,
                              errors="replace", env=self.environment, timeout=timeout)

    def configure(self):
        launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
        done = self.command(["cmake", "-G", "Ninja", "-S", str(self.source), "-B", str(self.build), "-DCMAKE_BUILD_TYPE=Release",
                             "-DHVDIZE_WITH_TORCH=%s" % ("ON" if self.torch else "OFF"), *launcher])
        if done.returncode != 0:
            raise MutationError("configuring failed\n" + done.stdout)

    def make(self):
        done = self.command(["ninja", "-C", str(self.build), "-j%d" % self.jobs, *TARGETS, *(["hvd_torch"] if self.torch else [])])
        return done.returncode == 0, done.stdout

    def failing_rewrites(self, tests):
        """The names of the tests of the rewriters that fail, of those given as paths below test/lit."""
        lit = os.environ.get("HVDIZE_LIT") or str(Path(self.site()["llvmTools"], "..", "build", "utils", "lit", "lit.py"))
        filters = "|".join(re.escape(str(test)) + "$" for test in tests)
        done = self.command([sys.executable, lit, "-q", "--filter", filters, str(self.build / "test" / "lit")])
        failures = re.findall(r"^  hvdize :: (\S+)$", done.stdout, re.M)
        if done.returncode != 0 and not failures:
            raise MutationError("the tests of the rewriters could not be run\n" + done.stdout[-2000:])
        return failures

    def site(self):
        return json.loads((self.build / "test" / "site.json").read_text())

    def failing(self, cases):
        """The checks that fail of the end-to-end cases, or the tests of the rewriters, with such names; at least one must have been made."""
        tests = rewriter_tests(cases) if cases else []
        if tests:
            failures = self.failing_rewrites(tests)
            if failures or not any(re.search(cases, name) for name in case_names()):
                return failures
        return self.failing_cases(cases)

    def failing_cases(self, cases):
        """The end-to-end checks that fail, in order; at least one check must have been made."""
        command = [sys.executable, str(self.source / "test/e2e/run.py"), "--build", str(self.build), "--fail-fast", "--ranks", self.ranks]
        done = self.command([*command, "--filter", cases])
        failures = [line[5:] for line in done.stdout.splitlines() if line.startswith("FAIL ")]
        if not failures and not re.search(r"^[1-9]\d* checks, 0 failures$", done.stdout, re.M):
            raise MutationError("the end-to-end cases '%s' could not be run\n%s" % (cases, done.stdout))
        return failures

    def try_mutant(self, mutant):
        """The check that notices the mutant, or None."""
        path = self.source / mutant.file
        text = path.read_text()
        if text.count(mutant.old) != 1:
            raise MutationError("%s: the text to replace stands %d times in %s" % (mutant.name, text.count(mutant.old), mutant.file))
        path.write_text(text.replace(mutant.old, mutant.new))
        try:
            good, output = self.make()
            if not good:
                raise MutationError("%s does not compile\n%s" % (mutant.name, output[-4000:]))
            failures = self.failing(mutant.cases) or self.failing("")
            return failures[0] if failures else None
        finally:
            path.write_text(text)


def table(results):
    lines = ["| what is broken | where | noticed by |", "|---|---|---|"]
    for mutant, noticed in results:
        lines.append("| %s | `%s` | %s |" % (mutant.name, mutant.file, noticed or "**nothing**"))
    return "\n".join(lines) + "\n"


HEAD = """# Does a test notice when a pass is missing?

Written by `scripts/mutation.py`, which breaks hvdize or its runtime in one place at a time and runs the end-to-end tests (on %s ranks). A row
names the first check that fails. Cases are the programs of `test/e2e/programs` and the examples; paths are those of tests of the rewriters, in `test/lit`.

"""


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", default=str(ROOT / "build" / "mutation"))
    parser.add_argument("--only", default="", help="only mutants whose name matches")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--out", help="write the table to this file")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--ranks", default="3", help="numbers of ranks of each case (3: uneven slices)")
    return parser.parse_args()


def run(arguments):
    mutants = [m for m in read_mutants(ROOT / "scripts" / "mutants.txt") if re.search(arguments.only, m.name)]
    if arguments.list:
        print("\n".join("%-60s %s" % (m.name, m.cases) for m in mutants))
        return 0
    if not mutants:
        raise MutationError("no mutant's name matches '%s'" % arguments.only)
    torch = any(m.file.startswith("runtime/torch/") or needs_torch(m) for m in mutants)
    workshop = Workshop(Path(arguments.work).resolve(), arguments.jobs, arguments.ranks, torch)
    workshop.copy_sources()
    workshop.configure()
    good, output = workshop.make()
    if not good:
        raise MutationError("the sources do not compile\n" + output[-4000:])
    named = "|".join(sorted({m.cases for m in mutants}))
    failures = workshop.failing(named)
    if failures:
        raise MutationError("fails without any mutant: " + "; ".join(failures))
    results = []
    for number, mutant in enumerate(mutants, 1):
        start = time.monotonic()
        noticed = workshop.try_mutant(mutant)
        results.append((mutant, noticed))
        print("%2d/%d %s: %s (%.0f s)" % (number, len(mutants), mutant.name, noticed or "NOTICED BY NOTHING", time.monotonic() - start), flush=True)
        if arguments.out:
            Path(arguments.out).write_text(HEAD % arguments.ranks + table(results))
    survivors = [m.name for m, noticed in results if not noticed]
    print("%d mutants, %d noticed%s" % (len(results), len(results) - len(survivors), "; NOT: " + ", ".join(survivors) if survivors else ""))
    return 1 if survivors else 0


def needs_torch(mutant):
    """Whether its cases are programs of LibTorch, and none of the core's."""
    programs = ROOT / "test" / "e2e" / "programs"
    named = [any(re.search(mutant.cases, path.stem) for path in folder.glob("*.cpp")) for folder in (programs, programs / "torch")]
    tests = rewriter_tests(mutant.cases)
    return not named[0] and (named[1] or any(test.parts[0] == "torch" for test in tests))


def rewriter_tests(cases):
    """The tests of the rewriters with such names, as paths below test/lit."""
    folder = ROOT / "test" / "lit"
    return [path.relative_to(folder) for path in sorted(folder.rglob("*.cpp")) if "Inputs" not in path.parts and re.search(cases, path.stem)]


def case_names():
    """The names of all end-to-end cases."""
    sys.path.insert(0, str(ROOT / "test" / "e2e"))
    from cases import all_cases
    return [case.name for case in all_cases(ROOT / "test" / "e2e")]


def main():
    try:
        return run(parse_arguments())
    except MutationError as error:
        print("mutation: %s" % error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
