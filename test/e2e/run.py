#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""End to end: rewrite a program, build it and its original, run both on 1 to 4 ranks, compare.

usage: run.py --build DIR [--filter REGEX] [--list] [--ranks N,...] [--sample] [--fail-fast] [--hvdize PROGRAM] [--hvdize-option OPTION]... [--work DIR] [FILE.cpp...]

Prints "ok WHAT", "FAIL WHAT" or "skip WHAT: WHY" for each check, with details of failures behind. FILE.cpp: run these programs
instead of all. --sample: each case in one of its modes, on one rank and two or on three (which, changes from case to case and from commit
to commit); without it, on all numbers of ranks that it names, in all of its modes. cases.py says how a program describes its cases. Exit status 1 when a check failed or none was made.
"""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from light_libraries import empty_libraries  # noqa: E402
from build import Builder, BuildError  # noqa: E402
from cases import CaseError, all_cases, cases_of  # noqa: E402


class Report:
    """Checks and their outcomes, kept until they are printed: cases run beside each other."""

    def __init__(self):
        self.checks = 0
        self.failures = 0
        self.lines = []

    def ok(self, what):
        self.checks += 1
        self.lines.append("ok   " + what)

    def fail(self, what, details=""):
        self.checks += 1
        self.failures += 1
        self.lines.append("FAIL " + what)
        self.lines += ["       " + line for line in details.splitlines()[-60:]]

    def check(self, good, what, details=""):
        if good:
            self.ok(what)
        else:
            self.fail(what, details)
        return good

    def skip(self, what, why):
        self.lines.append("skip %s: %s" % (what, why))

    def add(self, other):
        """Takes over what another one found, and prints it."""
        self.checks += other.checks
        self.failures += other.failures
        for line in other.lines:
            print(line, flush=True)


@dataclass
class Built:
    """What is needed to run a case: the programs, or why there are none."""
    case: object
    messages: str = ""                          # of hvdize
    failure: str = ""                           # what went wrong before anything could run
    details: str = ""
    distributed: Path = None
    idempotent: bool = True
    precompiled: bool = False                   # the headers were, and have been used
    differs: list = field(default_factory=list)  # what comes out differently when parsing is not cut short
    sequential: dict = field(default_factory=dict)  # by the N it was scaled for


def prepare(case, builder, work):
    """Rewrites and compiles; runs beside others, so it prints nothing."""
    built = Built(case)
    try:
        text = case.source.read_bytes().decode()
        cxx = case.words("cxx")
        further = [f.relative_to(case.source.parent) for f in case.further()]
        torch = builder.is_torch(case.source)
        options = [*case.words("hvdize"), *(["--verbose"] if torch else [])]
        rewritten = builder.rewrite(case.source, work / case.name, options, cxx, case.further())
        if torch:
            note_shortcuts(case, builder, rewritten, built, work)
        built.messages = rewritten.messages
        if case.refusal():
            check_refusal(case, rewritten, built)
            return built
        if rewritten.status != 0 or not rewritten.output.exists():
            built.failure, built.details = "rewrite (status %d)" % rewritten.status, rewritten.messages
            return built
        written = rewritten.output.parent
        # The verifier has seen this text already.
        again = builder.rewrite(rewritten.output, work / (case.name + ".again"), [*case.words("hvdize"), "--no-verify"], [*cxx, "-iquote", str(case.source.parent)],
                                [written / f for f in further])
        output = rewritten.output.read_bytes().decode()
        built.idempotent = again.status == 0 and again.written and all(
            f.read_bytes() == (written / f.relative_to(again.output.parent)).read_bytes() for f in again.output.parent.rglob("*") if f.is_file())
        built.details = again.messages
        built.distributed = builder.compile(output, case.source, cxx, further, written)
        built.sequential = oracles(case, builder, text, further)
    except (BuildError, CaseError, subprocess.TimeoutExpired) as error:
        built.failure, built.details = "build", str(error)
    return built


def oracles(case, builder, text, further):
    """The sequential programs, by the number of ranks that they are scaled for: one for all numbers where that compiles."""
    cxx = case.words("cxx")
    scales = sorted({1} | (set(case.chosen("per-rank")) if "per-rank" in case.modes() else set()))
    if not case.values.get("edit") or len(scales) == 1:
        return dict.fromkeys(scales, builder.compile(text, case.source, cxx, further))
    general = case.general_source(text)
    try:
        if general:
            return dict.fromkeys(scales, builder.compile(general, case.source, cxx, further))
    except BuildError:
        pass  # a number that the compiler must know
    return {scale: builder.compile(case.scaled_source(text, scale), case.source, cxx, further) for scale in scales}


def note_shortcuts(case, builder, rewritten, built, work):
    """LibTorch programs are parsed with precompiled headers and without the bodies of LibTorch's functions. The result must be the same
    when nothing is left out, byte for byte (shortcuts=bodies), and when only the bodies are (shortcuts=all, too); so must the messages."""
    folder = str(rewritten.output.parent)
    built.precompiled = any(line.startswith("hvdize: ") and "used: " in line for line in rewritten.messages.splitlines())
    rewritten.messages = "".join(line for line in rewritten.messages.splitlines(keepends=True) if not line.startswith("hvdize: "))
    for shortcut in {"all": ("--full-parse", "--no-cache"), "bodies": ("--full-parse",)}.get(case.values.get("shortcuts"), ()):
        # What the verifier has to say is the same when the texts are the same.
        options = [*case.words("hvdize"), shortcut, *([] if case.refusal() else ["--no-verify"])]
        other = builder.rewrite(case.source, work / (case.name + "." + shortcut.strip("-")), options, case.words("cxx"), case.further())
        messages = other.messages.replace(str(other.output.parent), folder)
        if (other.status, messages, other.texts()) != (rewritten.status, rewritten.messages, rewritten.texts()):
            built.differs.append("with %s (status %d)\n%s\nwithout (status %d)\n%s" % (
                shortcut, other.status, messages, rewritten.status, rewritten.messages))


def check_refusal(case, rewritten, built):
    identifier = case.refusal()
    if rewritten.status != 1:
        built.failure = "refused with %s: status %d instead of 1" % (identifier, rewritten.status)
    elif rewritten.written:
        built.failure = "refused with %s: something was written" % identifier
    elif not re.search(r"(error|refused).*\[%s\b" % identifier, rewritten.messages):
        built.failure = "refused with %s: another reason was given" % identifier
    built.details = rewritten.messages


def verify_command(case, mode, builder, rows, ranks):
    """Both ways of starting ranks have their turn: mpirun with global batches, hvd-run with those of each rank."""
    command = [builder.verify, *(["--launcher", builder.launcher] if mode == "per-rank" else []), "-n", ",".join(map(str, ranks)), "--rows", rows, "--timeout", case.values.get("timeout", "120")]
    for key, option in (("tolerance", "--tolerance"), ("exclude", "--exclude"), ("ignore", "--ignore-line")):
        if key in case.values:
            command += [option, case.values[key]]
    for assignment in case.values.get("env", []):
        command += ["--env", assignment]
    return command


def gpus_of(case, builder):
    """The environment of a case with GPUs: so many for LibTorch, and as many for the runtime, which sums between them over (emulated) NCCL."""
    if "gpus" not in case.values:
        return {}
    return {"HVD_EMULATED_GPUS": case.values["gpus"], "HVD_CUDA_LIBRARY": str(Path(builder.site["torchGpus"]).with_name("libhvd_emulated_gpu.so"))}


def libraries_of(case, builder):
    """The environment of a LibTorch program: what LibTorch is linked with and does not call is not loaded."""
    if not builder.is_torch(case.source):
        return {}
    folders = [str(empty_libraries(builder.site["torchLibraries"].split(":"), [builder.site["torch"], builder.site["runtime"]], builder.site["compiler"], builder.cache))]
    return {"LD_LIBRARY_PATH": ":".join(folders + [f for f in [os.environ.get("LD_LIBRARY_PATH")] if f])}


def compare(case, mode, ranks, scale, built, builder, report):
    """One hvd-verify; one check for each number of ranks. `scale`: the number of ranks that the oracle is scaled for."""
    with tempfile.TemporaryDirectory() as folder:
        rows = str(Path(folder, "rows"))
        command = verify_command(case, mode, builder, rows, ranks)
        command += ["--env", "HVD_BATCH=" + mode]
        command += ["--sequential", str(built.sequential[scale]), *case.words("args"), *case.scaled_arguments(scale)]
        command += ["--distributed", str(built.distributed), *case.words("args"), *case.scaled_arguments(1)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, errors="replace",
                              env={**os.environ, "ORACLE_RANKS": str(scale), **gpus_of(case, builder), **libraries_of(case, builder)})
        verdicts = {}
        if Path(rows).exists():
            for line in Path(rows).read_text().splitlines():
                cells = line.split("\t")
                verdicts[int(cells[1])] = cells[-1]
    details = "%s\n%s" % (" ".join(command), done.stdout)
    for n in ranks:
        what = "%s, %s, %d rank%s" % (case.name, mode, n, "" if n == 1 else "s")
        verdict = verdicts.get(n, "FAILED")
        wanted = "equal" if n == 1 else "DIFFERENT" if case.expects_difference() else "FAILED" if case.ends() else "equal"
        said = wanted != "FAILED" or re.search(case.ends(), done.stdout)
        if not report.check(verdict == wanted and said, what, "%s was expected, not %s\n%s" % (wanted, verdict, details)):
            details = "(see above)"


def run_case(built, builder):
    """The report of one case."""
    report = Report()
    case = built.case
    if built.failure:
        report.fail("%s, %s" % (case.name, built.failure), built.details)
        return report
    if case.values.get("shortcuts"):
        report.check(not built.differs, "%s, the same with headers as text and with all bodies" % case.name, "\n".join(built.differs))
    if case.refusal():
        report.ok("%s, refused with %s" % (case.name, case.refusal()))
        return report
    report.check(built.idempotent, "%s, rewriting the output changes nothing" % case.name, built.details)
    for identifier in filter(None, case.values.get("warns", "").split(",")):
        report.check(identifier in built.messages, "%s, says %s" % (case.name, identifier), built.messages)
    ranks = case.ranks()
    if "gpus" in case.values and not builder.site["torchGpus"]:
        report.skip("%s on GPUs" % case.name, "they are emulated for LibTorch 1.13 without CUDA only")
        return report
    if not builder.site["mpirun"] and max(ranks) > 1:
        report.skip("%s on more than one rank" % case.name, "no MPI in this build")
        ranks = [1]
    together = [n for n in ranks if n in case.chosen("global")]
    if "global" in case.modes() and together:
        compare(case, "global", together, 1, built, builder, report)
    if "per-rank" in case.modes():
        for n in [n for n in ranks if n in case.chosen("per-rank")]:
            compare(case, "per-rank", [n], n, built, builder, report)
    return report


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True)
    parser.add_argument("--filter", default="", help="only cases whose name matches")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--ranks", help="only these numbers of ranks, such as 1,3")
    parser.add_argument("--sample", action="store_true", help="a part of the runs of each case, another with each commit")
    parser.add_argument("--fail-fast", action="store_true", help="no further case after one with a failure")
    parser.add_argument("--hvdize", help="another hvdize than the build's")
    parser.add_argument("--hvdize-option", action="append", default=[], help="passed to every hvdize (repeatable)")
    parser.add_argument("--work", help="keep rewritten programs in this folder")
    parser.add_argument("programs", nargs="*")
    return parser.parse_args()


def environment(build):
    os.environ.setdefault("HVDIZE_CACHE", str(build / "test" / "header-cache"))
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")


def commits():
    """How many commits led here; 0 where there is no history: another part of the work is done after each."""
    done = subprocess.run(["git", "rev-list", "--count", "HEAD"], cwd=Path(__file__).parent, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, text=True)
    return int(done.stdout) if done.returncode == 0 else 0


def run_all(cases, builder, work, fail_fast):
    """The report of all cases; each is printed as soon as those before it are."""
    report, head = Report(), Report()
    if not builder.site["torch"]:
        for case in [c for c in cases if builder.is_torch(c.source)]:
            head.skip(case.name, "LibTorch is not part of this build")
        cases = [c for c in cases if not builder.is_torch(c.source)]
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        # Everything is compiled first: a run that is compared should not share its cores with compilers.
        results = list(pool.map(lambda case: prepare(case, builder, work), cases))
        if any(builder.is_torch(c.source) for c in cases):
            head.check(any(b.precompiled for b in results), "LibTorch's headers are precompiled")
        report.add(head)
        # Jobs wait for each other much of the time, when they start and end: two cases at once.
        for future in [pool.submit(run_case, built, builder) for built in results]:
            if report.failures and fail_fast:
                future.cancel()
            else:
                report.add(future.result())
    return report


def main():
    arguments = parse_arguments()
    try:
        cases = sum((cases_of(Path(p).resolve()) for p in arguments.programs), []) or all_cases(Path(__file__).resolve().parent)
    except CaseError as error:
        print("FAIL %s" % error)
        return 1
    cases = [c for c in cases if re.search(arguments.filter, c.name)]
    if arguments.list:
        print("\n".join("%-30s %s" % (c.name, c.source) for c in cases))
        return 0
    for case in cases:
        case.values["ranks"] = arguments.ranks or case.values.get("ranks", "1,2,3,4")
    if arguments.sample:
        turn = commits()
        for number, case in enumerate(cases):
            case.sample = (number + turn) % 4
    build = Path(arguments.build).resolve()
    environment(build)
    builder = Builder(build, arguments.hvdize, arguments.hvdize_option)
    with tempfile.TemporaryDirectory() as scratch:
        report = run_all(cases, builder, Path(arguments.work or scratch).resolve(), arguments.fail_fast)
    print("%d checks, %d failures" % (report.checks, report.failures))
    return 1 if report.failures or report.checks == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
