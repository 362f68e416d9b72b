#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A part of labelled texts to choose settings on, that has as little as can be in common with the rest.

usage: held_out_texts.py FILE FOLDER [COUNT [SEED]]

FILE: lines "label TAB text" of two classes, plain or .gz. Writes FOLDER/held.tsv.gz, COUNT texts of each class (400), and FOLDER/fit.tsv.gz, as many of each class.
Another SEED (11) draws other parts: one part of 800 texts tells to about a point.

Reviews of one film share its names and mostly their class, and the test set of IMDB is of other films: on a plain random part, whatever knows films by heart looks better than
it is. So texts that look like reviews of one film (words or names in common that are in few texts) are held out together, and what is still close to one that is held out is in
neither part."""
import collections
import gzip
import random
import re
import sys
from pathlib import Path


def lines_of(path):
    data = Path(path).read_bytes()
    text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode()
    return [line for line in text.split("\n") if line.strip()]


def in_common(sets, most_texts):
    """For each text, how many words it shares with others; words of at least two and at most so many texts."""
    holders = collections.defaultdict(list)
    for i, words in enumerate(sets):
        for word in words:
            holders[word].append(i)
    common = collections.defaultdict(collections.Counter)
    for texts in holders.values():
        if 2 <= len(texts) <= most_texts:
            for a in texts:
                for b in texts:
                    if a != b:
                        common[a][b] += 1
    return common


def close(common, text, least):
    return sorted(other for other, count in common[text].items() if count >= least)


def parts_of(lines, count, seed):
    label = [line.split("\t", 1)[0] for line in lines]
    text = [line.split("\t", 1)[1] for line in lines]
    words = [set(re.findall(r"[\w']+", t.lower())) for t in text]
    names = [set(re.findall(r"(?<=[a-z,] )[A-Z][\w']+", t)) for t in text]
    rare, seldom, known = in_common(words, 8), in_common(words, 20), in_common(names, 30)
    draw = random.Random(seed)
    held, of_class = set(), collections.Counter()
    for i in draw.sample(range(len(lines)), len(lines)):
        if i in held or of_class[label[i]] >= count:
            continue
        for j in [i, *close(rare, i, 3), *close(known, i, 3)]:
            if j not in held and of_class[label[j]] < count:
                held.add(j)
                of_class[label[j]] += 1
    near = {j for i in held for j in [*close(rare, i, 2), *close(known, i, 2), *close(seldom, i, 4)]}
    sides = collections.defaultdict(list)
    for i in range(len(lines)):
        if i not in held and i not in near:
            sides[label[i]].append(i)
    least = min(len(side) for side in sides.values())
    fit = {i for key in sorted(sides) for i in draw.sample(sides[key], least)}
    return {"held": held, "fit": fit}


def main():
    if len(sys.argv) not in (3, 4, 5):
        raise SystemExit("usage: held_out_texts.py FILE FOLDER [COUNT [SEED]]")
    lines, folder = lines_of(sys.argv[1]), Path(sys.argv[2])
    numbers = [int(word) for word in sys.argv[3:]] + [400, 11][len(sys.argv) - 3:]
    folder.mkdir(parents=True, exist_ok=True)
    for name, part in parts_of(lines, *numbers).items():
        (folder / (name + ".tsv.gz")).write_bytes(gzip.compress("".join(lines[i] + "\n" for i in sorted(part)).encode(), mtime=0))
        print("%s: %d texts" % (name, len(part)))


if __name__ == "__main__":
    main()
