#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills a trainer at random moments and resumes it: the run must end with the bits of one that was left alone.

usage: resume_test.py PROGRAM [TIMES] [SEED]      PROGRAM: the built example helenna_seq; TIMES: runs that are killed (50)

Each run is killed up to three times, the last part runs to the end. Prints "ok" or "FAIL" and what was different; status 1 then.
"""
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ARGUMENTS = ["--network", "cnn_medium", "--shape", "1x8x8", "--samples", "120", "--test-samples", "20", "--batch", "8", "--epochs", "3", "--augment",
             "--save-every", "2", "--report", "1000"]
KILLS = 3


def start(program, folder):
    checkpoint = Path(folder, "last.safetensors")
    resume = ["--resume", str(checkpoint)] if checkpoint.exists() else []
    return subprocess.Popen([program, *ARGUMENTS, "--out", folder + "/", *resume], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def finish(process):
    errors = process.communicate(timeout=300)[1]
    if process.returncode != 0:
        raise RuntimeError("the trainer ended with status %d: %s" % (process.returncode, errors))


def undisturbed(program):
    with tempfile.TemporaryDirectory() as folder:
        begin = time.monotonic()
        finish(start(program, folder))
        return Path(folder, "last.safetensors").read_bytes(), time.monotonic() - begin


def disturbed(program, duration, dice):
    """The last checkpoint of a run that was killed, and how often it was."""
    kills = 0
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(KILLS):
            process = start(program, folder)
            time.sleep(dice.uniform(0, duration))
            if process.poll() is None:
                kills += 1
            process.kill()
            process.communicate()
        finish(start(program, folder))
        return Path(folder, "last.safetensors").read_bytes(), kills


def main():
    program, times = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 50
    dice = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    wanted, duration = undisturbed(program)
    kills = different = 0
    for _ in range(times):
        found, count = disturbed(program, duration, dice)
        kills += count
        different += found != wanted
    good = different == 0 and kills > 0
    print("%s %d runs, killed %d times, %d ended with other bits" % ("ok  " if good else "FAIL", times, kills, different))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
