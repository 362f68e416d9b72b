#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the time between two means of the replicas costs and gains: network x period x ranks x batch.

usage: run.py --build DIR --data FOLDER --out FOLDER [--networks mlp,...] [--periods step,1,4,...] [--ranks 2,...] [--batches 32,...]
              [--epochs N] [--samples N] [--test-samples N] [--lr RATE] [--momentum M] [--seeds N] [--mode global|per-rank] [--launcher hvd-run|MPIRUN]

Trains the example `helenna` (ninja helenna) on FOLDER, a data set in the format of MNIST, and writes period.csv, time.svg, accuracy.svg and, with what each
epoch has come to, curves.csv. A period is a rule of HVD_SYNC=periodic:RULE, another value of HVD_SYNC (`step`, `post-local:100:16`, `parameter-server`), or
`sequential`: one rank. Calls and bytes are those of gradients and parameters, of one rank, as HVD_TRACE counts them;
seconds are those of the training loop on the root, from its trace, without start and evaluation. Of several seeds the means are taken. The defaults run in
minutes on two cores. Runs of different periods are interleaved, so that other load falls on all of them alike."""
import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import plot

COLUMNS = ["network", "period", "ranks", "batch", "epochs", "samples", "seconds", "accuracy", "loss", "calls", "bytes"]
CURVES = ["network", "period", "ranks", "batch", "seed", "epoch", "accuracy", "loss"]
EXCHANGES = ("allreduce gradients", "allreduce parameters", "reduce gradients", "broadcast parameters")
STRATEGIES = ("step", "parameter-server", "post-local:")


def strategy(period):
    """What HVD_SYNC is to be."""
    if period == "sequential":
        return "step"
    return period if period.startswith(STRATEGIES) else "periodic:" + period


def of_trace(path):
    """Seconds of the loop, calls and bytes, of the root."""
    mine = [e for e in json.loads(path.read_text())["traceEvents"] if e["pid"] == 0 and e["ph"] == "X"]
    trained = [e for e in mine if e["cat"] == "phase" and e["name"] in ("backward", "reduce gradients", "update", "rest of the step")]
    batches = {e["args"]["batch"] for e in trained}
    # Loading and forward of the batches that were trained on; those of an evaluation have no backward.
    phases = trained + [e for e in mine if e["cat"] == "phase" and e["name"] in ("loading", "forward") and e["args"]["batch"] in batches]
    exchanges = [e for e in mine if e["cat"] == "collective" and e["name"] in EXCHANGES]
    waits = sum(e["dur"] for e in mine if e["name"] == "wait for parameters")
    inside = sum(e["dur"] for e in mine if e["name"] == "allreduce parameters" and any(
        p["ts"] <= e["ts"] and e["ts"] + e["dur"] <= p["ts"] + p["dur"] for p in phases))
    seconds = (sum(e["dur"] for e in phases) + max(0, waits - inside)) * 1e-6
    return seconds, len(exchanges), sum(e["args"]["bytes"] for e in exchanges)


def train(arguments, network, period, ranks, batch, seed, curves):
    if period == "sequential":
        ranks = 1
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = Path(arguments.build, "bin", "helenna")
        launcher = [str(Path(arguments.build, "bin", "hvd-run")), "-n", str(ranks)]
        if arguments.launcher != "hvd-run":
            launcher = [arguments.launcher, "--oversubscribe", "-np", str(ranks)]
        command = launcher + [str(program), "--network", network, "--dataset", "mnist", "--data", arguments.data, "--epochs", str(arguments.epochs),
                              "--batch", str(batch), "--lr", str(arguments.lr), "--momentum", str(arguments.momentum), "--samples", str(arguments.samples), "--test-samples",
                              str(arguments.test_samples), "--seed", str(seed), "--workers", "0", "--report", "1000000", "--out", str(folder / "run")]
        environment = {**os.environ, "HVD_TRACE": str(folder / "trace.json"), "HVD_BATCH": arguments.mode, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
                       "HVD_SYNC": strategy(period)}
        job = subprocess.run(command, env=environment, capture_output=True, text=True)
        if job.returncode != 0:
            raise SystemExit("run.py: status %d of %s\n%s" % (job.returncode, " ".join(command), job.stdout[-1000:] + job.stderr[-2000:]))
        log = next(folder.glob("run*.csv"))
        epochs = list(csv.DictReader(log.open()))
        for epoch in epochs:
            curves.append(dict(zip(CURVES, [network, period, ranks, batch, seed, epoch["epoch"], epoch["test_accuracy"], epoch["test_loss"]])))
        last = epochs[-1]
        return [*of_trace(folder / "trace.json"), float(last["test_accuracy"]), float(last["test_loss"])]


def study(arguments):
    rows, curves = [], []
    for network in arguments.networks:
        for ranks in arguments.ranks:
            for batch in arguments.batches:
                totals = {period: [0.0] * 5 for period in arguments.periods}
                for seed in range(1, arguments.seeds + 1):
                    for period in arguments.periods:
                        totals[period] = [a + b for a, b in zip(totals[period], train(arguments, network, period, ranks, batch, seed, curves))]
                for period in arguments.periods:
                    seconds, calls, size, accuracy, loss = (total / arguments.seeds for total in totals[period])
                    row = [network, period, 1 if period == "sequential" else ranks, batch, arguments.epochs, arguments.samples, "%.3f" % seconds, "%.4f" % accuracy, "%.4f" % loss, "%g" % calls,
                           "%d" % size]
                    rows.append(dict(zip(COLUMNS, row)))
                    print(" ".join("%12s" % value for value in row), flush=True)
    return rows, curves


def write(arguments, rows, curves):
    out = Path(arguments.out)
    out.mkdir(parents=True, exist_ok=True)
    for name, columns, table in (("period.csv", COLUMNS, rows), ("curves.csv", CURVES, curves)):
        with open(out / name, "w", newline="") as file:
            writer = csv.DictWriter(file, columns, lineterminator="\n")
            writer.writeheader()
            writer.writerows(table)
    for column, label in (("seconds", "seconds of training"), ("accuracy", "test accuracy")):
        lines = {}
        for row in rows:
            lines.setdefault("%(network)s, %(ranks)s ranks, batch %(batch)s" % row, []).append((row["period"], float(row[column])))
        name = "time" if column == "seconds" else column
        (out / (name + ".svg")).write_text(plot.svg("%s after %d epochs of %d samples" % (label, arguments.epochs, arguments.samples), label, arguments.periods, lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words = lambda text: text.split(",")
    numbers = lambda text: [int(word) for word in text.split(",")]
    parser.add_argument("--build", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--networks", type=words, default=["mlp"])
    parser.add_argument("--periods", type=words, default=["step", "1", "2", "4", "8", "16", "32", "64"])
    parser.add_argument("--ranks", type=numbers, default=[2])
    parser.add_argument("--batches", type=numbers, default=[64])
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--samples", type=int, default=12000)
    parser.add_argument("--test-samples", type=int, default=5000)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--momentum", type=float, default=0.9)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--mode", choices=("global", "per-rank"), default="global")
    parser.add_argument("--launcher", default="hvd-run")
    arguments = parser.parse_args()
    print(" ".join("%12s" % name for name in COLUMNS))
    write(arguments, *study(arguments))
    return 0


if __name__ == "__main__":
    sys.exit(main())
