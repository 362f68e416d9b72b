#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every form of program that docs/torch-forms.md names has a test, and every test that names a form is in the table.

A test names its forms in lines `// form: TEXT`. An accepted form must be run on 1, 2 and 3 ranks and compared, in both batch modes unless
the table says "global-batch mode"; a refused one must be refused with the ID in the table. Prints "ok" or "FAIL" for each row; status 1 after a failure.
"""
import re
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "e2e"))
from cases import cases_of  # noqa: E402

ROW = re.compile(r"^\| (?!form |---)(.+?) \| (.+?) \| \[?`?test/([^`\]|]+?)`?\]?(?:\(.*\))? \|$")


def table(text):
    return [match.groups() for match in map(ROW.match, text.splitlines()) if match]


def sections(text):
    """The programs of a file in the notation of split-file; the file itself when it is none."""
    return re.split(r"^//--- .*$", text, flags=re.MULTILINE)


def forms_in(text):
    return re.findall(r"^// form: (.+)$", text, re.MULTILINE)


def judge(form, outcome, path):
    """What is wrong with the test of this form, or nothing."""
    file = TESTS / path
    if not file.is_file():
        return "test/%s does not exist" % path
    parts = [s for s in sections(file.read_text()) if form in forms_in(s)]
    if len(parts) != 1:
        return "test/%s names it in %d programs" % (path, len(parts))
    refused = re.fullmatch(r"refused: (HVD3\d{3})", outcome)
    if path.startswith("lit/"):
        return None if refused and "// refused: " + refused.group(1) in parts[0] else "no line of it is marked '%s'" % outcome
    cases = cases_of(file)
    if refused:
        return None if any(c.refusal() == refused.group(1) for c in cases) else "no case expects it to be %s" % outcome
    compared = [c for c in cases if not c.refusal() and not c.expects_difference()]
    ranks = {n for c in compared for n in c.ranks()}
    modes = {m for c in compared for m in c.modes()}
    if not {1, 2, 3} <= ranks:
        return "compared on %s ranks only" % sorted(ranks)
    wanted = {"global"} if "global-batch mode" in outcome else {"global", "per-rank"}
    return None if wanted <= modes else "compared in %s mode only" % ", ".join(sorted(modes))


def main():
    rows = table((TESTS.parent / "docs" / "torch-forms.md").read_text())
    failures = 0

    def report(what, wrong):
        nonlocal failures
        failures += bool(wrong)
        print(("FAIL " if wrong else "ok   ") + what + (": " + wrong if wrong else ""))

    for form, outcome, path in rows:
        report(form, judge(form, outcome, path))
    listed = {(form, path) for form, _, path in rows}
    report("the table has rows", "" if len(rows) >= 60 else "%d rows" % len(rows))
    repeated = sorted({row[0] for row in rows if rows.count(row) > 1})
    report("every row stands once", "; ".join(repeated))
    for file in sorted((TESTS / "e2e").rglob("*.cpp")) + sorted((TESTS / "lit").rglob("*.cpp")):
        for form in forms_in(file.read_text()):
            if (form, str(file.relative_to(TESTS))) not in listed:
                report(form, "named in %s, and missing from docs/torch-forms.md" % file.relative_to(TESTS))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
