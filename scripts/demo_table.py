#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The last table of the demo, from the rows that hvd-verify has collected.

usage: demo_table.py ROWS       a row: "program|numbers|mode", ranks, standard output, files, largest difference, where, verdict

float64 must keep to the promise (on one rank every byte, on more 1e-10); float32 is reported, and must be exact on one rank.
Exit status 1 when a promise is not kept.
"""
import sys
from pathlib import Path

HEAD = ("program", "numbers", "mode", "ranks", "standard output", "files", "largest relative difference", "of tensor", "limit", "verdict")


def judge(label, cells):
    """The cells of the table's row and whether a promise is broken."""
    program, numbers, mode = label.split("|")
    ranks, output, files, difference, where, verdict = cells
    if ranks == "1":
        limit, promised = "0", True
    elif numbers == "float64":
        limit, promised = "1e-10", True
    else:
        limit, promised = "-", False
    kept = verdict == "equal"
    shown = verdict if promised or verdict == "FAILED" else "reported"
    broken = (promised and not kept) or verdict == "FAILED"
    return (program, numbers, mode, ranks, output, files, difference, where, limit, shown), broken


def main():
    rows, broken = [HEAD], 0
    for line in Path(sys.argv[1]).read_text().splitlines():
        label, *cells = line.split("\t")
        row, bad = judge(label, cells)
        rows.append(row)
        broken += bad
    widths = [max(len(row[c]) for row in rows) for c in range(len(HEAD))]
    for number, row in enumerate(rows):
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
        if number == 0:
            print("  ".join("-" * width for width in widths))
    if len(rows) == 1:
        print("nothing was compared")
    elif broken:
        print("%d of %d comparisons do NOT keep the promise" % (broken, len(rows) - 1))
    else:
        print("every promise is kept: the distributed programs are the same training")
    return 1 if broken or len(rows) == 1 else 0


if __name__ == "__main__":
    sys.exit(main())
