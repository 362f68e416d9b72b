#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rewrites the programs of a lit test and judges each: golden.py TOOLS.json TEST SCRATCH [hvdize option...]

TEST is one program, or several files in the notation of split-file, of which those that end in .cpp are programs. A program says
what must become of it:

  // CHECK: ...            (and its kind) the rewritten program, checked by FileCheck without the directives. Besides, the output
                           compiles, holds every comment and every other character of the input in their order, and hvdize
                           changes nothing in it. In a header beside the program: the same of the header's new form
  // refused: HVD3010      at the end of a line: refused there, with this ID (several are separated by blanks; "file refused:" for the file as a whole). The refusals are
                           these and no others, and no output is written. A marker in a header counts for programs that include it
  // says: HVD2004         at the end of a line: a note or warning with this ID about this line
  // HVDIZE: --sync-bn     options for this program
"""
import json
import os
import re
import subprocess
import sys
from pathlib import Path

from strip import strip

MARKER = re.compile(r"//.*?\b(file )?(refused|says): ((?:HVD\d{4} ?)+)")
COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|(//[^\n]*|/\*.*?\*/)', re.DOTALL)


class Failure(Exception):
    pass


def run(command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def must(command, what):
    done = run(command)
    if done.returncode != 0:
        raise Failure("%s (status %d): %s\n%s" % (what, done.returncode, " ".join(command), done.stdout))


def markers(file, word):
    """The (file, line, ID) that a program and the headers beside it announce."""
    found = set()
    for each in [file, *included(file)]:
        for number, line in enumerate(each.read_text().splitlines(), 1):
            match = MARKER.search(line)
            if match and match.group(2) == word:
                found |= {(each.name, 0 if match.group(1) else number, diagnostic) for diagnostic in match.group(3).split()}
    return found


def included(file):
    """The headers beside a program that it includes, directly or not."""
    found = {}
    for line in file.read_text().splitlines():
        include = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        header = include and file.parent / include.group(1)
        if header and header.is_file():
            found.update(dict.fromkeys([header, *included(header)]))
    return list(found)


def said(report):
    found = [(d.get("place", {}), d["id"]) for f in report["files"] for d in f["diagnostics"]]
    return {(Path(place.get("file", "")).name, place.get("line", 0), diagnostic) for place, diagnostic in found}


HOISTED = re.compile(r"^[ \t]*const auto (hvd_\w+) = (hvd::\w+\(.*?\)|(?:(?!hvd::|;).)*);\n", re.DOTALL | re.MULTILINE)


def put_back(text):
    """The rewritten text with the variables that hvdize made replaced by what they hold."""
    done = ""
    while match := HOISTED.search(text):
        name, value = match.groups()
        done, rest = done + text[:match.start()], text[match.end():]
        following = next((m for m in HOISTED.finditer(rest) if m.group(1) == name), None)
        end = following.start() if following else len(rest)
        text = re.sub(r"\b%s\b" % name, lambda _: value, rest[:end]) + rest[end:]
    return done + text


def one_spelling(text):
    """slice(0, at, at + n) may stand for narrow(0, at, n), and whole_batches(rows, n) for rows / n."""
    text = re.sub(r"\bslice\(0, ([^,()]+), \1 \+ ", r"narrow(0, \1, ", text)
    return re.sub(r"\bhvd::whole_batches\(((?:[^(),]|\([^()]*\))+), ", r"(\1 / ", text)


def keeps_all(before, after):
    """Every comment, and every character but white space in its order: a rewrite adds and takes nothing away."""
    after = put_back(after)
    before, after = one_spelling(before), one_spelling(after)
    for match in COMMENT.finditer(before):
        if match.group(1) and after.count(match.group(1)) < before.count(match.group(1)):
            raise Failure("comment lost: " + match.group(1))
    rest = iter("".join(after.split()))
    for at, wanted in enumerate("".join(before.split())):
        if not any(wanted == have for have in rest):
            raise Failure("text lost: ..." + "".join(before.split())[max(0, at - 40): at + 10])


class Judge:
    def __init__(self, tools, options):
        self.tools, self.options = tools, options

    def hvdize(self, source, out, report, options, near=()):
        return run([self.tools["hvdize"], str(source), "-o", str(out), "--report=" + str(report), *options, "--", *near, *self.tools["flags"]])

    def judge(self, program):
        own = [o for line in re.findall(r"^// HVDIZE: (.*)$", program.read_text(), re.MULTILINE) for o in line.split()]
        out, report = program.parent / (program.stem + ".out") / program.name, program.with_suffix(".json")
        out.parent.mkdir()
        done = self.hvdize(program, out, report, self.options + own)
        if done.returncode not in (0, 1):
            raise Failure("hvdize ended with status %d:\n%s" % (done.returncode, done.stdout))
        reported = said(json.loads(report.read_text()))
        refused, wanted = {d for d in reported if d[2].startswith("HVD3")}, markers(program, "refused")
        if refused != wanted:
            raise Failure("refused: %s\nnot: %s\n%s" % (sorted(refused), sorted(wanted), done.stdout))
        if markers(program, "says") - reported:
            raise Failure("not said: %s\n%s" % (sorted(markers(program, "says") - reported), done.stdout))
        if wanted:
            if done.returncode != 1 or out.exists():
                raise Failure("refused with status %d, output %s" % (done.returncode, "written" if out.exists() else "not written"))
        else:
            self.golden(program, out)

    def golden(self, program, out):
        near = ["-iquote", str(program.parent)]
        must([self.tools["compiler"], "-fsyntax-only", "-Wall", "-Wextra", "-Werror", *near, *self.tools["flags"], str(out)], "the output does not compile")
        again = out.parent / "again.cpp"
        done = self.hvdize(out, again, out.with_suffix(".json"), [], near)
        if done.returncode != 0 or again.read_bytes() != out.read_bytes():
            raise Failure("hvdize changes its own output:\n" + done.stdout)
        files = [program, *included(program)]
        if not any("// CHECK" in f.read_text() for f in files):
            raise Failure("it says nothing about its output")
        for file in files:
            if file is program or (out.parent / file.name).exists() or "// CHECK" in file.read_text():
                self.compare(file, out.parent / file.name)

    def compare(self, before, after):
        if not after.exists():
            raise Failure("%s was not rewritten" % before.name)
        keeps_all(before.read_text(), after.read_text())
        if "// CHECK" not in before.read_text():
            return
        checked = subprocess.run([self.tools["filecheck"], str(before), "--dump-input-context=40"], input=strip(after), stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True)
        if checked.returncode != 0:
            raise Failure(checked.stdout + "\n--- output ---\n" + strip(after))


def programs(tools, test, scratch):
    subprocess.run(["rm", "-rf", str(scratch)], check=True)
    if re.search(r"^//--- ", test.read_text(), re.MULTILINE):
        must([tools["split"], "--leading-lines", str(test), str(scratch)], "split-file")
    else:
        scratch.mkdir(parents=True)
        (scratch / test.name).write_bytes(test.read_bytes())
    return sorted(scratch.glob("*.cpp"))


def main(argv):
    tools, test, scratch, options = json.loads(Path(argv[1]).read_text()), Path(argv[2]), Path(argv[3]), argv[4:]
    failed = False
    found = programs(tools, test, scratch)
    for program in found:
        try:
            Judge(tools, options).judge(program)
        except Failure as failure:
            print("%s: %s: %s" % (test, program.name, failure))
            failed = True
    return 1 if failed or not found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
