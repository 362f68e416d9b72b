#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Removes a test's own directives from what it checks.

hvdize keeps the comments of its input, and with them the CHECK lines of a lit test: a check run on the bare output would find
itself and always pass.

  strip.py FILE                                   prints FILE without directive lines
  strip.py --check FILECHECK TEST FILE [option…]  runs FILECHECK TEST [option…] on that text

Directives are comments that start with RUN:, REQUIRES:, UNSUPPORTED:, XFAIL:, with a prefix given by --check-prefix(es)=, or
with any prefix that contains CHECK.
"""
import re
import subprocess
import sys

SUFFIX = r"(?:-NEXT|-SAME|-NOT|-DAG|-LABEL|-EMPTY|-COUNT-\d+)?(?:\{LITERAL\})?:"


def directive(options):
    prefixes = ["RUN", "REQUIRES", "UNSUPPORTED", "XFAIL", r"[A-Z0-9_-]*CHECK[A-Z0-9_]*"]
    for option in options:
        name, _, value = option.partition("=")
        if name.lstrip("-") in ("check-prefix", "check-prefixes"):
            prefixes += [re.escape(prefix) for prefix in value.split(",")]
    return re.compile(r"\s*(?://|#|/\*)\s*(?:%s)%s" % ("|".join(prefixes), SUFFIX))


def strip(path, options=()):
    pattern = directive(options)
    with open(path, newline="") as file:
        return "".join(line for line in file if not pattern.match(line))


def main(argv):
    if len(argv) >= 5 and argv[1] == "--check":
        filecheck, test, path, options = argv[2], argv[3], argv[4], argv[5:]
        return subprocess.run([filecheck, test, *options], input=strip(path, options), text=True).returncode
    if len(argv) == 2:
        sys.stdout.write(strip(argv[1]))
        return 0
    sys.stderr.write(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv))
