#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Speed and size, as ratios of runs on this machine.

usage: run.py [--build DIR] [--rounds N] [parse] [parse-torch] [overhead] [scaling] [torch-overhead] [torch-scaling] [torch-by-hand]
              [wrapper] [wrapper-torch] [train]

parse      hvdize on the examples against clang++-19 -fsyntax-only with the same flags, with headers as text, on the first run, which
           precompiles them, and with precompiled ones; peak memory
parse-torch  the same for LibTorch programs; skipped where the build has no LibTorch
overhead   the step of the distributed mnist_cnn on one rank against the sequential one
scaling    samples per second of two ranks with one core each against two uncoupled sequential programs, mnist_cnn
torch-...  programs of LibTorch (ninja bench-torch builds them): the step on one rank, a 60-layer perceptron; samples per second of
           two ranks against two uncoupled programs, ResNet-18 on 32 x 32 pictures, 32 per rank; and against the same program
           with one allreduce per parameter written by hand, the perceptron
wrapper    a file that does not train, compiled by hvdize-c++ and by the compiler behind it
train      steps of the networks that come with the core against the same ones on LibTorch (ninja bench-train builds both sides),
           with plain and with tuned malloc, 1 and 2 threads; memory; the share of oneDNN and BLAS; the loader of JPEG files
wrapper-torch  a LibTorch project of 20 files, 2 of which train, built with -j2 through hvdize-c++ and without; many minutes

