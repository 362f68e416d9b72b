# SPDX-License-Identifier: Apache-2.0
"""What an end-to-end test consists of, as read from the head of a program.

A program of test/e2e/programs has one line `// e2e: KEY=VALUE; KEY=VALUE; ...` for each case; for programs that should not
carry such lines (the examples) they stand in test/e2e/others.txt behind the path. Keys:

  name=TEXT         of the case (default: the program's, numbered when there are several)
  args=...          arguments of both programs
  scaled=...        more arguments, with {expressions in N}: the sequential oracle of per-rank mode is run with N = number of ranks,
                    everything else with N = 1; for example  scaled=--batch {16*N} --lr {0.05*N}
  edit=OLD => NEW   the oracle of per-rank mode is the source with OLD (found exactly once) replaced by NEW, which may hold {expressions
                    in N}; for programs whose batch size and rate are written in the source. May be given several times
  modes=...         global, per-rank (default: both)
  ranks=1,2,3,4     (default)
  shortcuts=bodies  the rewriting is compared to one for which all bodies of LibTorch's functions were read (12 s)
  shortcuts=all     ... and to one with headers as text
  also=FILE ...     further sources of the program, from the folder of this one: rewritten and linked together with it
  hvdize=...        options of hvdize
  env=NAME=VALUE    for the distributed program; may be given several times
  cxx=...           flags of both compilations, for example -DBATCH_NORM
  tolerance=T, exclude=REGEX, ignore=REGEX, timeout=S     as in hvd-verify
  expect=refused:ID     hvdize must refuse with this ID, with status 1, and write nothing; nothing is run
  gpus=N                LibTorch programs: this host has N GPUs (emulated ones: test/emulated_gpu/torch)
  sample=all            all of it is run where other cases are run on fewer numbers of ranks and in one mode (run.py --sample)
  expect=different      the comparison must find a difference on more than one rank (a test of the test)
  expect=ends, says=REGEX   on more than one rank the program must end with an error whose message fits
  warns=ID[,ID]         hvdize must print these IDs
"""
import math
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path

SINGLE = {"name", "also", "args", "scaled", "modes", "ranks", "hvdize", "cxx", "tolerance", "exclude", "ignore", "timeout", "expect", "says", "warns", "shortcuts", "sample", "gpus"}
REPEATED = {"edit", "env"}


class CaseError(Exception):
    """A case that cannot be understood; names the file and what is wrong."""


@dataclass
class Case:
    source: Path
    name: str
    values: dict = field(default_factory=dict)
    sample: int = None  # 0 to 3: which part of the work is done; None: all of it

    def words(self, key):
        return shlex.split(self.values.get(key, ""))

    def modes(self):
        return [m.strip() for m in self.values.get("modes", "global,per-rank").split(",")]

    def ranks(self):
        return [int(n) for n in self.values.get("ranks", "1,2,3,4").split(",")]

    def chosen(self, mode):
        """The numbers of ranks that are run in a mode: all, or of a sample, in one of the modes, one and two or only three."""
        ranks = self.ranks()
        several = [n for n in ranks if n > 1]
        if self.sample is None or self.values.get("sample") == "all" or len(several) < 2:
            return ranks
        modes = self.modes()
        if mode != modes[self.sample % len(modes)]:
            return []
        return [n for n in ranks if n == 1] + several[:1] if self.sample // 2 == 0 else several[1:2]

    def refusal(self):
        kind, _, identifier = self.values.get("expect", "").partition(":")
        return identifier if kind == "refused" else None

    def expects_difference(self):
        return self.values.get("expect") == "different"

    def ends(self):
        """What the error says with which several ranks end; None for programs that do not end so."""
        return self.values.get("says") if self.values.get("expect") == "ends" else None

    def further(self):
        """The other sources of the program."""
        return [self.source.parent / name for name in self.words("also")]

    def scaled_arguments(self, ranks):
        return shlex.split(evaluate(self.values.get("scaled", ""), ranks))

    def scaled_source(self, text, ranks):
        """The text of the oracle for so many ranks."""
        text = without_cases(text)
        for old, new in self.edits(text):
            text = text.replace(old, evaluate(new, ranks))
        return text

    def edits(self, text):
        """Pairs of texts: what stands in the source, and what takes its place."""
        for edit in self.values.get("edit", []):
            old, arrow, new = edit.partition("=>")
            old, new = old.strip(), new.strip()
            if not arrow or text.count(old) != 1:
                raise CaseError("%s: edit '%s': the old text must stand in the source exactly once" % (self.name, edit))
            yield old, new

    def general_source(self, text):
        """The text of an oracle that takes the number of ranks from the environment variable ORACLE_RANKS, which saves compilations. It may not
        compile, where a number must be known to the compiler; None where an expression is no C++."""
        text = without_cases(text)
        for old, new in self.edits(text):
            if any("/" in expression for expression in EXPRESSION.findall(new)):
                return None
            line = next(line for line in text.splitlines() if old in line)
            read = EXPRESSION.sub(lambda match: "(%s)" % re.sub(r"\bN\b", "oracle_ranks()", match.group(1).replace("sqrt", "std::sqrt")), new)
            text = text.replace(line, line.replace("constexpr ", "const ").replace(old, read))
        return "#include <cmath>\n#include <cstdlib>\nstatic int oracle_ranks() { return std::atoi(std::getenv(\"ORACLE_RANKS\")); }\n" + text


