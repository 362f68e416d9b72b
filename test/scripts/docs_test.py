#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The documentation and the programs say the same: every link in README.md and docs/ leads somewhere, every option that they mention exists,
every option and every environment variable that a program understands is documented.      usage: docs_test.py

Prints "ok" or "FAIL" for each check; status 1 after a failure.
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

# Where each program reads its options.
SOURCES = {"hvdize": ["tool/arguments.cpp"], "hvdize-c++": ["tool/wrapper/command.cpp", "tool/wrapper/main.cpp"], "hvd-verify": ["tool/compare/options.cpp"],
           "hvd-run": ["tool/run/options.cpp"], "hvd-trace": ["tool/trace/main.cpp"], "hvd-tune": ["tool/tune/main.cpp"]}
# For measurements and tests of hvdize itself.
INTERNAL = {"--no-verify", "--full-parse"}
# Options of other programs that the pages mention.
FOREIGN = {
    "cmake": "--build --install --prefix --preset", "pkg-config": "--cflags --libs", "mpirun": "--oversubscribe --mca --bind-to --hostfile --host --map-by", "srun, sbatch": "--mpi --ntasks --nodes --ntasks-per-node --cpus-per-task --gpus-per-task --gpus-per-node",
    "ctest, git, g++ and others": "--version --help", "options of compilers that hvdize-c++ passes on": "--coverage",
}


class Report:
    def __init__(self):
        self.failed = 0

    def check(self, what, problems):
        print("%-4s %s" % ("FAIL" if problems else "ok", what))
        for problem in problems:
            print("    " + problem)
        self.failed += bool(problems)


def blocks(text):
    """The page without its code blocks, and the code blocks as (language, text)."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S)
    return re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S), found


def anchors(text):
    """What GitHub makes of the headings."""
    titles = re.findall(r"^#+ (.+?)\s*$", blocks(text)[0], re.M)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", t) for t in titles]
    return {re.sub(r"[^\w\- ]", "", t.lower()).replace(" ", "-") for t in plain}


def broken_links(page):
    problems = []
    prose = re.sub(r"`[^`\n]*`", "", blocks(page.read_text())[0])
    for target in re.findall(r"\]\(([^)\s]+)\)", prose):
        if re.match(r"https?:|mailto:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists():
            problems.append("%s: there is no '%s'" % (page.relative_to(ROOT), target))
        elif anchor and anchor not in anchors(file.read_text()):
            problems.append("%s: '%s' has no heading '#%s'" % (page.relative_to(ROOT), path or page.name, anchor))
    return problems


def options_of(program):
    words = set()
    for source in SOURCES[program]:
        words |= set(re.findall(r'"(--?[a-z][a-z-]*)"', (ROOT / source).read_text()))
    return words


def own_options():
    own = set().union(*(options_of(p) for p in SOURCES if p != "hvdize-c++"))
    wrapper = {w for w in options_of("hvdize-c++") if w.startswith("--hvdize-")}
    return own | wrapper | {"--hvdize-" + w[2:] for w in options_of("hvdize") if w.startswith("--")} | {"--hvdize-OPTION"}


def examples_options():
    """Options of programs: the examples', and what the tests' programs take."""
    text = "".join(p.read_text() for p in [*(ROOT / "examples").rglob("*.[ch]*"), *(ROOT / "scripts").glob("*.*"), *(ROOT / "bench").rglob("*.*"), *(ROOT / "test" / "dist").glob("*.py")] if p.is_file())
    return set(re.findall(r"--[a-z][a-z-]*", text)) | {"--" + w for w in re.findall(r'"([a-z][a-z-]+)"', text)}


def mentioned(text):
    """Options in code, with where they stand."""
    code = "\n".join([*re.findall(r"`([^`\n]+)`", blocks(text)[0]), *(b for _, b in blocks(text)[1])])
    return set(re.findall(r"(?<![\w-])--[a-z][\w-]*", code))


def check_options(report):
    known = own_options() | {w for words in FOREIGN.values() for w in words.split()} | examples_options()
    report.check("every option that the pages mention exists",
                 ["%s: %s" % (page.relative_to(ROOT), w) for page in PAGES for w in sorted(mentioned(page.read_text()) - known)])
    pages = "\n".join(p.read_text() for p in PAGES)
    for program in SOURCES:
        words = {w for w in options_of(program) if w.startswith("--hvdize-" if program == "hvdize-c++" else "--")}
        missing = [w for w in sorted(words - INTERNAL - {"--help", "--version", "--hvdize-"}) if not re.search(re.escape(w) + r"(?![\w-])", pages)]
        report.check("every option of %s is documented (%d)" % (program, len(words)), missing or ([] if words else ["no options found in its sources"]))


def check_variables(report):
    sources = [p for folder in ("runtime/src", "runtime/torch", "runtime/include", "tool", "rewriters") for p in (ROOT / folder).rglob("*.*") if p.suffix in (".cpp", ".hpp", ".h", ".cu")]
    read, between = set(), {"HVD_RUN_FILE", "HVD_RUN_OWNER", "HVD_RUN_RANK", "HVD_RUN_SIZE"}  # hvd-run tells its ranks
    for source in sources:
        read |= set(re.findall(r'"(HVD(?:IZE)?_[A-Z_]+)"', source.read_text()))
    text = "\n".join(p.read_text() for p in PAGES)
    report.check("every environment variable that the programs read is documented (%d)" % len(read),
                 [v for v in sorted(read - between) if not re.search(v + r"(?![A-Z_])", text)] or ([] if read else ["none found"]))


def main():
    report = Report()
    problems = [p for page in PAGES for p in broken_links(page)]
    report.check("every link in %d pages leads somewhere" % len(PAGES), problems)
    check_options(report)
    check_variables(report)
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