Exit status 1 when a limit is missed. Needs a quiet machine.
"""
import argparse
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from measure import best_of, per_step, row, run, together  # noqa: E402
from training import train  # noqa: E402
from wrapper import wrapper_file, wrapper_torch  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent


def parse_one(build, rounds, folder, source, flags, limits):
    """One source: wall times against the compiler's. `limits`: of the analysis and of the whole with headers as text, of the run that
    precompiles them, of the analysis and of the whole with precompiled ones, and of the memory in MB or None."""
    hvdize = [str(build / "bin" / "hvdize"), str(source), "-o", str(Path(folder, "out.cpp")), "--quiet"]
    os.environ["HVDIZE_CACHE"] = str(Path(folder, "headers"))

    def measured(*options):
        return run([*hvdize, *options, "--", *flags], folder)[0]

    def first():
        shutil.rmtree(os.environ["HVDIZE_CACHE"], ignore_errors=True)
        return measured()

    clang, *times = best_of(
        rounds,
        lambda: run(["clang++-19", "-fsyntax-only", *flags, str(source)], folder)[0],
        lambda: measured("--no-cache", "--no-verify"),
        lambda: measured("--no-cache"),
        first,
        lambda: measured("--no-verify"),
        measured)
    print("%s: clang++-19 -fsyntax-only %.2f s, hvdize %.2f s, with precompiled headers %.2f s" % (source.stem, clang, times[1], times[4]))
    names = ("analysis, headers as text", "  with the verifying parse", "first run: precompiles the headers", "analysis, precompiled headers",
             "  with the verifying parse")
    good = all([row("  %s / clang++-19 -fsyntax-only" % name, time / clang, limit) for name, time, limit in zip(names, times, limits)])
    if limits[5]:
        good &= row("  peak memory", max(run([*hvdize, *o, "--", *flags], folder)[1] for o in ([], ["--no-cache"])), limits[5], " MB")
    return good


def parse(build, rounds, folder):
    flags = ["-std=c++20", "-I", str(ROOT / "runtime" / "include")]
    return all([parse_one(build, rounds, folder, ROOT / "examples" / (example + ".cpp"), flags, (1.3, 2.3, 2.3, 0.7, 1.1, 400))
                for example in ("mnist_mlp", "mnist_cnn")])


def parse_torch(build, rounds, folder):
    site = json.loads((build / "test" / "site.json").read_text())
    folders = dict.fromkeys(os.path.realpath(f) for f in site["torchIncludes"].split(":") if f)
    if not site["torch"]:
        print("parse-torch: skipped, this build has no LibTorch")
        return True
    flags = ["-std=c++" + site["torchStandard"]] + [word for f in folders if f != "/usr/include" for word in ("-isystem", f)]
    programs = ROOT / "test" / "e2e" / "programs" / "torch"
    return all([parse_one(build, rounds, folder, programs / (name + ".cpp"), flags, (0.55, 1.0, 1.0, 0.1, 0.2, None))
                for name in ("loader_template", "trainer_class")])


def trainer(build, name, steps, batch=64):
    samples = 250 * batch  # every measured run stays within its first epoch
    return [str(build / "bin" / name), "--epochs", "1", "--samples", str(samples), "--test-samples", "50", "--batch", str(batch),
            "--max-steps", str(steps), "--workers", "0"]


def overhead(build, rounds, folder):
    sequential, distributed = best_of(
        rounds,
        lambda: per_step(lambda n: run(trainer(build, "mnist_cnn_seq", n), folder)[0], 10, 110),
        lambda: per_step(lambda n: run(trainer(build, "mnist_cnn", n), folder)[0], 10, 110))
    print("mnist_cnn, one rank: %.2f ms per step, sequential %.2f ms" % (1000 * distributed, 1000 * sequential))
    return row("  step on one rank / sequential step", distributed / sequential, 1.02)


def scaling(build, rounds, folder):
    mpirun = shutil.which("mpirun.openmpi") or shutil.which("mpirun")
    if not mpirun:
        print("scaling: skipped, there is no mpirun")
        return True
    bound = [["taskset", "-c", str(core)] for core in (0, 1)]
    ranks = [mpirun, "--oversubscribe", "--bind-to", "core", "-np", "2"]
    uncoupled, coupled = best_of(
        rounds,
        lambda: per_step(lambda n: together([b + trainer(build, "mnist_cnn_seq", n) for b in bound], folder), 10, 110),
        lambda: per_step(lambda n: run(ranks + trainer(build, "mnist_cnn", n, 64), folder)[0], 10, 110))
    print("mnist_cnn, two ranks: %.2f ms per step, two uncoupled programs %.2f ms" % (1000 * coupled, 1000 * uncoupled))
    return row("  samples per second of two ranks / of two uncoupled programs", uncoupled / coupled, 0.92, at_most=False)


def torch_trainer(build, form, network, steps):
    # Every measured run is one pass over the data.
    return [str(build / "bin" / ("hvd-bench-torch" + form)), "--network", network, "--batch", "32", "--samples", str(64 * steps), "--max-steps", str(steps)]


def torch_ready(build, *forms):
    missing = [f for f in forms if not (build / "bin" / ("hvd-bench-torch" + f)).exists()]
    if missing or not (shutil.which("mpirun.openmpi") or shutil.which("mpirun")):
        print("torch: skipped, %s" % ("build the target bench-torch first" if missing else "there is no mpirun"))
        return False
    return True


def two_ranks(command):
    return [shutil.which("mpirun.openmpi") or shutil.which("mpirun"), "--oversubscribe", "--bind-to", "core", "-np", "2", *command]


def torch_overhead(build, rounds, folder):
    if not torch_ready(build, "", "-seq"):
        return True
    sequential, distributed = best_of(
        rounds,
        lambda: per_step(lambda n: run(torch_trainer(build, "-seq", "mlp", n), folder)[0], 20, 320),
        lambda: per_step(lambda n: run(torch_trainer(build, "", "mlp", n), folder)[0], 20, 320))
    print("LibTorch perceptron, one rank: %.2f ms per step, sequential %.2f ms" % (1000 * distributed, 1000 * sequential))
    return row("  step on one rank / sequential step", distributed / sequential, 1.02)


def torch_scaling(build, rounds, folder):
    if not torch_ready(build, "", "-seq"):
        return True
    bound = [["taskset", "-c", str(core)] for core in (0, 1)]
    uncoupled, coupled = best_of(
        rounds,
        lambda: per_step(lambda n: together([b + torch_trainer(build, "-seq", "resnet18", n) for b in bound], folder), 1, 5),
        lambda: per_step(lambda n: run(two_ranks(torch_trainer(build, "", "resnet18", n)), folder)[0], 1, 5))
    print("LibTorch ResNet-18, two ranks: %.0f ms per step, two uncoupled programs %.0f ms" % (1000 * coupled, 1000 * uncoupled))
    return row("  samples per second of two ranks / of two uncoupled programs", uncoupled / coupled, 0.92, at_most=False)


def torch_by_hand(build, rounds, folder):
    if not torch_ready(build, "", "-by-hand"):
        return True
    by_hand, ours = best_of(
        rounds,
        lambda: per_step(lambda n: run(two_ranks(torch_trainer(build, "-by-hand", "mlp", n)), folder)[0], 20, 220),
        lambda: per_step(lambda n: run(two_ranks(torch_trainer(build, "", "mlp", n)), folder)[0], 20, 220))
    print("LibTorch perceptron, two ranks: %.2f ms per step, with an allreduce per parameter %.2f ms" % (1000 * ours, 1000 * by_hand))
    return row("  samples per second / with an allreduce per parameter by hand", by_hand / ours, 1.2, at_most=False)


SUITES = {"parse": parse, "parse-torch": parse_torch, "overhead": overhead, "scaling": scaling, "torch-overhead": torch_overhead,
          "torch-scaling": torch_scaling, "torch-by-hand": torch_by_hand, "wrapper": wrapper_file, "wrapper-torch": wrapper_torch,
          "train": train}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=str(ROOT / "build"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("suites", nargs="*", help=" ".join(SUITES))
    arguments = parser.parse_args()
    good = True
    for name in arguments.suites or SUITES:
        if name not in SUITES:
            parser.error("unknown suite '%s'" % name)
        with tempfile.TemporaryDirectory() as folder:
            good &= SUITES[name](Path(arguments.build).resolve(), arguments.rounds, folder)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
