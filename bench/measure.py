# SPDX-License-Identifier: Apache-2.0
"""How the benchmarks measure: the best of several alternating runs, because other load can only add time."""
import os
import subprocess
import time
from collections import namedtuple

Run = namedtuple("Run", "seconds megabytes processor")  # wall seconds, peak memory, processor seconds with those of its children

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def run(command, cwd):
    """What one run took, which must succeed."""
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=cwd, env={**os.environ, **ONE_THREAD}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE)
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit("bench: status %d of %s\n%s" % (process.returncode, " ".join(map(str, command)), errors.decode(errors="replace")))
    return Run(seconds, usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime)


def together(commands, cwd):
    """Wall seconds until the last of several programs that are started at once has ended."""
    start = time.perf_counter()
    processes = [subprocess.Popen(c, cwd=cwd, env={**os.environ, **ONE_THREAD}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) for c in commands]
    statuses = [p.wait() for p in processes]
    if any(statuses):
        raise SystemExit("bench: status %d of %s" % (max(statuses, key=abs), commands[0]))
    return time.perf_counter() - start


def best_of(rounds, *measurements):
    """Calls each measurement in turn, `rounds` times; the smallest result of each (of tuples, by the first number)."""
    results = [[] for _ in measurements]
    for _ in range(rounds):
        for result, measurement in zip(results, measurements):
            result.append(measurement())
    return [min(result) for result in results]


def per_step(run_steps, short, long):
    """Seconds of one step, start-up and evaluation taken out: from a run of few and a run of many steps."""
    return (run_steps(long) - run_steps(short)) / (long - short)


def row(name, value, limit, unit="", at_most=True):
    """Prints one line; whether the limit is kept."""
    good = value <= limit if at_most else value >= limit
    print("%-66s %8.3f%s  (%s %g%s)  %s" % (name, value, unit, "at most" if at_most else "at least", limit, unit, "ok" if good else "MISSED"), flush=True)
    return good
