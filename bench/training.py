# SPDX-License-Identifier: Apache-2.0
"""Training steps of the core's networks against the same networks on LibTorch: bench/train holds both sides.

Runs of both sides take turns. Where one thread works, what counts is its processor time: other load on the machine adds to the time on the
clock, and less to that. With more threads it is the time on the clock, which is worth something on a quiet machine only.
"""
import json
import os
import statistics
import subprocess
import tempfile
from pathlib import Path

from measure import row

# What LibTorch gains most from: memory of a step stays with the process.
TUNED = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "-1", "MALLOC_TOP_PAD_": "600000000"}
STEPS = {"mlp": 60, "cnn_small": 30, "cnn_medium": 8, "resnet18": 3, "transformer_small": 4}
AT_LEAST = {"mlp": 1.5, "cnn_small": 1.5, "cnn_medium": 1.0, "resnet18": 1.0, "transformer_small": 1.0}
SIDES = (("core", "", {}), ("LibTorch", "-torch", {}), ("LibTorch, tuned malloc", "-torch", TUNED))
LIBRARIES = ("generated", "libdnnl", "libopenblas")


def side(build, suffix, network, threads, environment, *options):
    """What a run of one side prints."""
    command = [str(build / "bin" / ("hvd-bench-train" + suffix)), "--network", network, "--threads", str(threads), *options]
    limits = {"OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": str(threads)}
    done = subprocess.run(command, env={**os.environ, **limits, **environment}, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit("bench: status %d of %s\n%s" % (done.returncode, " ".join(command), done.stderr))
    return json.loads(done.stdout)


def same_work(build, network, folder):
    """From the same parameters, without dropout: are the first losses of both sides alike?"""
    weights = str(Path(folder, "weights.bin"))
    options = ("--losses", "yes", "--warm-up", "0", "--steps", "4")
    core = side(build, "", network, 1, {}, *options, "--write-weights", weights)
    peer = side(build, "-torch", network, 1, {}, *options, "--read-weights", weights)
    apart = max(abs(a - b) / max(1, abs(b)) for a, b in zip(core["losses"], peer["losses"]))
    good = core["parameters"] == peer["parameters"] and len(core["losses"]) == 4
    print("%s: %d parameters, LibTorch %d" % (network, core["parameters"], peer["parameters"]))
    return good & row("  losses of 4 steps from the same parameters: most apart", apart, 2e-3)


def compare(build, network, threads, rounds):
    """Rows of one network on so many threads."""
    clock = "processor" if threads == 1 else "wall"
    runs = {name: [] for name, _, _ in SIDES}
    for _ in range(rounds):
        for name, suffix, environment in SIDES:
            runs[name].append(side(build, suffix, network, threads, environment, "--steps", str(STEPS[network]), "--warm-up", "2"))
    middle = {name: statistics.median(r[clock] for r in of) for name, of in runs.items()}
    least = {name: min(r["least_" + clock] for r in of) for name, of in runs.items()}
    peak = {name: max(r["peak_mb"] for r in of) for name, of in runs.items()}
    print("%s, %d thread%s: ms per step, median (least): %s" % (network, threads, "s" if threads > 1 else "", "; ".join(
        "%s %.2f (%.2f)" % (name, 1000 * middle[name], 1000 * least[name]) for name in runs)))
    good = True
    for peer in list(runs)[1:]:
        good &= row("  %s / core" % peer, middle[peer] / middle["core"], AT_LEAST[network], at_most=False)
        row("  %s / core, of the least" % peer, least[peer] / least["core"], AT_LEAST[network], at_most=False)
    return good & row("  peak memory / LibTorch's", peak["core"] / min(peak[name] for name in list(runs)[1:]), 1)


def primitive_share(build, network="resnet18"):
    """Where the core's processor time goes, by samples of the instruction at hand."""
    samples = side(build, "", network, 1, {}, "--steps", "5", "--warm-up", "1", "--sampled", "yes")["samples"]
    inside = sum(count for library, count in samples.items() if library.startswith(LIBRARIES))
    return row("%s: share of the time inside oneDNN and BLAS (%d samples)" % (network, sum(samples.values())), inside / sum(samples.values()), 0.8,
               at_most=False)


def roofline(build, network, rounds):
    """A step's convolutions and products alone, in oneDNN's own layouts, against the whole step."""
    parts, whole = [], []
    for _ in range(rounds):
        whole.append(side(build, "", network, 1, {}, "--steps", str(STEPS[network]), "--warm-up", "2")["least_processor"])
        parts.append(side(build, "-roofline", network, 1, {}, "--steps", str(STEPS[network]), "--warm-up", "2")["least_processor"])
    print("  %s: oneDNN's primitives alone %.2f ms, %.0f %% of the core's step" % (network, 1000 * min(parts), 100 * min(parts) / min(whole)), flush=True)


def loading(build, rounds):
    """Samples per second of a folder of JPEG files with augmentation, and what ResNet-18 takes on one thread."""
    runs = {1: [], 2: []}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds):
            for workers, of in runs.items():
                of.append(side(build, "", "resnet18", 1, {}, "--loader", folder, "--workers", str(workers)))
    rates = {workers: max(r["rate"] for r in of) for workers, of in runs.items()}
    processor = max(r["rate_of_processor"] for r in runs[1])
    demand = 32 / min(side(build, "", "resnet18", 1, {}, "--steps", "3", "--warm-up", "1")["least_processor"] for _ in range(2))
    print("JPEG folder, 120 x 160 to 32 x 32, cropped and flipped at random: %.0f samples/s with 1 worker, %.0f with 2, %.0f per second of processor time; "
          "ResNet-18 takes %.0f on one thread" % (rates[1], rates[2], processor, demand))
    good = row("  two workers / one, by the clock", rates[2] / rates[1], 1.6, at_most=False)
    return good & row("  samples per second of processor time / what ResNet-18 takes of it", processor / demand, 1, at_most=False)


def train(build, rounds, folder):
    missing = [s for s in ("", "-torch", "-roofline") if not (build / "bin" / ("hvd-bench-train" + s)).exists()]
    if missing:
        print("train: skipped, build the target bench-train first; it needs LibTorch, oneDNN and libjpeg")
        return True
    good = all([same_work(build, network, folder) for network in STEPS])
    for threads in (1, 2):
        good &= all([compare(build, network, threads, rounds) for network in STEPS])
    good &= primitive_share(build)
    for network in STEPS:
        roofline(build, network, rounds)
    return good & loading(build, rounds)
