#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The last table of the demo, from the rows that hvd-verify has collected and the logs of the sequential trainers.

usage: demo_table.py ROWS [PROGRAM/log.csv...]       a row: "program|numbers|mode", ranks, standard output, files, largest difference, where, verdict

Judged: one rank, every byte; float64 on more ranks, 1e-10; the first steps of float32, 1e-5; gradients of one float32 step against
float64, 1e-5; that each sequential training is long
enough to tell (300 steps) and learns (its loss halves). Float32 over a whole training is reported.
Exit status 1 when a promise is not kept.
"""
import csv
import sys
from pathlib import Path

HEAD = ("program", "numbers", "mode or slices", "ranks", "standard output", "files", "largest relative difference", "of tensor", "limit", "verdict")


def limit_of(numbers, ranks):
    """The largest difference that is promised; None when it is reported only."""
    if numbers.startswith("float32 gradients"):
        return "1e-5"
    if ranks == "1":
        return "0"
    return {"float64": "1e-10", "float32, 5 steps": "1e-5"}.get(numbers)


def judge(label, cells):
    """The cells of the table's row and whether a promise is broken."""
    program, numbers, mode = label.split("|")
    ranks, output, files, difference, where, verdict = cells
    limit = limit_of(numbers, ranks)
    shown = verdict if limit or verdict == "FAILED" else "reported"
    broken = verdict == "FAILED" or (limit is not None and verdict != "equal")
    return (program, numbers, mode, ranks, output, files, difference, where, limit or "-", shown), broken


def training(log):
    """One line on a sequential training and whether it is long enough and learns."""
    with open(log, newline="") as file:
        epochs = list(csv.DictReader(file))
    steps, first, last = int(epochs[-1]["step"]), float(epochs[0]["train_loss"]), float(epochs[-1]["train_loss"])
    good = steps >= 300 and last <= first / 2
    print("%s: %d steps, training loss %.4f in the first epoch, %.4f in the last%s" % (
        Path(log).parent.name, steps, first, last, "" if good else "  TOO LITTLE to compare"))
    return good


def print_table(rows):
    widths = [max(len(row[c]) for row in rows) for c in range(len(HEAD))]
    for number, row in enumerate(rows):
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
        if number == 0:
            print("  ".join("-" * width for width in widths))


def main():
    rows, broken = [HEAD], 0
    for line in Path(sys.argv[1]).read_text().splitlines():
        label, *cells = line.split("\t")
        row, bad = judge(label, cells)
        rows.append(row)
        broken += bad
    learned = all([training(log) for log in sys.argv[2:]])
    print_table(rows)
    if len(rows) == 1:
        print("nothing was compared")
    elif broken:
        print("%d of %d comparisons do NOT keep the promise" % (broken, len(rows) - 1))
    elif learned:
        print("every promise is kept: the distributed programs are the same training")
    return 1 if broken or len(rows) == 1 or not learned else 0


if __name__ == "__main__":
    sys.exit(main())