EXPRESSION = re.compile(r"\{([^{}]*\bN\b[^{}]*)\}")


def without_cases(text):
    """Without the lines that describe the cases: they quote what is to be replaced."""
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("// e2e:"))


def evaluate(text, ranks):
    """Replaces each {expression in N} by its value, printed so that reading it gives the same number."""
    def value(match):
        result = eval(match.group(1), {"__builtins__": {}}, {"N": ranks, "sqrt": math.sqrt})  # the author's own test file
        return repr(result)
    return EXPRESSION.sub(value, text)


def parse_line(source, text, where):
    values = {}
    for item in filter(None, (part.strip() for part in re.split(r";\s*(?=[a-z]+=)|;\s*$", text))):
        key, equals, value = item.partition("=")
        if not equals or key not in SINGLE | REPEATED:
            raise CaseError("%s: '%s' is not KEY=VALUE with a known key" % (where, item))
        if key in REPEATED:
            values.setdefault(key, []).append(value.strip())
        elif key in values:
            raise CaseError("%s: '%s' is given twice" % (where, key))
        else:
            values[key] = value.strip()
    case = Case(source, values.get("name", source.stem), values)
    bad = [m for m in case.modes() if m not in ("global", "per-rank")]
    if values.get("shortcuts", "all") not in ("all", "bodies"):
        raise CaseError("%s: shortcuts=%s is neither all nor bodies" % (where, values["shortcuts"]))
    if bad:
        raise CaseError("%s: mode '%s' is neither global nor per-rank" % (where, bad[0]))
    if values.get("sample", "all") != "all":
        raise CaseError("%s: sample=%s is not all" % (where, values["sample"]))
    expect = values.get("expect", "different")
    if expect not in ("different", "ends") and not re.fullmatch(r"refused:HVD\d{4}", expect):
        raise CaseError("%s: expect=%s is neither refused:HVDnnnn nor different nor ends" % (where, expect))
    if (expect == "ends") != ("says" in values):
        raise CaseError("%s: expect=ends and says=REGEX go together" % where)
    return case


def cases_of(source):
    lines = [line for line in source.read_text().splitlines() if line.startswith("// e2e:")]
    if not lines:
        raise CaseError("%s: no line starts with '// e2e:'" % source)
    return [parse_line(source, line[len("// e2e:"):], str(source)) for line in lines]


def all_cases(folder):
    """The cases of folder/programs/*.cpp and of folder/others.txt, with distinct names."""
    found = []
    others = Path(folder, "others.txt")
    for number, line in enumerate(others.read_text().splitlines() if others.exists() else [], 1):
        if line.strip() and not line.startswith("#"):
            path, _, text = line.partition(":")
            found.append(parse_line(Path(folder, path.strip()).resolve(), text, "%s:%d" % (others, number)))
    sources = sorted(Path(folder, "programs").rglob("*.cpp"))
    # A source that is part of another program describes no case of its own.
    heads = [source for source in sources if any(line.startswith("// e2e:") for line in source.read_text().splitlines())]
    found += [case for source in heads for case in cases_of(source)]
    parts = {part for case in found for part in case.further()}
    for source in sources:
        if source not in heads and source not in parts:
            raise CaseError("%s: no line starts with '// e2e:', and no case names it as a further source" % source)
    seen = {}
    for case in found:
        seen[case.name] = seen.get(case.name, 0) + 1
        if seen[case.name] > 1:
            case.name += "-%d" % seen[case.name]
    return found
