#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Training curves of the examples on real data, against models without a network on the same data.

usage: curves.py --build DIR --data FOLDER --runs FOLDER --out FOLDER [--only cnn,language_model,text_classifier]

DIR needs the programs helenna_seq, language_model_seq, text_classifier_seq and hvd-bench-baselines (ninja targets). FOLDER of the data holds fashion-mnist,
tinyshakespeare and imdb-sub. What the trainers write is kept in the folder of the runs: a run that is there is continued, or read when it is complete.
Writes a CSV file and a figure for each, prints one table; status 1 when a network is not better than what it must beat.

The last epoch counts, not the best one: settings are to be chosen on parts of the training sets, never on the test sets that are drawn here."""
import argparse
import csv
import os
import subprocess
import sys
from pathlib import Path

import plot

ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
VOCABULARY, LENGTH = "512", "64"


def output_of(command):
    job = subprocess.run([str(word) for word in command], env=ENVIRONMENT, capture_output=True, text=True)
    if job.returncode != 0:
        raise SystemExit("curves.py: status %d of %s\n%s" % (job.returncode, " ".join(map(str, command)), job.stderr[-2000:]))
    return job.stdout


def rows_of(text):
    return list(csv.DictReader(text.splitlines()))


def train(program, folder, phases, options):
    """The log of a run in phases: (epochs that are done at the end, options of the phase)."""
    folder.mkdir(parents=True, exist_ok=True)
    log, checkpoint = folder / "log.csv", folder / "last.safetensors"
    for epochs, of_phase in phases:
        done = rows_of(log.read_text()) if log.exists() else []
        if not done or int(done[-1]["epoch"]) < epochs:
            resume = ["--resume", checkpoint] if checkpoint.exists() else []
            output_of([program, *options, *of_phase, "--epochs", epochs, "--out", str(folder) + "/", *resume])
    # A run that was killed between a line and its checkpoint has written the line again.
    return list({row["epoch"]: row for row in rows_of(log.read_text())}.values())


def cnn(build, data, runs):
    """The network must come to 91 %."""
    options = ["--network", "cnn_medium", "--dataset", "mnist", "--data", data / "fashion-mnist"]
    log = train(build / "bin" / "helenna_seq", runs, [(4, ["--lr", "0.05"])], options)
    return "cnn_medium", log, [("91 %", 0.91)], [("91 %", 0.91)]


def language_model(build, data, runs):
    """The network must be better than n-grams of order 3; those of order 5 are shown as well."""
    text = data / "tinyshakespeare" / "input.txt"
    options = ["--train", text, "--vocabulary", VOCABULARY, "--length", LENGTH, "--dim", "96", "--layers", "2", "--dropout", "0", "--report", "100"]
    log = train(build / "bin" / "language_model_seq", runs, LANGUAGE_PHASES, options)
    found = rows_of(output_of([build / "bin" / "hvd-bench-baselines", "n-grams", text, VOCABULARY, LENGTH, "5"]))
    n_grams = [("Kneser-Ney, order " + row["order"], float(row["bits_per_byte"])) for row in found]
    return "Transformer", log, n_grams, n_grams[2:3]


def text_classifier(build, data, runs):
    """The network must be better than naive Bayes and than logistic regression."""
    sets = [data / "imdb-sub" / "train.tsv.gz", data / "imdb-sub" / "test.tsv.gz"]
    log = train(build / "bin" / "text_classifier_seq", runs, [(CLASSIFIER_EPOCHS, [])], ["--train", sets[0], "--test", sets[1], *CLASSIFIER])
    found = rows_of(output_of([build / "bin" / "hvd-bench-baselines", "words", *sets]))
    words = [(row["model"], float(row["test_accuracy"])) for row in found]
    return "words and pairs", log, words, words


# Fast first, then slowly to a close.
LANGUAGE_PHASES = [(5, ["--lr", "0.003"]), (7, ["--lr", "0.0005"])]
# Chosen on parts of the training texts (held_out_texts.py).
CLASSIFIER = ["--layers", "0", "--lr", "0.005", "--batch", "32"]
CLASSIFIER_EPOCHS = 10
# How to run it, name of the files, title, column of the log, whether more of it is better.
STUDIES = {
    "cnn": (cnn, "fashion_mnist_cnn_medium", "cnn_medium on Fashion-MNIST", "test_accuracy", True),
    "language_model": (language_model, "language_model", "language_model on tinyshakespeare", "bits_per_byte", False),
    "text_classifier": (text_classifier, "text_classifier", "text_classifier on 5000 reviews of IMDB", "test_accuracy", True),
}


def write(out, file, title, column, name, log, others, to_beat):
    columns = ["model", *log[0]]
    with open(out / (file + ".csv"), "w", newline="") as stream:
        writer = csv.DictWriter(stream, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows({"model": name, **row} for row in log)
        writer.writerows({"model": other, column: "%g" % value} for other, value in others)
    points = [(int(row["epoch"]), float(row[column])) for row in log]
    # An n-gram of order 1 would press all that matters into a corner; what is to be beaten is in sight.
    low, high = (pick(value for _, value in points) for pick in (min, max))
    near = [(other, value) for other, value in others if (other, value) in to_beat or low - (high - low) <= value <= high + (high - low) / 2]
    lines = {name: points, **{other: [(points[0][0], value), (points[-1][0], value)] for other, value in near}}
    (out / (file + ".svg")).write_text(plot.svg(title, column.replace("_", " ") + " of the test set", [epoch for epoch, _ in points], lines, "epoch"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("--build", "--data", "--runs", "--out"):
        parser.add_argument(name, required=True, type=Path)
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(STUDIES))
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    good = True
    print("%-40s %-14s %-22s %9s %9s %7s" % ("study", "measure", "against", "network", "other", "ratio"))
    for study in arguments.only:
        run, file, title, column, more_is_better = STUDIES[study]
        name, log, others, to_beat = run(arguments.build, arguments.data, arguments.runs / study)
        write(arguments.out, file, title, column, name, log, others, to_beat)
        last = float(log[-1][column])
        for other, value in others:
            verdict = ""
            if (other, value) in to_beat:
                beaten = last >= value if more_is_better else last < value
                good, verdict = good and beaten, "  ok" if beaten else "  MISSED"
            print("%-40s %-14s %-22s %9.4f %9.4f %7.3f%s" % (title, column, other, last, value, last / value, verdict), flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
