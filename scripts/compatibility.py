#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tries hvdize on programs that others wrote and writes a table of what happened.

usage: compatibility.py --build BUILD LIST.json --results FILE.json --table FILE.md [--only REGEX] [--ranks 1,2,3,4]
                         [--per-rank-ranks 2,3] [--time-limit S]

Each program of the list is rewritten; what was accepted is compiled, and where the list says how to run it, the sequential and the
distributed program are compared by hvd-verify in both batch modes. --results is written after each program, and programs that have a
result there already are not tried again unless --only names them. Exit status 1 when a program crashed hvdize, did not end in time, was
written as something that does not compile, or differs from its oracle; 2 when the list cannot be read.

LIST.json: an array of objects. All paths are the user's own; nothing is downloaded.
  repository    "owner/name", for the table                                                         required
  path          path in the repository, for the table                                               required
  file          local path of the source that trains                                                required
  sources       further sources of the program, rewritten together with `file`: "hvdize FILE SOURCE... --out-root DIR" in `folder`. Paths
                relative to it; `file` is one, too, when `folder` is given
  folder        local path of the folder that holds the program; it is copied, and everything is done in the copy. Needed with `sources`
  together      true: the sources are compiled as one translation unit (each that includes the framework's headers takes a minute)
  flags         compiler flags, such as ["-I", "/path/include"]; {folder} stands for the copy of `folder`
  also          local paths of further sources of the program: compiled as they are and linked
  link          linker arguments, such as ["-lz"]
  framework     "torch" (default) or "core"
  patch         sed -E scripts, applied to a copy of `file` before anything else (fewer epochs, float64, a seed, printed parameters); with
                `folder` it may be an object: scripts for each of several files of the folder
  options       options of hvdize, such as ["--assume=HVD2001"]
  run           arguments to run it with; without this entry it is only compiled
  not_run       why it is not run
  copy          files and folders that the run finds in its folder
  verify        options of hvd-verify, such as ["--tolerance", "1e-8"]
  per_rank      sed -E scripts that make the sequential program train on N times the batch with the scaled learning rate; {N*64} stands for
                64 times the number of ranks, {sqrtN*64} for 64 times its square root. An object as for `patch` is possible
  per_rank_run  likewise arguments of that sequential program, for programs that are told their batch size when they are run. Without
                `per_rank` or `per_rank_run` per-rank mode is not compared
  note          what `patch` changes, and what else the reader of the table should know
  verdict       of a refusal: "right: why", or "a limit: which"
"""
import argparse
import json
import math
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "test" / "e2e"))
from build import Builder, BuildError  # noqa: E402

KNOWN = {"repository", "path", "file", "sources", "folder", "together", "flags", "also", "link", "framework", "patch", "options", "run", "not_run", "copy", "verify",
         "per_rank", "per_rank_run", "note", "verdict"}
KINDS = ("compared", "compiled", "refused", "nothing to do", "does not build", "broken")
HEADINGS = {
    "compared": "accepted and compared", "compiled": "accepted and compiled only", "refused": "refused",
    "nothing to do": "nothing to do: written unchanged", "does not build": "does not build against this LibTorch, or its libraries are missing",
    "broken": "**broken**: crash, no end, output that does not compile, or a difference"}


class ListError(Exception):
    """The list of programs is not of its form; the message is for the reader."""


class ProgramBuilder(Builder):
    """Builds one entry of the list; its framework is told, not guessed, and its further sources are linked."""

    def __init__(self, build, entry):
        super().__init__(build)
        self.torch = entry.get("framework", "torch") == "torch"
        self.together = entry.get("together", False)
        self.further = []  # objects and linker arguments

    def is_torch(self, source):
        return self.torch

    def libraries(self, source):
        return self.further + super().libraries(source)

    def add_sources(self, entry, folder):
        for source in map(Path, entry.get("also", [])):
            self.further.append(self.object(source, entry.get("flags", []), folder.parent / "objects"))
        self.further += entry.get("link", [])

    def object(self, source, flags, folder):
        """Compiles one source; the object lies in `folder`, named by what it is made from."""
        command = [self.compiler(source), *self.general_flags(), *self.parse_flags(source, flags)]
        folder.mkdir(parents=True, exist_ok=True)
        first = self.precompiled(source) if self.torch else []
        read = subprocess.run([*command, "-E", "-P", str(source)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if read.returncode != 0:
            raise BuildError(read.stderr.decode(errors="replace"))
        made = folder / ("%s-%s.o" % (source.stem, self.digest(command[0], self.site["compilerVersion"], *self.general_flags(), read.stdout)))
        if not made.exists():
            part = made.with_suffix(".part")
            self.checked([*command[:1], *first, *command[1:], "-c", str(source), "-o", str(part)])
            part.rename(made)
        return str(made)

    def program(self, files, root, originals, flags, folder):
        """Compiles and links `files`, below `root`; what stayed where it was is found below `originals`. The path of the executable.

        Quote includes are looked for as hvdize_target does: beside the file, beside the originals, from the originals' folder."""
        beside = dict.fromkeys(str(originals / file.relative_to(root).parent) for file in files)
        quoted = [part for place in [*beside, str(originals)] for part in ("-iquote", place)]
        if self.together:
            whole = folder / ("together_" + files[0].name)
            whole.write_text("".join('#include "%s"\n' % file for file in files))
            files = [whole]
        objects = [self.object(file, [*quoted, *flags], folder.parent / "objects") for file in files]
        parts = [*objects, *self.libraries(files[0])]
        made = folder / "programs" / self.digest(*parts)
        if not made.exists():
            made.parent.mkdir(exist_ok=True)
            self.checked([self.site["compiler"], *self.site["flags"].split(), *parts, "-o", str(made), "-pthread"])
        return made


def read_list(path):
    entries = json.loads(Path(path).read_text())
    if not isinstance(entries, list):
        raise ListError("%s: an array of programs is expected" % path)
    for number, entry in enumerate(entries):
        where = "%s: program %d" % (path, number + 1)
        for key in ("repository", "path", "file"):
            if not isinstance(entry.get(key), str):
                raise ListError("%s: '%s' is missing" % (where, key))
        unknown = sorted(set(entry) - KNOWN)
        if unknown:
            raise ListError("%s: unknown entry '%s'" % (where, unknown[0]))
        if "folder" not in entry and ("sources" in entry or isinstance(entry.get("patch"), dict)):
            raise ListError("%s: several files need a 'folder'" % where)
        for file in [entry["file"], *entry.get("sources", [])]:
            if not Path(entry.get("folder", ""), file).is_file():
                raise ListError("%s: there is no file '%s'" % (where, file))
    return entries


def scripts_for(entry, key, ranks):
    """The sed scripts under `key` for each file they change, with {N*64} and {sqrtN*64} replaced by the product."""
    found = entry.get(key, [])
    by_file = found if isinstance(found, dict) else {entry["file"]: found}
    return {file: [for_ranks(s, ranks) for s in scripts] for file, scripts in by_file.items()}


def for_ranks(text, ranks):
    """`text` with {N*64} and {sqrtN*64} replaced by the product."""
    factors = {"N": ranks, "sqrtN": math.sqrt(ranks)}
    return re.sub(r"\{(N|sqrtN)\*([0-9.eE+-]+)\}", lambda m: repr(factors[m.group(1)] * float(m.group(2))).removesuffix(".0"), text)


def patched(text, scripts):
    """`text` after the sed scripts. A script that changes nothing is an error: the run would not be what the list says."""
    for script in scripts:
        done = subprocess.run(["sed", "-E", script], input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="surrogateescape")
        if done.returncode != 0:
            raise ListError("sed -E '%s': %s" % (script, done.stderr.strip()))
        if done.stdout == text:
            raise ListError("sed -E '%s' changes nothing" % script)
        text = done.stdout
    return text


def first_error(messages):
    found = re.search(r"^.*?((?:fatal )?error: .*)$", messages, re.M)
    return found.group(1)[:160] if found else (messages.strip().splitlines() or ["no message"])[-1][:160]


def judge_rewrite(status, messages, original, written):
    """(kind, detail) of what hvdize returned; kind "accepted" when there is something to compile.

    original, written: the texts of the sources, and of what was written for them (None: nothing)."""
    if status == "timeout":
        return "broken", "no end within the time limit"
    if status == 1:
        ids = list(dict.fromkeys(re.findall(r"^[^\n]*:\d+:\d+: error: .*\[(HVD\d+)\]", messages, re.M)))
        if written is not None:
            return "broken", "refused, and yet a file was written"
        if "HVD3005" in ids:  # RewriteDoesNotCompile: hvdize noticed, but it is its own fault
            return "broken", "the output does not compile: " + first_error(messages)
        return ("refused", " ".join(ids)) if ids else ("broken", "refused without an ID")
    if status == 3:
        return "does not build", first_error(messages)
    if status != 0 or written is None:
        return "broken", "hvdize ended with status %s: %s" % (status, first_error(messages))
    return ("nothing to do", "") if written == original else ("accepted", "")


def ended_with(messages):
    """The ID of a message with which a distributed program ends its job by itself, empty when there is none."""
    found = re.search(r"\b(HVD4\d{3}): ", messages)
    return found.group(1) if found else ""


def worst(rows):
    """(largest difference, where, verdicts) over rows of hvd-verify: label, ranks, output, files, difference, tensor, verdict."""
    largest, where = 0.0, "-"
    for row in rows:
        try:
            value = float(row[4])
        except ValueError:
            continue
        if value > largest or value != value:
            largest, where = value, "%s ranks, %s" % (row[1], row[5])
    return largest, where, [row[6] for row in rows]


def folder_copy(entry, place):
    """The program's folder, copied anew to `place`, or for a program of one file that file; the path of the program's first source."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    if "folder" in entry:
        shutil.copytree(entry["folder"], place, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".git"))
        return place / entry["file"]
    return Path(shutil.copyfile(entry["file"], place / Path(entry["file"]).name))


def patch_files(scripts, entry, place):
    """Applies the scripts of `scripts_for` to the copy at `place`."""
    for name, own in scripts.items():
        file = place / (name if "folder" in entry else Path(name).name)
        if own:
            text = file.read_text(errors="surrogateescape")
            file.write_text(patched(text, own), errors="surrogateescape")


class Trial:
    def __init__(self, build, entry, work, ranks, limit, per_rank_ranks=None):
        self.entry, self.work, self.ranks, self.limit = entry, Path(work).resolve(), ranks, limit
        self.per_rank_ranks = per_rank_ranks or ranks
        self.ended = ""  # the ID with which the distributed program refused to go on
        self.builder = ProgramBuilder(build, entry)
        self.origin = Path(entry.get("folder", ""), entry["file"]).resolve()
        self.place = self.work / "program"
        self.source = self.prepared(1)
        self.files = [self.source, *[self.place / s for s in entry.get("sources", [])]]

    def prepared(self, ranks):
        """The copy of the program, patched: the sequential program, or on more ranks than one the oracle of per-rank mode."""
        source = folder_copy(self.entry, self.place)
        patch_files(scripts_for(self.entry, "patch", 1), self.entry, self.place)
        if ranks > 1:
            patch_files(scripts_for(self.entry, "per_rank", ranks), self.entry, self.place)
        return source

    def flags(self):
        # A program without a folder is a copy of one file: its neighbours are beside the original.
        near = [] if "folder" in self.entry else ["-iquote", str(self.origin.parent)]
        return near + [f.replace("{folder}", str(self.place)) for f in self.entry.get("flags", [])]

    def rewrite(self):
        self.folder = self.work / "distributed"
        shutil.rmtree(self.folder, ignore_errors=True)  # headers of the program that were edited lie there too
        self.folder.mkdir()
        names = [str(f.relative_to(self.place)) for f in self.files]
        output = self.folder / names[0]
        where = ["--out-root", str(self.folder)] if "folder" in self.entry else ["-o", str(output)]
        command = [self.builder.hvdize, *names, *where, *self.entry.get("options", []), "--",
                   *self.builder.parse_flags(self.source, self.flags())]
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True,
                                  errors="replace", timeout=self.limit, cwd=self.place)
            status, messages = done.returncode, done.stdout
        except subprocess.TimeoutExpired:
            status, messages = "timeout", ""
        written = [self.folder / n for n in names if (self.folder / n).exists()]
        if not written and any(f.is_file() for f in self.folder.rglob("*")):
            return "broken", "headers were written without the program"
        return judge_rewrite(status, messages, self.contents(self.files), self.contents(written) if written else None)

    @staticmethod
    def contents(files):
        return [f.read_text(errors="surrogateescape") for f in files]

    def verify(self, mode, ranks, sequential, distributed, arguments=None):
        """Rows of hvd-verify's table; `arguments`: those of the sequential program, when they are not the distributed one's."""
        rows = self.work / "rows.tsv"
        rows.unlink(missing_ok=True)
        copies = [part for path in self.entry.get("copy", []) for part in ("--copy", path)]
        command = [self.builder.verify, "-n", ",".join(map(str, ranks)), "--label", mode, "--rows", str(rows), "--env", "HVD_BATCH=" + mode,
                   *copies, *self.entry.get("verify", []), "--sequential", str(sequential), *(arguments or self.entry["run"]),
                   "--distributed", str(distributed), *self.entry["run"]]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True,
                              errors="replace")
        if not rows.exists():
            raise BuildError("hvd-verify, %s: status %d: %s" % (mode, done.returncode, (done.stdout.strip().splitlines() or [""])[-1]))
        self.ended = ended_with(done.stdout) or self.ended
        return done.returncode, [line.split("\t") for line in rows.read_text().splitlines()]

    def build(self, ranks=1):
        """The sequential program, with the patches of the oracle for `ranks` ranks."""
        self.prepared(ranks)
        return self.builder.program(self.files, self.place, self.place, self.flags(), self.work)

    def build_distributed(self):
        self.prepared(1)
        files = [self.folder / f.relative_to(self.place) for f in self.files]
        return self.builder.program(files, self.folder, self.place, self.flags(), self.work)

    def compare(self, distributed):
        status, rows = self.verify("global", self.ranks, self.build(), distributed)
        both = "per_rank" in self.entry or "per_rank_run" in self.entry
        for n in self.per_rank_ranks if both else []:
            arguments = [for_ranks(a, n) for a in self.entry.get("per_rank_run", self.entry["run"])]
            one, more = self.verify("per-rank", [n], self.build(n), distributed, arguments)
            status, rows = max(status, one), rows + more
        if status != 0 and self.ended:
            return "refused", "%s when it runs" % self.ended
        largest, where, _ = worst(rows)
        detail = "%s: largest difference %.2g (%s)" % (self.compared_on(both), largest, where)
        return ("compared" if status == 0 else "broken"), detail

    def compared_on(self, both):
        """Which modes on which ranks, for the table."""
        spans = ["%d-%d" % (min(r), max(r)) if len(r) > 1 else str(r[0]) for r in (self.ranks, self.per_rank_ranks)]
        if both and spans[0] != spans[1]:
            return "global on ranks %s, per-rank on %s" % tuple(spans)
        return "%s, ranks %s" % ("global and per-rank" if both else "global", spans[0])

    def run(self):
        kind, detail = self.rewrite()
        if kind != "accepted":
            return kind, detail
        try:
            self.builder.add_sources(self.entry, self.work)
        except BuildError as error:
            return "does not build", first_error(str(error))
        try:
            distributed = self.build_distributed()
        except BuildError as error:
            return self.blame(error)
        if "run" not in self.entry:
            return "compiled", self.entry.get("not_run", "no data or arguments in the list")
        try:
            return self.compare(distributed)
        except BuildError as error:
            return "broken", str(error).strip().splitlines()[0][:200]

    def blame(self, error):
        """The output does not build: that is hvdize's fault only when the program itself does."""
        try:
            self.build()
        except BuildError as own:
            return "does not build", first_error(str(own))
        return "broken", "the output does not compile: " + first_error(str(error))


def markdown(entries, results):
    """The page: counts, then one table per kind of result."""
    done = [(e, results[key_of(e)]) for e in entries if key_of(e) in results]
    counts = {kind: [d for d in done if d[1]["kind"] == kind] for kind in KINDS}
    lines = ["# Programs that others wrote", "",
             "What hvdize makes of public LibTorch training programs, as `scripts/compatibility.py` found it. Their code is not part of this",
             "repository: fetch what you want to try, list it (`scripts/compatibility.py --help`), and repeat.", "",
             "%d programs of %d repositories:" % (len(done), len({e["repository"] for e, _ in done})), ""]
    lines += ["- %d %s" % (len(counts[kind]), HEADINGS[kind]) for kind in KINDS]
    right = sum(e.get("verdict", "").startswith("right") for e, _ in counts["refused"])
    lines += ["", "Of the refusals %d are right: there is nothing to share out. The others name a limit. In brackets stands what was changed in a" % right,
              "program before it was tried, in its sequential form as well."]
    for kind in KINDS:
        if counts[kind]:
            lines += ["", "## " + HEADINGS[kind].replace("**", "").capitalize(), "", "| repository | path | result |", "|---|---|---|"]
            lines += ["| %s | %s | %s |" % (e["repository"], e["path"], cell(e, r)) for e, r in counts[kind]]
    return "\n".join(lines) + "\n"


def cell(entry, result):
    """The last column: what happened, and on what form of the program."""
    verdict = ": " + entry["verdict"] if result["kind"] == "refused" and entry.get("verdict") else ""
    parts = [(result["detail"] or "-") + verdict] + (["(%s)" % entry["note"]] if entry.get("note") and result["kind"] in ("compared", "broken") else [])
    return " ".join(parts).replace("|", "\\|").replace("<", "\\<")


def key_of(entry):
    return entry["repository"] + ":" + entry["path"]


def check_patches(entries):
    """Fails on a script that changes nothing before anything is tried."""
    for entry in entries:
        texts = {}
        try:
            for scripts in (scripts_for(entry, "patch", 1), scripts_for(entry, "per_rank", 2)):
                for name, own in scripts.items():
                    if name not in texts:
                        texts[name] = Path(entry.get("folder", ""), name).read_text(errors="surrogateescape")
                    texts[name] = patched(texts[name], own)
        except ListError as error:
            raise ListError("%s: %s" % (key_of(entry), error)) from error


def try_all(entries, arguments, results):
    for entry in entries:
        key = key_of(entry)
        named = bool(arguments.only) and re.search(arguments.only, key)
        if not (named or (not arguments.only and key not in results)):
            continue
        work = Path(arguments.build, "test", "compatibility", re.sub(r"[^\w.-]+", "_", key))
        work.mkdir(parents=True, exist_ok=True)
        kind, detail = Trial(arguments.build, entry, work, arguments.ranks, arguments.time_limit, arguments.per_rank_ranks).run()
        results[key] = {"kind": kind, "detail": detail}
        Path(arguments.results).write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
        print("%-14s %s  %s" % (kind, key, detail), flush=True)


def numbers(text):
    return [int(n) for n in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS)
    parser.add_argument("list")
    for name in ("--build", "--results", "--table"):
        parser.add_argument(name, required=True)
    parser.add_argument("--only")
    parser.add_argument("--ranks", type=numbers, default=[1, 2, 3, 4])
    parser.add_argument("--per-rank-ranks", type=numbers, help="ranks of per-rank mode, each of which needs an oracle of its own to be built; default: --ranks")
    parser.add_argument("--time-limit", type=float, default=300)
    arguments = parser.parse_args()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    try:
        entries = read_list(arguments.list)
        check_patches(entries)
        results = json.loads(Path(arguments.results).read_text()) if Path(arguments.results).exists() else {}
        try_all(entries, arguments, results)
    except (ListError, OSError, ValueError) as error:
        print("compatibility.py: %s" % error, file=sys.stderr)
        return 2
    Path(arguments.table).write_text(markdown(entries, results))
    return 1 if any(results.get(key_of(e), {}).get("kind") == "broken" for e in entries) else 0


if __name__ == "__main__":
    sys.exit(main())
