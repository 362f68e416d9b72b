#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills trainers at random moments and resumes them: a run must end with the bits of one that was left alone, and on another number of ranks
with its numbers up to the order of sums.

usage: resume_test.py BIN [KILLS] [SEED]     BIN: folder with the built examples; KILLS: how many runs are killed (50)

Kills come at any moment from the start of the process on; every second one waits until a checkpoint is being written. Prints "ok", "FAIL" or
"skip" and what was found for each trainer; status 1 after a failure.
"""
import json
import os
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# Small, and with a checkpoint after each step: the moments of writing are hit often. Scale of the loss included, and runs that end inside of an epoch.
TRAINERS = {
    "helenna_seq": ["--network", "cnn_medium", "--shape", "1x8x8", "--samples", "96", "--test-samples", "10", "--batch", "8", "--epochs", "2", "--augment",
                    "--max-steps", "23", "--precision", "fp16", "--save-every", "1", "--report", "1000"],
    "language_model_seq": ["--bytes", "4000", "--length", "16", "--dim", "16", "--vocabulary", "280", "--batch", "8", "--epochs", "2", "--save-every", "1",
                           "--report", "1000"],
    "text_classifier_seq": ["--samples", "60", "--test-samples", "10", "--length", "12", "--layers", "2", "--dim", "16", "--terms", "60", "--batch", "4",
                            "--epochs", "2", "--save-every", "1", "--report", "1000"],
    "gan_seq": ["--samples", "64", "--width", "4", "--noise", "8", "--batch", "8", "--epochs", "2", "--max-steps", "15", "--save-every", "1", "--report", "1000"],
    "mnist_mlp_seq": ["--samples", "64", "--test-samples", "20", "--batch", "8", "--epochs", "12", "--patience", "4", "--save-every", "1"],
    "mnist_cnn_seq": ["--samples", "24", "--test-samples", "10", "--batch", "8", "--epochs", "8", "--patience", "4", "--save-every", "1"],
}
# How to name the checkpoint that is continued from, and, where that is asked for, the one that is written.
CHECKPOINTS = {
    "gan_seq": ("generator.safetensors", "--resume {folder}/"),
    "mnist_mlp_seq": ("last.safetensors", "--resume {folder}/last.safetensors", "--save {folder}/last.safetensors"),
    "mnist_cnn_seq": ("last.safetensors", "--resume {folder}/last.safetensors", "--save {folder}/last.safetensors"),
}
DEFAULT = ("last.safetensors", "--resume {folder}/last.safetensors")
# An epoch of 40 steps: who looks late still finds most runs inside of one.
OTHER_RANKS = ["--network", "cnn_small", "--shape", "1x12x12", "--samples", "400", "--test-samples", "20", "--batch", "10", "--epochs", "2", "--augment",
               "--dtype", "float64", "--save-every", "1", "--report", "1000"]
TOLERANCE = 1e-10


def start(program, arguments, folder, prefix=(), **options):
    checkpoint, resume, *always = CHECKPOINTS.get(program.name, DEFAULT)
    if Path(folder, checkpoint).exists():
        always.append(resume)
    more = [word for option in always for word in option.format(folder=folder).split()]
    return subprocess.Popen([*prefix, str(program), *arguments, "--out", folder + "/", *more], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                            **options)


def finish(process):
    errors = process.communicate(timeout=300)[1]
    if process.returncode != 0:
        raise RuntimeError("the trainer ended with status %d: %s" % (process.returncode, errors))


def checkpoints(folder):
    """What a run leaves, without the files that a kill cut off."""
    return {path.name: path.read_bytes() for path in Path(folder).glob("*.safetensors")}


def undisturbed(program, arguments):
    with tempfile.TemporaryDirectory() as folder:
        begin = time.monotonic()
        finish(start(program, arguments, folder))
        return checkpoints(folder), time.monotonic() - begin


def wait_for_writing(process, folder, limit):
    """Until a file beside the last checkpoint is being written, or the time is over."""
    end = time.monotonic() + limit
    while process.poll() is None and time.monotonic() < end:
        if any(not name.endswith((".safetensors", ".csv")) for name in os.listdir(folder)):
            return


class Span:
    """How long after its start a run is killed at the latest, in seconds. The first run may have met a busy machine: one that ended before its kill
    makes the span shorter, one that was killed makes it longer, so that about half of the kills find a run at any speed."""

    def __init__(self, duration):
        self.seconds = duration

    def learn(self, was_killed):
        self.seconds *= 1.25 if was_killed else 0.8


def disturbed(program, arguments, span, dice, kills):
    """The checkpoints of a run that was killed up to so often, and how often it was."""
    killed = 0
    with tempfile.TemporaryDirectory() as folder:
        for i in range(kills):
            process = start(program, arguments, folder)
            time.sleep(dice.uniform(0, span.seconds / (2 if i % 2 else 1)))
            if i % 2:
                wait_for_writing(process, folder, span.seconds / 4)
            alive = process.poll() is None
            process.kill()
            process.communicate()
            killed += alive
            span.learn(alive)
        finish(start(program, arguments, folder))
        return checkpoints(folder), killed


def same_bits(program, arguments, dice, kills):
    wanted, duration = undisturbed(program, arguments)
    span = Span(duration)
    killed = runs = different = 0
    while killed < kills and runs < 4 * kills:
        found, count = disturbed(program, arguments, span, dice, min(4, kills - killed))
        killed += count
        runs += 1
        different += found != wanted
    good = different == 0 and killed >= kills
    print("%s %s: %d runs, killed %d times, %d ended with other bits" % ("ok  " if good else "FAIL", program.name, runs, killed, different), flush=True)
    return good


def tensors(content):
    """The float64 tensors of a safetensors file, and its metadata."""
    length = struct.unpack_from("<Q", content)[0]
    header = json.loads(content[8:8 + length])
    found = {}
    for name, entry in header.items():
        if name != "__metadata__" and entry["dtype"] == "F64":
            first, last = (8 + length + at for at in entry["data_offsets"])
            found[name] = struct.unpack("<%dd" % ((last - first) // 8), content[first:last])
    return found, header["__metadata__"]


def ranks(program, number, folder):
    launcher = ["mpirun", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "-np", str(number)]
    return start(program, OTHER_RANKS, folder, launcher, start_new_session=True, env={**os.environ, "HVD_BATCH": "global"})


def left_inside(program, number, folder):
    """Kills a run on so many ranks in the middle of an epoch; the metadata of its last checkpoint, None when it was at the end of an epoch or
    had ended."""
    process = ranks(program, number, folder)
    checkpoint, deadline = Path(folder, "last.safetensors"), time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        if checkpoint.exists() and int(tensors(checkpoint.read_bytes())[1]["step"]) >= 4:
            break
        time.sleep(0.01)
    inside = process.poll() is None
    os.killpg(process.pid, signal.SIGKILL) if inside else None
    errors = process.communicate()[1]
    if not inside and process.returncode != 0:
        raise RuntimeError("the trainer ended with status %d: %s" % (process.returncode, errors))
    left_at = tensors(checkpoint.read_bytes())[1]
    return left_at if inside and left_at["extra.pass"] else None


def other_ranks(sequential, program, first, second):
    """A run on `first` ranks is killed in the middle of an epoch and goes on with `second`."""
    wanted = tensors(undisturbed(sequential, OTHER_RANKS)[0]["last.safetensors"])
    left_at = None
    for trial in range(10):
        with tempfile.TemporaryDirectory() as folder:
            left_at = left_inside(program, first, folder)
            if left_at:  # else the machine was too busy to look in time: another run
                finish(ranks(program, second, folder))
                found = tensors(Path(folder, "last.safetensors").read_bytes())
                break
    if not left_at:
        print("FAIL %s: no run on %d ranks could be killed in the middle of an epoch" % (program.name, first), flush=True)
        return False
    worst = 0
    for name, values in wanted[0].items():
        scale = max(map(abs, values)) or 1
        worst = max(worst, max(abs(a - b) for a, b in zip(values, found[0][name])) / scale)
    good = worst <= TOLERANCE and found[0].keys() == wanted[0].keys() and found[1]["step"] == wanted[1]["step"]
    print("%s %s: left on %d ranks after step %s, continued on %d: largest relative difference %.1e" % (
        "ok  " if good else "FAIL", program.name, first, left_at["step"], second, worst), flush=True)
    return good


def main():
    folder, kills = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 50
    dice = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    good = True
    for i, (name, arguments) in enumerate(TRAINERS.items()):
        share = kills // len(TRAINERS) + (i < kills % len(TRAINERS))
        good = same_bits(folder / name, arguments, dice, share) and good
    if (folder / "helenna").exists():
        good = other_ranks(folder / "helenna_seq", folder / "helenna", 3, 2) and good
        good = other_ranks(folder / "helenna_seq", folder / "helenna", 1, 3) and good
    else:
        print("skip helenna on another number of ranks: the distributed examples are not part of this build")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
