#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which backend carries buffers on GPUs, and how jobs end in which NCCL fails: with the emulated GPU and its emulated NCCL.

usage: devices.py BUILD_DIR MPIRUN LIBNCCL      The last two may be empty. Prints "ok WHAT" or "FAIL WHAT: WHY" for each check.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BUILD, MPIRUN = Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
GPU = {"HVD_CUDA_LIBRARY": str(BUILD / "lib" / "libhvd_emulated_gpu.so"), "HVD_TEST_DEVICE": "cublas"}
NCCL = sys.argv[3] if len(sys.argv) > 3 else ""
ABORTED, REFUSED = 134, 2
failures = 0


def check(what, good, shown=""):
    global failures
    failures += not good
    print("ok   " + what if good else "FAIL %s: %s" % (what, " | ".join(str(shown).splitlines()[-12:])), flush=True)


def run(ranks, program, *arguments, mpi=False, timeout=60, **environment):
    """(status, standard error and output, seconds)"""
    launcher = [MPIRUN, "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "-np"] if mpi else [str(BUILD / "bin" / "hvd-run"), "-n"]
    begin = time.monotonic()
    done = subprocess.run([*launcher, str(ranks), str(BUILD / "bin" / program), *arguments], capture_output=True, text=True, errors="replace",
                          timeout=timeout, env={**os.environ, **environment}, stdin=subprocess.DEVNULL)
    return done.returncode, done.stderr + done.stdout, time.monotonic() - begin


def carriers(ranks=2, mpi=False, **environment):
    """The backends of the reductions of gradients in a traced training run; what the run said when it failed."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "trace.json")
        status, said, _ = run(ranks, "hvd-dist-fault", "train", mpi=mpi, HVD_TRACE=str(file), **{**GPU, **environment})
        if status != 0 or not file.exists():
            return "status %d: %s" % (status, said), said
        summary = subprocess.run([str(BUILD / "bin" / "hvd-trace"), str(file)], capture_output=True, text=True).stdout
        said += summary.splitlines()[0] + "\n" if summary else "hvd-trace says nothing\n"
        events = json.loads(file.read_text())
        events = events["traceEvents"] if isinstance(events, dict) else events
        return {e["args"]["backend"] for e in events if e.get("name") == "allreduce gradients"}, said


def choices():
    found, said = carriers()
    check("auto: NCCL, where each rank has a GPU of its own", found == {"nccl"}, found)
    check("which hvd-trace says too, without a warning of the run", "2 ranks, backend local, on GPUs nccl" in said and "hvd:" not in said, said)
    found, said = carriers(HVD_EMULATED_GPUS="1")
    check("auto: the host, where ranks share a GPU", found == {"local"}, found)
    found, _ = carriers(HVD_EMULATED_NCCL="none")
    check("auto: the host, where there is no NCCL", found == {"local"}, found)
    found, _ = carriers(HVD_BACKEND="local")
    check("HVD_BACKEND=local: the host", found == {"local"}, found)
    found, said = carriers(ranks=3, HVD_BACKEND="nccl", HVD_EMULATED_GPUS="1")
    check("HVD_BACKEND=nccl: also where ranks share a GPU", found == {"nccl"}, found)
    check("with one warning that names them", said.count("hvd: ranks 0, 1, 2 share a GPU") == 1 and said.count("hvd:") == 1, said)
    if not MPIRUN:
        print("skip choices under mpirun: no MPI in this build")
        return
    found, _ = carriers(mpi=True, HVD_BACKEND="nccl")
    check("HVD_BACKEND=nccl under mpirun", found == {"nccl"}, found)
    found, _ = carriers(mpi=True, HVD_BACKEND="mpi_cuda", LD_PRELOAD=str(BUILD / "lib" / "libhvd_emulated_cuda_mpi.so"))
    check("HVD_BACKEND=mpi_cuda, with an MPI that takes device memory", found == {"mpi_cuda"}, found)
    found, _ = carriers(mpi=True, HVD_EMULATED_NCCL="none", LD_PRELOAD=str(BUILD / "lib" / "libhvd_emulated_cuda_mpi.so"))
    check("auto: such an MPI, where there is no NCCL", found == {"mpi_cuda"}, found)


def differing():
    """What a rank is told alone must not leave the others waiting."""
    only_first = '[ "$HVD_RUN_RANK" = 0 ] && export HVD_BACKEND=nccl; exec "$0" train'
    done = subprocess.run([str(BUILD / "bin" / "hvd-run"), "-n", "2", "bash", "-c", only_first, str(BUILD / "bin" / "hvd-dist-fault")],
                          capture_output=True, text=True, env={**os.environ, **GPU}, stdin=subprocess.DEVNULL, timeout=60)
    check("HVD_BACKEND that is not the same on all ranks", done.returncode == REFUSED and "rank 1 runs under another policy than rank 0" in done.stderr and
          "backend=auto" in done.stderr and "backend=nccl" in done.stderr, done.stderr)


def refused(what, expected, **options):
    status, said, _ = run(2, "hvd-dist-fault", "train", **options)
    lines = [line for line in said.splitlines() if line.startswith("hvd:") or "hvd: " in line]
    check(what, status == REFUSED and lines == [expected], "status %d: %s" % (status, said))


def real_nccl():
    """NVIDIA's library on a machine without a GPU: it is loaded, takes our calls and our configuration, and says what is missing."""
    if not NCCL:
        print("skip NCCL itself: it was not found when this build was configured")
        return
    status, said, _ = run(2, "hvd-dist-fault", "train", HVD_BACKEND="nccl", HVD_NCCL_LIBRARY=NCCL, **GPU)
    lines = [line for line in said.splitlines() if "the job ends" in line]
    check("NCCL itself: its error without a GPU is the message", status == ABORTED and len(lines) == 1 and
          re.match(r"hvd: rank \d waits in connect 'devices': ncclCommInitRankConfig: unhandled cuda error", lines[0]), "status %d: %s" % (status, said))


def uneven():
    """A rank that computes on a CPU: the host carries the gradients of all."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "trace.json")
        only_first = '[ "$HVD_RUN_RANK" = 0 ] || unset HVD_TEST_DEVICE; exec "$0" train'
        done = subprocess.run([str(BUILD / "bin" / "hvd-run"), "-n", "2", "bash", "-c", only_first, str(BUILD / "bin" / "hvd-dist-fault")],
                              capture_output=True, text=True, env={**os.environ, **GPU, "HVD_TRACE": str(file)}, stdin=subprocess.DEVNULL)
        events = json.loads(file.read_text()) if file.exists() else []
        events = events["traceEvents"] if isinstance(events, dict) else events
        found = {e["args"]["backend"] for e in events if e.get("name") == "allreduce gradients"}
        check("auto: the host, where one rank computes on a CPU", done.returncode == 0 and found == {"local"}, done.stderr + str(found))


def refusals():
    refused("HVD_BACKEND=nccl without NCCL", "hvd: HVD_BACKEND=nccl: rank 0: NCCL cannot be loaded: the emulated GPU is to have none",
            HVD_BACKEND="nccl", HVD_EMULATED_NCCL="none", **GPU)
    plain = {k: v for k, v in os.environ.items() if k not in GPU}
    probe = subprocess.run([str(BUILD / "bin" / "hvd-run"), "-n", "2", str(BUILD / "bin" / "hvd-dist-fault")], capture_output=True, text=True,
                           env={**plain, "HVD_BACKEND": "nccl"}, stdin=subprocess.DEVNULL)
    if probe.returncode == 0:
        print("skip HVD_BACKEND=nccl without a GPU: this machine has one")
    else:
        real_nccl()
        check("HVD_BACKEND=nccl without a GPU: one message", probe.returncode == REFUSED and
              re.fullmatch(r"hvd: HVD_BACKEND=nccl: rank 0: (no CUDA device.*|is not part of this build.*)\n", probe.stderr), probe.stderr)
    refused("HVD_BACKEND=mpi_cuda under hvd-run", "hvd: HVD_BACKEND=mpi_cuda: the ranks of hvd-run share memory; start the program under mpirun",
            HVD_BACKEND="mpi_cuda", **GPU)
    if not MPIRUN:
        print("skip HVD_BACKEND=mpi_cuda under mpirun: no MPI in this build")
        return
    status, said, _ = run(2, "hvd-dist-fault", "train", mpi=True, HVD_BACKEND="mpi_cuda", **GPU)
    if status == 0:
        print("skip HVD_BACKEND=mpi_cuda refused: this machine's MPI takes device memory")
        return
    check("HVD_BACKEND=mpi_cuda with an MPI that takes no device memory",
          status == REFUSED and said.count("hvd: HVD_BACKEND=mpi_cuda: rank 0: this MPI library") == 1 and said.count("hvd: ") == 1, said)


def ends(what, fault, expected, ranks=3, within=30, program=("hvd-dist-fault", "train"), statuses=(ABORTED,), **environment):
    status, said, seconds = run(ranks, *program, HVD_BACKEND="nccl", HVD_EMULATED_NCCL=fault, **{**GPU, **environment})
    lines = [line for line in said.splitlines() if line.startswith("hvd: ") and line.endswith("the job ends")]
    check(what, status in statuses and len(lines) == 1 and re.search(expected, lines[0]) and seconds < within,
          "status %d after %.1f s: %s" % (status, seconds, said))


def faults():
    ends("a rank that is killed in a reduction is named", "1:kill:3", r"rank 1 \(process \d+\) died; it waits in allreduce 'gradients'", statuses=(137,))
    ends("NCCL that does not connect: a message within the deadline", "1:init:0",
         r"rank \d waits in connect 'devices': ncclCommInitRankConfig: the ranks are not connected after \d s", HVD_DEADLINE="4")
    ends("an error that NCCL reports later is noticed", "1:error:2",
         r"rank 1 waits in allreduce 'gradients'.*: ncclAllReduce: remote process exited or there was a network error \(the connection was closed")
    ends("also when ncclCommAbort does not return", "1:error-hang:2", r"rank 1 waits in allreduce 'gradients'.*: ncclAllReduce: remote process exited",
         statuses=(ABORTED, 137))  # its guardian may end it first
    ends("a NCCL_HOSTID of the user's is left alone, and NCCL's own error is shown", "", r"Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 0",
         HVD_EMULATED_GPUS="1", NCCL_HOSTID="one")
    ends("a rank that does not come is named", "", r"rank 1 has not reached allreduce 'gradients'", program=("hvd-dist-fault", "train-late"),
         statuses=(137, ABORTED), HVD_DEADLINE="2")


choices()
uneven()
differing()
refusals()
faults()
sys.exit(1 if failures else 0)
