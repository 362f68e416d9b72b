#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Training steps of PyTorch on a GPU, eager and compiled, beside those of hvd-bench-steps: same networks, batches, optimizers, precisions; data on the GPU.

usage: peers.py [--steps PATH_OF_hvd-bench-steps] [--network NAME]... [--precision bf16|tf32]... [--seconds S] [--no-compile] [--limit SECONDS]

Prints one line of JSON for each measurement (hvd-bench-steps says what is in it) and, last, a table of ratios. After --limit seconds nothing new is begun.
"""
import argparse
import json
import statistics
import subprocess
import sys
import time

NETWORKS = ("gpt2", "resnet18", "vgg16", "transformer_medium")  # the largest first: it may not fit into --limit behind others


def networks():
    """PyTorch's side: name -> (model, optimizer, inputs, targets, batch, units)."""
    import torch
    from torch import nn

    class Block(nn.Module):
        def __init__(self, inner, outer, stride):
            super().__init__()
            self.conv_a, self.norm_a = nn.Conv2d(inner, outer, 3, stride, 1, bias=False), nn.BatchNorm2d(outer)
            self.conv_b, self.norm_b = nn.Conv2d(outer, outer, 3, 1, 1, bias=False), nn.BatchNorm2d(outer)
            self.short = None if stride == 1 and inner == outer else nn.Sequential(nn.Conv2d(inner, outer, 1, stride, bias=False), nn.BatchNorm2d(outer))

        def forward(self, x):
            out = self.norm_b(self.conv_b(torch.relu(self.norm_a(self.conv_a(x)))))
            return torch.relu(out + (x if self.short is None else self.short(x)))

    def resnet18():
        layers, channels = [nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU()], 64
        for outer in (64, 128, 256, 512):
            layers += [Block(channels, outer, 1 if outer == 64 else 2), Block(outer, outer, 1)]
            channels = outer
        return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))

    def vgg16():
        layers, channels = [], 3
        for outer in (64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0):
            layers += [nn.Conv2d(channels, outer, 3, 1, 1), nn.BatchNorm2d(outer), nn.ReLU()] if outer else [nn.MaxPool2d(2)]
            channels = outer or channels
        return nn.Sequential(*layers, nn.Flatten(), nn.Linear(512, 10))

    class Layer(nn.Module):
        def __init__(self, dim, heads):
            super().__init__()
            self.heads = heads
            self.norm_a, self.norm_b = nn.LayerNorm(dim), nn.LayerNorm(dim)
            self.qkv, self.out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
            self.up, self.down = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)

        def forward(self, x):
            n, t, dim = x.shape
            q, k, v = self.qkv(self.norm_a(x)).view(n, t, 3, self.heads, dim // self.heads).permute(2, 0, 3, 1, 4)
            mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(mixed.transpose(1, 2).reshape(n, t, dim))
            return x + self.down(nn.functional.gelu(self.up(self.norm_b(x))))

    class Transformer(nn.Module):
        def __init__(self, words, length, dim, heads, layers):
            super().__init__()
            self.tokens, self.places = nn.Embedding(words, dim), nn.Parameter(torch.randn(length, dim) * 0.02)
            self.layers = nn.Sequential(*(Layer(dim, heads) for _ in range(layers)))
            self.norm, self.head = nn.LayerNorm(dim), nn.Linear(dim, words, bias=False)

        def forward(self, x):
            return self.head(self.norm(self.layers(self.tokens(x) + self.places)))

    def images(model, batch):
        return (model.cuda(), lambda p: torch.optim.SGD(p, 0.01, momentum=0.9, weight_decay=5e-4), torch.randn(batch, 3, 32, 32, device="cuda"),
                torch.randint(0, 10, (batch,), device="cuda"), batch, batch)

    def texts(model, batch, length, words):
        return (model.cuda(), lambda p: torch.optim.AdamW(p, 1e-4), torch.randint(0, words, (batch, length), device="cuda"),
                torch.randint(0, words, (batch, length), device="cuda"), batch, batch * length)

    return {"resnet18": lambda: images(resnet18(), 512), "vgg16": lambda: images(vgg16(), 256),
            "transformer_medium": lambda: texts(Transformer(8192, 128, 512, 8, 8), 64, 128, 8192),
            "gpt2": lambda: texts(Transformer(50304, 1024, 768, 12, 12), 16, 1024, 50304)}


def measure(step, seconds, torch):
    """Rounds of eight steps, as hvd-bench-steps does."""
    for _ in range(6):
        loss = step()
    torch.cuda.synchronize()
    whole, host, start = [], [], time.perf_counter()
    while time.perf_counter() - start < seconds or len(whole) < 3:
        begin = time.perf_counter()
        for _ in range(8):
            loss = step()
        host.append((time.perf_counter() - begin) / 8)
        torch.cuda.synchronize()
        whole.append((time.perf_counter() - begin) / 8)
    return statistics.median(whole), statistics.median(host), float(loss)


def torch_rows(name, make, precision, forms, seconds, torch):
    torch.manual_seed(1)
    torch.set_float32_matmul_precision("high" if precision == "tf32" else "highest")
    torch.backends.cudnn.allow_tf32 = precision == "tf32"
    torch.backends.cudnn.benchmark = True
    for form in forms:
        model, optimizer_of, x, y, batch, units = make()
        optimizer = optimizer_of(model.parameters())
        forward = torch.compile(model) if form == "compiled" else model

        def step():
            optimizer.zero_grad()
            with torch.autocast("cuda", torch.bfloat16, enabled=precision == "bf16"):
                out = forward(x)
                loss = torch.nn.functional.cross_entropy(out.view(-1, out.shape[-1]), y.view(-1))
            loss.backward()
            optimizer.step()
            return loss.detach()

        torch.cuda.reset_peak_memory_stats()
        took, host, loss = measure(step, seconds, torch)
        yield {"side": "torch", "network": name, "form": form, "precision": precision, "batch": batch, "units": units, "seconds": took, "host_seconds": host,
               "bytes": torch.cuda.max_memory_allocated(), "loss": loss}
        del model, optimizer, forward, step
        torch.cuda.empty_cache()


def table(rows):
    """Markdown: units a second on each side, and how many times PyTorch's rate ours is."""
    found = {(r["network"], r["precision"], r["form"]): r for r in rows}
    lines = ["| network | precision | batch | hvdize, noted (units/s) | hvdize, steps | host of a step | PyTorch eager | compiled | noted / eager | noted / compiled | memory, GB: noted, eager, compiled |",
             "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |"]
    for network, precision in dict.fromkeys((r["network"], r["precision"]) for r in rows):
        row = {form: found.get((network, precision, form)) for form in ("noted", "steps", "eager", "compiled")}
        rate = {form: r and r["units"] / r["seconds"] for form, r in row.items()}
        best = rate["noted"] or rate["steps"]

        def shown(value, form):
            return form % value if value else "-"

        lines.append("| %s | %s | %d | %s | %s | %s | %s | %s | %s | %s | %s |" % (
            network, precision, next(r["batch"] for r in row.values() if r), *(shown(rate[f], "%.0f") for f in ("noted", "steps")),
            shown(row["steps"] and row["steps"]["host_seconds"] / row["steps"]["seconds"] * 100, "%.0f %%"), *(shown(rate[f], "%.0f") for f in ("eager", "compiled")),
            *(shown(best and rate[f] and best / rate[f], "%.2f") for f in ("eager", "compiled")),
            ", ".join(shown(row[f] and row[f]["bytes"] / 1e9, "%.1f") for f in ("noted", "eager", "compiled"))))
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", help="path of hvd-bench-steps; without: PyTorch alone")
    parser.add_argument("--network", action="append", choices=NETWORKS)
    parser.add_argument("--precision", action="append", choices=("bf16", "tf32"))
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--limit", type=float, default=1e9)
    parser.add_argument("--no-compile", dest="compile", action="store_false")
    arguments = parser.parse_args()
    import torch
    print(json.dumps({"torch": torch.__version__, "gpu": torch.cuda.get_device_name()}), flush=True)
    rows, start, makers, failed = [], time.monotonic(), networks(), False
    for precision in arguments.precision or ("bf16", "tf32"):
        for name in arguments.network or NETWORKS:
            if time.monotonic() - start > arguments.limit:
                print("peers.py: no time for %s, %s" % (name, precision), file=sys.stderr)
                continue
            mine = []
            if arguments.steps:
                done = subprocess.run([arguments.steps, "--network", name, "--precision", precision, "--seconds", str(arguments.seconds)], stdout=subprocess.PIPE, text=True)
                mine = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
                failed |= done.returncode != 0 or len(mine) != 2
            for row in mine:
                print(json.dumps(row), flush=True)
            rows += mine
            try:
                for row in torch_rows(name, makers[name], precision, ["eager"] + ["compiled"] * arguments.compile, arguments.seconds, torch):
                    print(json.dumps(row), flush=True)
                    rows.append(row)
            except Exception as error:  # one network that PyTorch cannot train here is no reason to measure no other
                print("peers.py: %s, %s: %s" % (name, precision, str(error)[:300]), file=sys.stderr)
                failed = True
    print("\n".join(table(rows)))
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
