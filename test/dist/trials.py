#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random faults in jobs of four ranks: how they end.

usage: trials.py BIN_DIR LAUNCHER [--trials N] [--seed S]      LAUNCHER: hvd-run (the one in BIN_DIR) or an mpirun

Each trial lets one rank of four be killed, be stopped, exit with status 1, throw or get stuck: before its session, in a step, in the last
step, or between the last step and the end. With a deadline of 3 s the job must end within 13 s and not with status 0; a message
must name the rank (but for one that hangs, or exits, under mpirun before its session), and for faults in a step an operation; no process and no shared memory may be left; the last checkpoint must load.
Every fault meets every moment once before one comes again. Prints "ok WHAT" or "FAIL WHAT: WHY" for each trial.
"""
import argparse
import itertools
import os
import random
import re
import subprocess
import tempfile
import time
from pathlib import Path

RANKS, DEADLINE, STEPS = 4, 3, 8
FAULTS = ("kill", "stop", "exit", "throw", "stuck")
MOMENTS = ("start", "middle", "last", "end")
MEMORY = re.compile(r"hvd-(board|heap|group|run)")  # what the runtime and the launcher call their memory
OPERATION = re.compile(r"(allreduce|allgather|broadcast|barrier|reduce) '[^']+'")


def environ(pid):
    try:
        return Path("/proc", pid, "environ").read_bytes()
    except OSError:
        return b""


def left_over(tag):
    """Processes of this trial are known by a variable in their environment."""
    return [p for p in os.listdir("/proc") if p.isdigit() and tag.encode() in environ(p)]


def wait_until_gone(tag):
    for _ in range(30):
        if not left_over(tag):
            return []
        time.sleep(0.1)
    return left_over(tag)


def names_rank(output, rank):
    # mpirun names a rank of a job [[number],rank], and by "rank N".
    return re.search(r"rank %d\b|ranks [\d, ]*\b%d\b|\],%d\]" % (rank, rank, rank), output) is not None


def judge(fault, moment, rank, status, seconds, output, checkpoint, program, tag, knows_starters):
    if status == 0:
        return "status 0"
    if seconds > DEADLINE + 10:
        return "took %.1f s" % seconds
    # Under mpirun a rank that hangs before its session is known to be missing, but not which one it is.
    anonymous = moment == "start" and fault in ("stop", "stuck") and not knows_starters
    if anonymous and not re.search(r"rank \d has waited for the other ranks to start", output):
        return "no message tells of the start"
    # Of an exit before the session only mpirun can tell, and it does not always say whose it was.
    told = moment == "start" and fault == "exit" and not knows_starters and "1 process returned\na non-zero exit code" in output
    if not anonymous and not told and not names_rank(output, rank):
        return "no message names rank %d" % rank
    # An exception and an exit say for themselves what it was; the launcher tells of a death before the session.
    if moment in ("middle", "last") and fault in ("kill", "stop", "stuck") and not OPERATION.search(output):
        return "no message names an operation"
    if wait_until_gone(tag):
        return "processes left: " + " ".join(left_over(tag))
    left = [name for name in os.listdir("/dev/shm") if MEMORY.search(name)]
    if left:
        return "left in /dev/shm: " + " ".join(left)
    if moment != "start" and subprocess.run([program, "check", checkpoint], capture_output=True).returncode != 0:
        return "the last checkpoint does not load"
    return None


def trial(launch, program, fault, moment, rank, step, number):
    tag = "HVD_TRIAL_TAG=%d-%d" % (os.getpid(), number)
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = str(Path(folder, "model.safetensors"))
        when = {"middle": str(step), "last": str(STEPS - 1)}.get(moment, moment)
        command = launch + [program, fault, when, str(rank), checkpoint]
        environment = dict(os.environ, HVD_DEADLINE=str(DEADLINE), OMP_NUM_THREADS="1", **dict([tag.split("=")]))
        start = time.monotonic()
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True,
                                  errors="replace", env=environment, timeout=60)
            status, output = done.returncode, done.stdout
        except subprocess.TimeoutExpired as error:
            status, output = 124, (error.stdout or b"").decode(errors="replace")
        seconds = time.monotonic() - start
        why = judge(fault, moment, rank, status, seconds, output, checkpoint, program, tag, launch[0].endswith("hvd-run"))
    what = "%s of rank %d, %s%s" % (fault, rank, moment, " (step %d)" % step if moment == "middle" else "")
    print("ok   " + what if why is None else "FAIL %s: %s" % (what, why), flush=True)
    if why is not None:
        print("\n".join("    | " + line for line in output.splitlines()[-20:]), flush=True)
    return why is None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bin")
    parser.add_argument("launcher")
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    arguments = parser.parse_args()
    generator = random.Random(arguments.seed)
    print("seed %d" % arguments.seed)
    program = str(Path(arguments.bin, "hvd-dist-trial"))
    if arguments.launcher == "hvd-run":
        launch = [str(Path(arguments.bin, "hvd-run")), "-n", str(RANKS)]
    else:
        launch = [arguments.launcher, "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "-np", str(RANKS)]
        os.environ["OMPI_ALLOW_RUN_AS_ROOT"] = os.environ["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
    drawn = []
    while len(drawn) < arguments.trials:
        round_ = list(itertools.product(FAULTS, MOMENTS))
        generator.shuffle(round_)
        drawn += round_
    good = [trial(launch, program, fault, moment, generator.randrange(RANKS), generator.randrange(1, STEPS - 1), number)
            for number, (fault, moment) in enumerate(drawn[:arguments.trials])]
    print("%d of %d trials end as they must" % (sum(good), len(good)))
    raise SystemExit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
