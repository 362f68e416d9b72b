#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes seeds for the fuzz targets: seeds.py FOLDER makes FOLDER/<target>/<name> for each of test/fuzz/*.cpp."""
import gzip
import json
import struct
import sys
import zlib
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "networks"


def pair(first, second):
    return struct.pack("<H", len(first)) + first + second


def idx(count, rows, cols):
    pixels = bytes(i % 256 for i in range(count * rows * cols))
    return struct.pack(">IIII", 0x803, count, rows, cols) + pixels, struct.pack(">II", 0x801, count) + bytes(i % 10 for i in range(count))


def idx_seeds():
    images, labels = idx(3, 5, 4)
    yield "plain", pair(images, labels)
    yield "gzip", pair(gzip.compress(images, mtime=0), gzip.compress(labels, mtime=0))
    yield "cut", pair(images[:-1], labels)
    yield "hostile", pair(struct.pack(">IIII", 0x803, 0xffffffff, 65535, 65535), labels)
    yield "none", pair(struct.pack(">IIII", 0x803, 0, 1, 1), struct.pack(">II", 0x801, 0))


def cifar_seeds():
    yield "one", bytes([7]) + bytes(3072)
    yield "two_labels", bytes([1, 99]) + bytes(3072)
    yield "gzip", gzip.compress(bytes([3]) + bytes(3072), mtime=0)
    yield "short", bytes(100)


def text_seeds():
    yield "label_first", b"1\tgood film\n0\tbad film\n"
    yield "label_last", "sch\u00f6n\t1\r\n\nschlecht\t0\n".encode()
    yield "folders", pair(b"it was dull, dull, dull", b"it's the best film of 1999!")
    yield "gzip", gzip.compress(b"1\tone\n", mtime=0)


def byte_characters():
    """GPT-2's printable characters for bytes."""
    own = [*range(33, 127), *range(161, 173), *range(174, 256)]
    names, extra = {}, 0
    for b in range(256):
        names[b] = chr(b) if b in own else chr(256 + extra)
        extra += b not in own
    return names


def tokenizer_seeds():
    names = byte_characters()
    vocab = {names[b]: b for b in range(256)}
    yield "bytes", pair(json.dumps(vocab, ensure_ascii=False).encode(), b"#version: 0.2\n")
    merged = {**vocab, "th": 256, "the": 257, "<|endoftext|>": 258}
    yield "merges", pair(json.dumps(merged).encode(), b"#version: 0.2\nt h\nth e\n")
    yield "bad_number", pair(json.dumps({**vocab, "x y": 18446744073709551615}).encode(), b"a b\n")


def network_seeds():
    for file in sorted(EXAMPLES.glob("*.net")):
        if file.stat().st_size < 2000:
            yield file.stem, file.read_bytes()
    yield "hostile", b"input input shape=3x8x8\nc conv2d out=999999999 kernel=999999999 padding=999999999\nl linear out=999999999999\n"
    yield "transposed", b"input input shape=3x8x8\nc conv_transpose2d out=2 kernel=3 stride=999999999\nd conv_transpose2d out=2 kernel=3 stride=999999999\n"


def safetensors(header, data=b""):
    text = json.dumps(header).encode() if not isinstance(header, bytes) else header
    return struct.pack("<Q", len(text)) + text + data


def safetensors_seeds():
    yield "empty", safetensors({})
    yield "several", safetensors({"__metadata__": {"k": "v"}, "a": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]},
                                  "b": {"dtype": "BF16", "shape": [2, 2], "data_offsets": [8, 16]}, "c": {"dtype": "BOOL", "shape": [1], "data_offsets": [16, 17]}}, bytes(17))
    meta = {"hvd.kind": "checkpoint", "epoch": "1", "step": "2", "random.seed": "3", "random.counter": "4"}
    yield "checkpoint", safetensors({"__metadata__": meta, "optimizer.0.momentum": {"dtype": "F32", "shape": [1, 2], "data_offsets": [0, 8]},
                                     "optimizer.group.0.lr": {"dtype": "F64", "shape": [], "data_offsets": [8, 16]},
                                     "weight": {"dtype": "F32", "shape": [1, 2], "data_offsets": [16, 24]},
                                     "bias": {"dtype": "F32", "shape": [1], "data_offsets": [24, 28]}}, bytes(28))
    yield "hostile", safetensors({"a": {"dtype": "F32", "shape": [4294967296, 4294967296], "data_offsets": [0, 0]}})
    yield "no_elements", safetensors({"a": {"dtype": "F32", "shape": [0, 9223372036854775807, 9223372036854775807], "data_offsets": [0, 0]}})
    yield "long_header", struct.pack("<Q", 99999999) + b"{}"


def chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def png(rows, cols, said_rows=None, colour=2, interlaced=0):
    raw = b"".join(b"\0" + bytes(range(3 * cols)) for _ in range(rows))
    head = struct.pack(">IIBBBBB", cols, said_rows or rows, 8, colour, 0, 0, interlaced)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b"")


def jpeg(rows, cols):
    """Grey, of one brightness: see test/unit/data_image_folder.cpp."""
    segment = lambda marker, content: b"\xff" + marker + struct.pack(">H", len(content) + 2) + content
    dc = b"\0" + bytes([0, 0, 0, 12] + [0] * 12) + bytes(range(12))
    ac = b"\x10\x01" + bytes(15) + b"\0"
    return (b"\xff\xd8" + segment(b"\xdb", b"\0" + b"\1" * 64) + segment(b"\xc0", b"\x08" + struct.pack(">HH", rows, cols) + b"\1\1\x11\0") +
            segment(b"\xc4", dc) + segment(b"\xc4", ac) + segment(b"\xda", b"\1\1\0\0\x3f\0") + b"\x9a\x03\xff\xd9")


def image_seeds():
    yield "png", png(3, 4)
    yield "png_hostile", png(3, 4, said_rows=2000000000)
    yield "png_palette", png(3, 4, colour=3)
    yield "png_interlaced", png(3, 4, interlaced=1)
    yield "jpeg", jpeg(8, 8)
    yield "jpeg_hostile", jpeg(65500, 65500)


SEEDS = {"idx": idx_seeds, "cifar": cifar_seeds, "image": image_seeds, "text": text_seeds, "tokenizer": tokenizer_seeds, "network": network_seeds, "safetensors": safetensors_seeds}


def main(folder):
    for target, seeds in SEEDS.items():
        place = Path(folder, target)
        place.mkdir(parents=True, exist_ok=True)
        for name, content in seeds():
            place.joinpath(name).write_bytes(content)


if __name__ == "__main__":
    main(sys.argv[1])
