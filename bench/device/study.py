#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CPU against GPU: matrix products and convolutions over sizes, on every device there is.

usage: study.py [--build DIR] [--out FOLDER] [--seconds PER_MEASUREMENT] [--quick]

Runs hvd-bench-device (ninja hvd-bench-device) and writes device-study.md (tables), device-study.json and device-study.svg (rates of the matrix products).
Devices that this machine lacks are named with the reason.
"""
import argparse
import json
import subprocess
import sys
from pathlib import Path

COLOURS = {"cpu": "#777777", "onednn": "#1f77b4", "cublas": "#2ca02c", "cudnn": "#d62728"}


def parse(output):
    """The measurements among the lines of hvd-bench-device."""
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


def shown(row):
    """What of a measurement is of interest: its rate, or its time."""
    if row["flops"]:
        return "%.3g GFLOP/s" % (row["flops"] / row["seconds"] / 1e9)
    if row["bytes"]:
        return "%.3g GB/s" % (row["bytes"] / row["seconds"] / 1e9)
    batch = int(row["shape"].rsplit(" ", 1)[-1])
    return "%.4g samples/s" % (batch / row["seconds"])


def tables(rows):
    """One Markdown table for each operation and dtype: shapes down, devices across."""
    lines = []
    for operation, dtype in dict.fromkeys((r["operation"], r["dtype"]) for r in rows):
        chosen = [r for r in rows if (r["operation"], r["dtype"]) == (operation, dtype)]
        devices = list(dict.fromkeys(r["device"] for r in chosen))
        lines += ["### %s, %s" % (operation, dtype), "", "| shape | " + " | ".join(devices) + " |", "| --- |" + " ---: |" * len(devices)]
        for shape in dict.fromkeys(r["shape"] for r in chosen):
            by_device = {r["device"]: "%s (%.3g ms)" % (shown(r), r["seconds"] * 1e3) for r in chosen if r["shape"] == shape}
            lines.append("| %s | %s |" % (shape, " | ".join(by_device.get(d, "-") for d in devices)))
        lines.append("")
    return lines + shares_of_copying(rows) + noted_steps(rows)


def shares_of_copying(rows):
    """What only moves memory, against a copy on the same device in the same run."""
    moving = [r for r in rows if r["bytes"] and not r["flops"]]
    copies = {(r["device"], r["dtype"]): r["bytes"] / r["seconds"] for r in moving if r["operation"] == "copy"}
    lines = []
    for (device, dtype), rate in copies.items():
        shares = ["%s %.0f %%" % (r["operation"], 100 * r["bytes"] / r["seconds"] / rate) for r in moving
                  if (r["device"], r["dtype"]) == (device, dtype) and r["operation"] != "copy"]
        lines.append("- share of the rate of a copy, %s, %s: %s" % (device, dtype, ", ".join(shares)))
    return lines + [""] * bool(lines)


def noted_steps(rows):
    """How much sooner a step is done when it has been noted (hvd::StepGraph) than as it is, measured in the same run."""
    took = {(r["operation"], r["device"], r["shape"]): r["seconds"] for r in rows}
    ratios = [(shape, device, took[("training step", device, shape)] / seconds) for (operation, device, shape), seconds in took.items()
              if operation == "training step, noted" and ("training step", device, shape) in took]
    lines = ["- steps of %s on %s: noted %.2f times as fast as run each time" % ratio for ratio in ratios]
    return lines + [""] if lines else []


def figure(rows):
    """Rates of the square matrix products over their size, both axes logarithmic; a line for each device and dtype."""
    import math
    products = [r for r in rows if r["operation"] == "matmul"]
    if not products:
        return None
    points = [(int(r["shape"].split("x")[0]), r["flops"] / r["seconds"] / 1e9, (r["device"], r["dtype"])) for r in products]
    low_x, high_x = math.log2(min(p[0] for p in points)), math.log2(max(p[0] for p in points))
    low_y, high_y = math.floor(math.log10(min(p[1] for p in points))), math.ceil(math.log10(max(p[1] for p in points)) + 1e-9)

    def place(n, rate):
        return (70 + 480 * (math.log2(n) - low_x) / max(high_x - low_x, 1), 330 - 290 * (math.log10(rate) - low_y) / max(high_y - low_y, 1))

    parts = ['<svg xmlns="http://www.w3.org/2000/svg" width="720" height="380" font-family="sans-serif" font-size="12">',
             '<rect width="720" height="380" fill="white"/>', '<text x="310" y="370" text-anchor="middle">side of the matrices</text>',
             '<text x="16" y="185" text-anchor="middle" transform="rotate(-90 16 185)">GFLOP/s</text>']
    for exponent in range(low_y, high_y + 1):
        y = place(2 ** low_x, 10.0 ** exponent)[1]
        parts.append('<line x1="70" x2="550" y1="%.1f" y2="%.1f" stroke="#dddddd"/><text x="62" y="%.1f" text-anchor="end">%g</text>' % (y, y, y + 4, 10.0 ** exponent))
    for n in sorted({p[0] for p in points}):
        x = place(n, 10.0 ** low_y)[0]
        parts.append('<text x="%.1f" y="348" text-anchor="middle">%d</text>' % (x, n))
    for i, series in enumerate(dict.fromkeys(p[2] for p in points)):
        line = sorted(p[:2] for p in points if p[2] == series)
        colour, dash = COLOURS[series[0]], ' stroke-dasharray="6 3"' if series[1] != "float32" else ""
        parts.append('<polyline fill="none" stroke="%s" stroke-width="2"%s points="%s"/>' % (
            colour, dash, " ".join("%.1f,%.1f" % place(*p) for p in line)))
        parts.append('<text x="560" y="%d" fill="%s">%s, %s</text>' % (50 + 18 * i, colour, *series))
    return "\n".join(parts + ["</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    root = Path(__file__).resolve().parent.parent.parent
    parser.add_argument("--build", type=Path, default=root / "build")
    parser.add_argument("--out", type=Path, default=Path("."))
    parser.add_argument("--seconds", default="0.2")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    program = arguments.build / "bin" / "hvd-bench-device"
    if not program.exists():
        sys.exit("study.py: there is no '%s': ninja -C %s hvd-bench-device" % (program, arguments.build))
    done = subprocess.run([str(program), "--seconds", arguments.seconds] + ["--quick"] * arguments.quick, capture_output=True, text=True)
    rows = parse(done.stdout)
    if done.returncode != 0 or not rows:
        sys.exit("study.py: %s ended with status %d: %s" % (program.name, done.returncode, done.stderr.strip()))
    gpu = next((line[5:] for line in done.stderr.splitlines() if line.startswith("GPU: ")), "unknown")
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / "device-study.json").write_text(json.dumps({"gpu": gpu, "measurements": rows}, indent=1) + "\n")
    (arguments.out / "device-study.md").write_text("\n".join(["# Devices compared", "", "GPU: %s." % gpu, ""] + tables(rows)) + "\n")
    (arguments.out / "device-study.svg").write_text(figure(rows) or "")
    print("%d measurements of %s; see %s" % (len(rows), ", ".join(dict.fromkeys(r["device"] for r in rows)), arguments.out / "device-study.md"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
