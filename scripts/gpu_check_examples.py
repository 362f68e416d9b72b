# SPDX-License-Identifier: Apache-2.0
"""The example helenna on GPUs, as it is and as hvdize has rewritten it: a part of gpu_check.py. scripts/gpu-carry.sh carries the rewritten one."""
import os
import subprocess
import tempfile
from pathlib import Path

from gpu_check_torch import checked, difference, shortened

ROOT = Path(__file__).resolve().parent.parent
# A network without batch norm, whose statistics are each rank's own. In float64 what is left of sums in another order is far below what the log shows.
ARGUMENTS = ["--network", "cnn_small", "--shape", "1x12x12", "--samples", "96", "--test-samples", "24", "--batch", "24", "--epochs", "2", "--dtype", "float64"]


def compile_example(build, sources):
    program = build / "bin" / "helenna_distributed"
    checked(["g++", "-std=c++20", "-O1", "-I%s" % sources, "-I%s" % (ROOT / "examples"), "-I%s" % (ROOT / "runtime" / "include"), sources / "helenna.cpp", "-o", program,
             "-L%s" % (build / "lib"), "-lhvd_runtime", "-Wl,-rpath,%s" % (build / "lib"), "-Wl,--allow-shlib-undefined", "-pthread"])
    return program


def log_of(command, settings):
    """The log that a run writes, without what it says of time."""
    with tempfile.TemporaryDirectory() as out:
        done = subprocess.run([str(c) for c in [*command, *ARGUMENTS, "--out", out + "/"]], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                              timeout=120, stdin=subprocess.DEVNULL, env={**os.environ, **settings})
        if done.returncode != 0:
            raise RuntimeError("%s: status %d: %s" % (" ".join(map(str, command))[-200:], done.returncode, shortened(done.stderr)))
        rows = [line.split(",") for line in Path(out, "log.csv").read_text().splitlines()]
    kept = [i for i, name in enumerate(rows[0]) if "second" not in name and "time" not in name]
    return "\n".join(" ".join(row[i] for i in kept) for row in rows)


def examples_case(build, deps, devices, settings):
    """Passed, failed and skipped, as the other suites."""
    result = {"passed": 0, "failed": [], "skipped": []}
    sources = deps and deps / "examples" / "helenna"
    if not sources or not (sources / "helenna.cpp").exists():
        result["skipped"].append("helenna: no --deps with the rewritten example")
        return result
    try:
        program = compile_example(build, sources)
    except (RuntimeError, subprocess.TimeoutExpired) as why:
        result["failed"].append("helenna: %s" % why)
        return result
    for device in devices:
        try:
            wanted = log_of([build / "bin" / "helenna_seq", "--device", device], settings)
        except (RuntimeError, OSError, subprocess.TimeoutExpired) as why:
            result["failed"].append("helenna on %s: %s" % (device, why))
            continue
        for ranks in (1, 2):
            what = "helenna on %s, %d ranks" % (device, ranks)
            try:
                differs = difference(wanted, log_of([build / "bin" / "hvd-run", "-n", ranks, program, "--device", device], {**settings, "HVD_BATCH": "global"}))
            except (RuntimeError, OSError, subprocess.TimeoutExpired) as why:
                differs = str(why)
            if differs:
                result["failed"].append("%s: %s" % (what, differs))
            else:
                result["passed"] += 1
    return result
