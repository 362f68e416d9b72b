#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every pass is tested in every form, and docs/testing.md lists the passes: matrix.py FOLDER TABLE."""
import re
import sys
from pathlib import Path

FORMS = ["plain", "helper", "member", "template", "second_file", "macro", "comments", "refused"]


def main(folder, table):
    passes = {f.name for f in Path(folder).iterdir() if f.is_dir() and f.name != "Inputs"}
    listed = set(re.findall(r"^\| `(\w+)` \|", Path(table).read_text(), re.MULTILINE))
    wrong = ["%s is not in %s" % (p, table) for p in sorted(passes - listed)] + ["no tests of %s" % p for p in sorted(listed - passes)]
    for p in sorted(passes):
        wrong += ["no %s/%s.cpp" % (p, form) for form in FORMS if not Path(folder, p, form + ".cpp").is_file()]
        # Files that lit would run and nothing names.
        wrong += ["%s/%s is no known form" % (p, f.name) for f in Path(folder, p).iterdir() if f.stem not in FORMS]
        for f in Path(folder, p).glob("*.cpp"):
            text = f.read_text()
            if "RUN: %golden" not in text:
                wrong.append("%s is not judged" % f)
            if f.stem == "refused" and "refused: HVD" not in text:
                wrong.append("%s refuses nothing" % f)
    print("\n".join(wrong) or "%d passes, %d forms each" % (len(passes), len(FORMS)))
    return 1 if wrong or not passes else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
