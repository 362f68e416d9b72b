#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A part of labelled texts to choose settings on, without what is said of the same film in the rest.

usage: held_out_texts.py FILE COUNT FOLDER

FILE: lines "label TAB text", plain or .gz. Writes FOLDER/fit.tsv.gz and FOLDER/held.tsv.gz, the second with at most COUNT lines.

Reviews of one film share its names and mostly their class: of texts that have three words in common which are in at most eight texts, 99 of 100 have the same
label in the IMDB sample. A network that knows the film by heart would look better on a plain random part than on texts of other films. So such texts, and those
that hang together through others, stay on one side."""
import collections
import gzip
import random
import re
import sys
from pathlib import Path

MOST_TEXTS, WORDS_IN_COMMON = 8, 3


def lines_of(path):
    data = Path(path).read_bytes()
    text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode()
    return [line for line in text.split("\n") if line.strip()]


def groups_of(lines):
    words = [set(re.findall(r"[\w']+", line.split("\t", 1)[1].lower())) for line in lines]
    texts = collections.Counter(word for some in words for word in some)
    holders = collections.defaultdict(list)
    for i, some in enumerate(words):
        for word in some:
            if 2 <= texts[word] <= MOST_TEXTS:
                holders[word].append(i)
    common = collections.Counter((a, b) for some in holders.values() for k, a in enumerate(some) for b in some[k + 1:])
    root = list(range(len(lines)))

    def find(i):
        while root[i] != i:
            root[i] = root[root[i]]
            i = root[i]
        return i

    for (a, b), count in common.items():
        if count >= WORDS_IN_COMMON:
            root[find(a)] = find(b)
    groups = collections.defaultdict(list)
    for i in range(len(lines)):
        groups[find(i)].append(i)
    return list(groups.values())


def main():
    if len(sys.argv) != 4:
        raise SystemExit("usage: held_out_texts.py FILE COUNT FOLDER")
    lines, count, folder = lines_of(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    groups = sorted(groups_of(lines), key=len)
    random.Random(5).shuffle(groups)
    held = set()
    for group in groups:
        if len(held) + len(group) <= count:
            held.update(group)
    folder.mkdir(parents=True, exist_ok=True)
    for name, part in (("held", held), ("fit", set(range(len(lines))) - held)):
        (folder / (name + ".tsv.gz")).write_bytes(gzip.compress("".join(lines[i] + "\n" for i in sorted(part)).encode(), mtime=0))
        print("%s: %d texts" % (name, len(part)))


if __name__ == "__main__":
    main()
