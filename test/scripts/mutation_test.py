#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every mutant of scripts/mutants.txt can be tried: its text stands once in its file, and its cases name a test. Prints "ok" or "FAIL" for
each mutant; status 1 after a failure."""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
import mutation  # noqa: E402


def faults(mutant, names):
    path = ROOT / mutant.file
    times = path.read_text().count(mutant.old) if path.exists() else 0
    if times != 1:
        yield "its text stands %d times in %s" % (times, mutant.file)
    if mutant.old == mutant.new:
        yield "it changes nothing"
    if not any(re.search(mutant.cases, name) for name in names) and not mutation.rewriter_tests(mutant.cases):
        yield "no test has a name like '%s'" % mutant.cases


def main():
    names = mutation.case_names()
    mutants = mutation.read_mutants(ROOT / "scripts" / "mutants.txt")
    failed = len(mutants) == 0
    for mutant in mutants:
        found = list(faults(mutant, names))
        failed = failed or bool(found)
        print("%s %s%s" % ("FAIL" if found else "ok", mutant.name, ": " + "; ".join(found) if found else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
