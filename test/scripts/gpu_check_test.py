#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/gpu-check.sh where it has nothing to check, and the report it writes. usage: gpu_check_test.py"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
import gpu_check  # noqa: E402

failures = 0


def check(what, good, shown=""):
    global failures
    if good:
        print("ok   " + what)
    else:
        failures += 1
        print("FAIL %s: %s" % (what, shown))


def with_programs(folder, programs, *arguments):
    """The script in a world where these programs answer so: name -> lines of a shell script."""
    for name, text in programs.items():
        path = Path(folder, name)
        path.write_text("#!/bin/sh\n" + text + "\n")
        path.chmod(0o755)
    return subprocess.run(["bash", str(ROOT / "scripts" / "gpu-check.sh"), "--out", str(Path(folder, "out")), "--build", str(Path(folder, "build")),
                           *arguments], capture_output=True, text=True, env={**os.environ, "PATH": folder + ":" + os.environ["PATH"]})


def without_gpu():
    with tempfile.TemporaryDirectory() as folder:
        done = with_programs(folder, {"nvidia-smi": "echo 'NVIDIA-SMI has failed'; exit 9"})
        check("without a GPU the script ends with status 2", done.returncode == 2, done.stdout + done.stderr)
        check("and says that there is none", done.stderr.strip() == "gpu-check: no CUDA device: nvidia-smi says 'NVIDIA-SMI has failed'", done.stderr)
        check("and writes nothing", not Path(folder, "out").exists() and not Path(folder, "build").exists(), os.listdir(folder))


def without_build():
    with tempfile.TemporaryDirectory() as folder:
        done = with_programs(folder, {"nvidia-smi": "echo 'Some GPU, 580.1, 9.0, 81559 MiB'", "cmake": "echo no compiler; exit 1"})
        check("a failed build ends with status 2", done.returncode == 2, done.stdout + done.stderr)
        check("and shows why", "configuring failed" in done.stderr and "no compiler" in done.stderr, done.stderr)
        check("and there is no report", not Path(folder, "out").exists(), os.listdir(folder))


def sample(failed):
    return {"gpu": {"name": "Some GPU", "driver": "580.1", "capability": "9.0", "memory": "81559 MiB", "count": 1}, "nvcc": "release 13.0", "commit": "abc",
            "library": "Some GPU, cuBLAS 13", "date": "2026-01-02 03:04", "seconds": 12.0,
            "suites": [{"name": "operations on cublas", "seconds": 3.0, "passed": 7, "failed": failed, "skipped": ["x"]}],
            "collectives": "allreduce, 2 ranks\n 4 bytes",
            "measurements": [{"operation": "matmul", "device": "cublas", "dtype": "float32", "shape": "64x64x64", "seconds": 1e-5, "flops": 524288.0, "bytes": 49152.0}]}


def report():
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "out")
        gpu_check.write_report(out, sample(["A.B: expected `1`\nbut 2"]))
        text = (out / "gpu-check.md").read_text()
        check("the report counts", "| operations on cublas | 7 | 1 | 1 | 3 |" in text, text)
        check("the report names what failed", "operations on cublas: `A.B: expected '1' but 2`" in text, text)
        check("the report has the collectives", "```\nallreduce, 2 ranks\n 4 bytes\n```" in text, text)
        check("the report has the rates", "| 64x64x64 | 52.4 GFLOP/s (0.01 ms) |" in text, text)
        check("the report exists as JSON", json.loads((out / "gpu-check.json").read_text()) == sample(["A.B: expected `1`\nbut 2"]))
        check("nothing half-written stays", sorted(p.name for p in out.iterdir()) == ["gpu-check.json", "gpu-check.md"], list(out.iterdir()))
        svg = gpu_check.study.figure(sample([])["measurements"])
        check("the figure has its line", "cublas, float32" in svg and svg.startswith("<svg") and svg.endswith("</svg>\n"), svg)


def ways():
    """What several ranks over NCCL come to when the launcher answers so."""
    nccl = next(way for way in gpu_check.WAYS if way[0] == "NCCL")
    for what, text, passed, failed, skipped in (
            ("ranks that end well count for both programs", "exit 0", 2, 0, 0),
            ("a machine without NCCL is a skip with its reason", "echo 'hvd: HVD_BACKEND=nccl: rank 0: NCCL cannot be loaded: no file'; exit 2", 0, 0, 1),
            ("another refusal is a failure", "echo 'hvd: HVD_BACKEND=nccl: rank 1: no CUDA device'; exit 2", 0, 2, 0),
            ("a wrong result is a failure", "[ \"$HVD_TEST_WAY\" = nccl ] && exit 1; exit 0", 1, 1, 0)):
        with tempfile.TemporaryDirectory() as folder:
            launcher = Path(folder, "bin", "hvd-run")
            launcher.parent.mkdir()
            launcher.write_text("#!/bin/sh\n" + text + "\n")
            launcher.chmod(0o755)
            result = gpu_check.way_case(Path(folder), nccl, "cublas")
            check(what, (result["passed"], len(result["failed"]), len(result["skipped"])) == (passed, failed, skipped), result)
    with tempfile.TemporaryDirectory() as folder:
        result = gpu_check.way_case(Path(folder), gpu_check.WAYS[1], "cublas")
        check("a build without MPI is a skip", result["skipped"] and not result["failed"] and not result["passed"], result)


def limits():
    """Suites side by side: found in their order, and what the time does not allow counts as failed."""
    with tempfile.TemporaryDirectory() as folder:
        good = {"passed": 1, "failed": [], "skipped": []}
        for limit, passed, failed in ((100, [1, 1], [0, 0]), (0, [0, 0], [1, 1])):
            run = gpu_check.Check.__new__(gpu_check.Check)
            run.arguments = argparse.Namespace(limit=limit, together=2, out=Path(folder), commit="abc", remark=["not alone"])
            run.begin, run.suites, run.gpu = time.monotonic(), [], sample([])["gpu"]
            run.nvcc, run.library, run.measurements, run.collectives, run.peers = "nvcc", "library", [], "", []
            run.together([("slow", lambda: time.sleep(0.2) or good), ("quick", lambda: good)])
            check("suites keep their order under a limit of %d s" % limit, [s["name"] for s in run.suites] == ["slow", "quick"], run.suites)
            check("they count as they should", ([s["passed"] for s in run.suites], [len(s["failed"]) for s in run.suites]) == (passed, failed), run.suites)
        check("a remark stands in the report", "**Remark.** not alone" in Path(folder, "gpu-check.md").read_text())


limits()
without_gpu()
without_build()
ways()
report()
sys.exit(1 if failures else 0)
