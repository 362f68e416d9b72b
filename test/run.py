#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the test suites of a build and adds them up.

usage: run.py --build DIR [SUITE...]      suites: unit gpu dist faults lit e2e e2e-all package wrapper scripts resume fuzz; default all but e2e-all, which is e2e on more
numbers of ranks

Prints what failed and what was skipped and why, then one line per suite, then exactly one line "N passed, N failed, N skipped".
Exit status 0 when nothing failed and something ran; a suite without a single test counts as a failure.
"""
import argparse
import concurrent.futures
import contextlib
import io
import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Outcome:
    passed: int = 0
    failed: list = field(default_factory=list)  # what failed, one line each
    skipped: list = field(default_factory=list)  # "what: why"

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def count(self):
        return self.passed + len(self.failed) + len(self.skipped)


def run(command, timeout, **options):
    """Runs a command in a process group of its own; (status, output); status 124 after the timeout, when the group is killed."""
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, errors="replace",
        start_new_session=True, **options)
    try:
        output, _ = process.communicate(timeout=timeout)
        return process.returncode, output
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGTERM)
        time.sleep(2)
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        output, _ = process.communicate()
        return 124, output + "\n(no end within %d s)\n" % timeout


def show(output, lines=60):
    for line in output.splitlines()[-lines:]:
        print("    | " + line)


def google_test(program, options=(), **environment):
    """One GoogleTest program, counted by its own report."""
    outcome = Outcome()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        status, output = run([program, "--gtest_color=no", "--gtest_brief=1", "--gtest_output=json:%s" % report, *options], 900, cwd=folder,
                             env={**os.environ, **environment})
        if not report.exists():
            show(output)
            outcome.failed.append("%s ended with status %d before its report" % (program.name, status))
            return outcome
        # Before GoogleTest 1.13 the report does not say why a test was skipped; its output does, in the order of the tests.
        reasons = iter(re.findall(r": Skipped\n(.*)\n", output))
        for suite in json.loads(report.read_text())["testsuites"]:
            for test in suite["testsuite"]:
                name = "%s.%s" % (suite["name"], test["name"])
                if test.get("failures"):
                    outcome.failed.append(name)
                    show("\n".join(f["failure"] for f in test["failures"]))
                elif test.get("result") == "SUPPRESSED":
                    continue  # not chosen by a filter
                elif test.get("result") == "SKIPPED":
                    why = next(reasons, "") or "; ".join(s.get("message", "").strip() for s in test.get("skipped", [])) or "the test says so"
                    outcome.skipped.append("%s: %s" % (name, why))
                elif test.get("status") == "RUN":
                    outcome.passed += 1
                else:
                    outcome.skipped.append("%s: disabled" % name)
        if status != 0 and not outcome.failed:
            show(output)
            outcome.failed.append("%s ended with status %d" % (program.name, status))
    return outcome


def unit(site):
    outcome = Outcome()
    for program in sorted(Path(site["bin"]).glob("hvd-*-tests")):
        outcome.add(google_test(program))
    return outcome


def mpi_command(site, ranks, program, backend="auto"):
    command = [site["mpirun"], "--oversubscribe", "-np", str(ranks), "-x", "HVD_BACKEND=" + backend]
    if ranks > (os.cpu_count() or 1):
        command += ["--mca", "mpi_yield_when_idle", "1"]
    return command + [str(program)]


def local_command(site, ranks, program):
    return [str(Path(site["bin"], "hvd-run")), "-n", str(ranks), str(program)]


def dist_case(outcome, name, command):
    """Status 0 is a pass, 77 a skip whose last line says why."""
    with tempfile.TemporaryDirectory() as folder:
        status, output = run(command, 180, cwd=folder)
    if status == 0:
        outcome.passed += 1
    elif status == 77:
        outcome.skipped.append("%s: %s" % (name, (output.strip().splitlines() or ["no reason given"])[-1]))
    else:
        show(output)
        outcome.failed.append("%s: status %d" % (name, status))


def dist(site):
    """Every hvd-dist-* program on 2 and 4 ranks of each backend; the conformance suite on 1 to 8."""
    outcome = Outcome()
    backends = {"local": local_command,
                "mpi": (lambda *job: mpi_command(*job, backend="mpi")) if site["mpirun"] else None}
    for source in sorted(Path(site["source"], "test", "dist").glob("*.cpp")):
        program = Path(site["bin"], "hvd-dist-" + source.stem)
        conformance = source.stem == "conformance"
        for backend, command in backends.items():
            if not command:
                outcome.skipped.append("%s with %s: no MPI in this build" % (program.name, backend))
                continue
            for ranks in range(1, 9) if conformance else (2, 4):
                dist_case(outcome, "%s with %s on %d ranks" % (program.name, backend, ranks),
                          command(site, ranks, program) + ([backend] if conformance else []))
        if source.stem == "training":  # whatever the shares of the batch are, it is the sequential one
            for shares in ("3,1", "1,5", "2,1,4", "1,1,30"):
                dist_case(outcome, "%s with shares %s" % (program.name, shares),
                          ["env", "HVD_SHARES=" + shares, *local_command(site, shares.count(",") + 1, program)])
        if source.stem == "shares":  # those of a clock: the program slows a rank of its own accord
            for ranks, slowed, more in ((2, 1, []), (3, 0, []), (4, 3, []), (3, 1, ["HVD_CHECK=1"])):
                dist_case(outcome, "%s with measured shares on %d ranks, rank %d slowed%s" % (program.name, ranks, slowed, ", checked" if more else ""),
                          ["env", "HVD_SHARES=measured:3", "HVD_TEST_SLOWED=%d" % slowed, *more, *local_command(site, ranks, program)])
            if site["mpirun"]:
                dist_case(outcome, "%s with measured shares over MPI, rank 1 slowed" % program.name,
                          ["env", "HVD_SHARES=measured:3", "HVD_TEST_SLOWED=1", *mpi_command(site, 2, program, backend="mpi")])
        if source.stem == "training":  # with a server it is the same training on one rank fewer, and so the same result
            for ranks in (2, 4):
                dist_case(outcome, "%s with a parameter server on %d ranks" % (program.name, ranks),
                          ["env", "HVD_SYNC=parameter-server", *local_command(site, ranks, program)])
            for name, command in (("local", local_command), *((("mpi", backends["mpi"]),) if site["mpirun"] else ())):  # workers go on, but not ahead
                dist_case(outcome, "%s with a parameter server without staleness, %s" % (program.name, name),
                          ["env", "HVD_SYNC=parameter-server:async:0", *command(site, 3, program)])
        if not conformance:
            continue
        for ranks in range(1, 9):
            dist_case(outcome, "%s with threads on %d ranks" % (program.name, ranks), [str(program), "threads", str(ranks)])
        for ranks in (2, 3) if site["mpirun"] else ():  # started by MPI, all on this host
            dist_case(outcome, "%s with auto under mpirun on %d ranks" % (program.name, ranks),
                      mpi_command(site, ranks, program) + ["local"])
    script = Path(site["source"], "test", "dist", "trace.py")
    outcome.add(checked_script([sys.executable, str(script), site["bin"], site["mpirun"]], script.name, 300))
    outcome.add(torch_processes(site))
    return outcome


def emulated_backends(site, emulated):
    """What carries buffers on GPUs: the conformance suite and training over the emulated NCCL, over an MPI that takes the emulated GPU's memory,
    and through the host; then how the choice is made, and how jobs end."""
    outcome = Outcome()
    program, training = Path(site["bin"], "hvd-dist-conformance"), Path(site["bin"], "hvd-dist-training")
    gpu = ["env", "HVD_CUDA_LIBRARY=%s" % emulated]
    for ranks in (1, 2, 3, 4):
        dist_case(outcome, "%s with nccl, emulated, on %d ranks" % (program.name, ranks),
                  gpu + ["HVD_BACKEND=nccl", "HVD_TEST_WAY=nccl", *local_command(site, ranks, program), "self" if ranks == 1 else "local"])
    dist_case(outcome, "%s with GPUs staged through the host" % program.name,
              gpu + ["HVD_BACKEND=local", "HVD_TEST_WAY=local", *local_command(site, 2, program), "local"])
    for name, settings in (("on 4 ranks", []), ("with a parameter server", ["HVD_SYNC=parameter-server"]), ("with HVD_CHECK", ["HVD_CHECK=1"])):
        dist_case(outcome, "%s with nccl, emulated, %s" % (training.name, name),
                  gpu + ["HVD_BACKEND=nccl", "HVD_TEST_DEVICE=cublas", *settings, *local_command(site, 2 if settings else 4, training)])
    graphs = Path(site["bin"], "hvd-dist-graphs")
    for name, ranks, settings in (("with nccl and small buckets", 3, ["HVD_BACKEND=nccl", "HVD_BUCKET_MB=0.002"]), ("staged through the host", 2, ["HVD_BACKEND=local"])):
        dist_case(outcome, "%s on the emulated GPU, %s" % (graphs.name, name), gpu + ["HVD_TEST_DEVICE=cublas", *settings, *local_command(site, ranks, graphs)])
    precision = Path(site["bin"], "hvd-dist-precision")
    dist_case(outcome, "%s with nccl, emulated" % precision.name, gpu + ["HVD_BACKEND=nccl", "HVD_TEST_DEVICE=cublas", *local_command(site, 2, precision)])
    if site["mpirun"]:
        preload = emulated.with_name("libhvd_emulated_cuda_mpi.so")
        dist_case(outcome, "%s with mpi_cuda, emulated" % program.name,
                  gpu + ["LD_PRELOAD=%s" % preload, "HVD_TEST_WAY=mpi_cuda", *mpi_command(site, 3, program, "mpi_cuda"), "mpi"])
    else:
        outcome.skipped.append("%s with mpi_cuda: no MPI in this build" % program.name)
    script = Path(site["source"], "test", "dist", "devices.py")
    outcome.add(checked_script([sys.executable, str(script), site["build"], site["mpirun"], site["nccl"]], script.name, 200))
    return outcome


def gpu(site):
    """The kernels of GPUs run by the emulated one, on the host: operations, memory, training, ranks. A GPU that is there has its tests in
    the other suites."""
    emulated = Path(site["build"], "lib", "libhvd_emulated_gpu.so")
    outcome = google_test(Path(site["bin"], "hvd-unit-tests"), ["--gtest_filter=All/Core*:*Gpu*:-*OnCudnn*:*/cudnn"], HVD_CUDA_LIBRARY=str(emulated))
    graphs = Path(site["bin"], "hvd-cudnn-tests")
    if graphs.exists():
        outcome.add(google_test(graphs, []))
    else:
        outcome.skipped.append("hvd-cudnn-tests: no cuDNN in this build")
    program = Path(site["bin"], "hvd-dist-training")
    for ranks, settings in ((2, {}), (3, {}), (2, {"HVD_BACKEND": "local"}), (2, {"HVD_BACKEND": "local", "HVD_CHECK": "1"})):
        status, output = run(local_command(site, ranks, program), 180,
                             env={**os.environ, **settings, "HVD_CUDA_LIBRARY": str(emulated), "HVD_TEST_DEVICE": "cublas"})
        if status == 0:
            outcome.passed += 1
        else:
            show(output)
            outcome.failed.append("%s on %d ranks with the emulated GPU %s: status %d" % (program.name, ranks, settings, status))
    outcome.add(emulated_backends(site, emulated))
    return outcome


def torch_processes(site):
    """The tests of the LibTorch binding that need ranks with a random stream of their own, on 2, 3 and 4 ranks."""
    outcome = Outcome()
    program = Path(site["bin"], "hvd-torch-tests")
    if not site["torch"] or not site["mpirun"]:
        outcome.skipped.append("%s on several ranks: no %s in this build" % (program.name, "MPI" if site["torch"] else "LibTorch"))
        return outcome
    for ranks in (2, 3, 4):
        status, output = run(mpi_command(site, ranks, program) + ["--gtest_color=no"], 300)
        ran = re.search(r"^\[  PASSED  \] (\d+) tests?", output, re.MULTILINE)
        if status == 0 and ran and int(ran.group(1)) > 0:
            outcome.passed += 1
        else:
            show(output)
            outcome.failed.append("%s on %d ranks: status %d" % (program.name, ranks, status))
    return outcome


def checked_script(command, name, timeout):
    """A script that prints "ok WHAT", "FAIL WHAT" or "skip WHAT: WHY" for each of its checks."""
    outcome = Outcome()
    status, output = run(command, timeout)
    for line in output.splitlines():
        if line.startswith("ok "):
            outcome.passed += 1
        elif line.startswith("FAIL "):
            outcome.failed.append("%s: %s" % (name, line[5:].strip()))
        elif line.startswith("skip "):
            outcome.skipped.append("%s: %s" % (name, line[5:].strip()))
    if outcome.failed or status != 0:
        show(output, 120)
    if status != 0 and not outcome.failed:
        outcome.failed.append("%s ended with status %d" % (name, status))
    return outcome


def faults(site):
    """What hvd-run does; how jobs end, under it and under mpirun."""
    outcome = Outcome()
    script = Path(site["source"], "test", "dist", "launcher.sh")
    outcome.add(checked_script(["bash", str(script), site["bin"]], script.name, 300))
    script = script.with_name("faults.sh")
    for launcher in ("hvd-run", site["mpirun"]):
        if not launcher:
            outcome.skipped.append("%s under mpirun: no MPI in this build" % script.name)
        else:
            outcome.add(checked_script(["bash", str(script), site["bin"], launcher], "%s %s" % (script.name, Path(launcher).name), 900))
            trials = [sys.executable, str(script.with_name("trials.py")), site["bin"], launcher, "--trials", "8", "--seed", "7"]
            outcome.add(checked_script(trials, "trials.py " + Path(launcher).name, 300))
    return outcome


def lit(site):
    outcome = Outcome()
    if not site["tool"]:
        outcome.skipped.append("lit: the tool is not part of this build")
        return outcome
    program = os.environ.get("HVDIZE_LIT") or str(Path(site["llvmTools"], "..", "build", "utils", "lit", "lit.py"))
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        command = [sys.executable, program, "-q", "--no-progress-bar", "-j2", "-o", str(report),
                   str(Path(site["build"], "test", "lit"))]
        status, output = run(command, 1500)
        if not report.exists():
            show(output)
            outcome.failed.append("lit ended with status %d before its report" % status)
            return outcome
        for test in json.loads(report.read_text())["tests"]:
            if test["code"] in ("PASS", "XFAIL", "FLAKYPASS"):
                outcome.passed += 1
            elif test["code"] in ("UNSUPPORTED", "SKIPPED", "EXCLUDED"):
                outcome.skipped.append("%s: %s" % (test["name"], test["code"].lower()))
            else:
                outcome.failed.append("%s: %s" % (test["name"], test["code"]))
                show(test["output"], 40)
    return outcome


def e2e(site, sample=("--sample",)):
    if not site["tool"]:
        return Outcome(skipped=["e2e: the tool is not part of this build"])
    script = Path(site["source"], "test", "e2e", "run.py")
    return checked_script([sys.executable, str(script), "--build", site["build"], *sample], "e2e", 3600 if sample else 5400)


def e2e_all(site):
    """All numbers of ranks in all modes: three times the work of `e2e`."""
    return e2e(site, ())


def package(site):
    if not site["tool"]:
        return Outcome(skipped=["package: the tool is not part of this build"])
    return checked_script(["bash", str(Path(site["source"], "test", "package", "run.sh")), site["build"]], "package", 900)


def wrapper(site):
    if not site["tool"]:
        return Outcome(skipped=["wrapper: the tool is not part of this build"])
    return checked_script([sys.executable, str(Path(site["source"], "test", "wrapper", "run.py")), site["build"]], "wrapper", 1800)


def scripts(site):
    """The logic of scripts/*.py; the tests that need no build of the tool as well."""
    outcome = checked_script([sys.executable, str(Path(site["source"], "test", "scripts", "compatibility_test.py")), site["build"]], "scripts", 900)
    outcome.add(checked_script([sys.executable, str(Path(site["source"], "test", "scripts", "forms_test.py"))], "forms", 60))
    outcome.add(checked_script([sys.executable, str(Path(site["source"], "test", "scripts", "mutation_test.py"))], "mutants", 60))
    outcome.add(checked_script([sys.executable, str(Path(site["source"], "test", "scripts", "gpu_check_test.py"))], "gpu_check", 120))
    outcome.add(checked_script([sys.executable, str(Path(site["source"], "test", "scripts", "docs_test.py"))], "documentation", 60))
    outcome.add(checked_script([sys.executable, str(Path(site["source"], "test", "scripts", "site_test.py"))], "site", 120))
    if site["tool"]:
        outcome.add(checked_script([sys.executable, str(Path(site["source"], "test", "scripts", "docs_commands.py")), site["build"]], "commands of the documentation", 900))
        outcome.add(checked_script([sys.executable, str(Path(site["source"], "test", "scripts", "quick_start_test.py")), site["build"]], "quick starts", 600))
        outcome.add(checked_script([sys.executable, str(Path(site["source"], "test", "scripts", "slurm_test.py")), site["build"]], "slurm", 400))
    return outcome


def resume(site):
    """Trainers that are killed at random moments and resumed, also on another number of ranks."""
    if not Path(site["bin"], "helenna_seq").exists():
        return Outcome(skipped=["resume: the examples are not part of this build"])
    return checked_script([sys.executable, str(Path(site["source"], "test", "scripts", "resume_test.py")), site["bin"], "50"], "resume", 600)


def fuzz(site):
    """The parsers on seeds and on changed copies of them, the same ones each time; each in little memory."""
    outcome = Outcome()
    source = Path(site["source"], "test", "fuzz")
    with tempfile.TemporaryDirectory() as folder:
        status, output = run([sys.executable, str(source / "seeds.py"), folder], 60)
        if status != 0:
            show(output)
            outcome.failed.append("seeds.py: status %d" % status)
            return outcome
        for seeds in sorted(Path(folder).iterdir()):
            program = Path(site["bin"], "hvd-fuzz-" + seeds.name)
            # 2 GB of address space hold the libraries, and no buffer of a hostile size.
            status, output = run(["bash", "-c", "ulimit -v 2000000; exec \"$0\" \"$@\"", str(program), str(seeds), "3000"], 300)
            if status == 0:
                outcome.passed += 1
            else:
                show(output)
                outcome.failed.append("%s: status %d" % (program.name, status))
    return outcome


SUITES = {"unit": unit, "gpu": gpu, "dist": dist, "faults": faults, "lit": lit, "e2e": e2e, "e2e-all": e2e_all, "package": package, "wrapper": wrapper, "scripts": scripts, "resume": resume, "fuzz": fuzz}


# Faults wait nine tenths of their time; the rewriter's tests, which start no ranks, compute meanwhile. The wrapper's tests use one core.
BESIDE = {"lit": "faults", "package": "wrapper"}


def environment(site):
    """Ranks share this machine's cores; Open MPI wants to be told that running as root is meant; the user's folders are left alone."""
    os.environ["HVDIZE_CACHE"] = str(Path(site["build"], "test", "header-cache"))
    os.environ["HVD_TUNING"] = "none"
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    if os.geteuid() == 0:
        os.environ["OMPI_ALLOW_RUN_AS_ROOT"] = os.environ["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"


def suite(name, site):
    """Runs one suite and prints what became of it; its outcome, and the line that sums it up."""
    start = time.monotonic()
    outcome = SUITES[name](site)
    if outcome.count() == 0:
        outcome.failed.append("the suite '%s' has no tests" % name)
    for failure in outcome.failed:
        print("  FAILED  %s" % failure)
    for skip in outcome.skipped:
        print("  skipped %s" % skip)
    line = "  %-8s %4d passed %4d failed %4d skipped  (%d s)" % (name, outcome.passed, len(outcome.failed), len(outcome.skipped), time.monotonic() - start)
    print(line, flush=True)
    return outcome, line


def suite_quietly(name, site):
    """The same in a process of its own; what it printed comes back, too."""
    with contextlib.redirect_stdout(io.StringIO()) as text:
        outcome, line = suite(name, site)
    return outcome, line, text.getvalue()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True)
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=" ".join(SUITES))
    arguments = parser.parse_args()
    unknown = [s for s in arguments.suites if s not in SUITES]
    if unknown:
        parser.error("unknown suite '%s'; there are: %s" % (unknown[0], " ".join(SUITES)))
    site = json.loads(Path(arguments.build, "test", "site.json").read_text())
    environment(site)
    total, lines = Outcome(), []
    chosen = arguments.suites or [s for s in SUITES if s != "e2e-all"]
    beside = {first: other for first, other in BESIDE.items() if first in chosen and other in chosen}
    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as pool:
        started, ahead = {}, [s for s in chosen if s not in beside.values()]
        for name in ahead:
            print("== %s" % name, flush=True)
            if name in beside:
                started[beside[name]] = pool.submit(suite_quietly, beside[name], site)
            found = [suite(name, site)]
            for other in [o for o, future in started.items() if name == ahead[-1] or future.done()]:
                outcome, line, text = started.pop(other).result()
                print("== %s, meanwhile\n%s" % (other, text), end="", flush=True)
                found.append((outcome, line))
            for outcome, line in found:
                total.add(outcome)
                lines.append(line)
    print("==")
    print("\n".join(lines))
    print("%d passed, %d failed, %d skipped" % (total.passed, len(total.failed), len(total.skipped)))
    return 1 if total.failed or total.passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
