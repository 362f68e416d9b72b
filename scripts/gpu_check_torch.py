# SPDX-License-Identifier: Apache-2.0
"""Rewritten LibTorch programs on the GPU, with the LibTorch of the machine's Python: a part of gpu_check.py.

hvdize is not built on such a machine: scripts/gpu-carry.sh puts programs and what hvdize makes of them into a folder. Here the binding hvd_torch
is compiled against that LibTorch, by the compiler alone: its CMake package wants more of CUDA than is needed."""
import concurrent.futures
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = {"on_gpus": ["8", "0.05"], "on_gpus_otherwise": ["8", "0.02"], "on_gpus_two_models": ["8", "0.01"]}
OPTIONS = {"on_gpus": ["--sync-bn"]}
# Sums of a GPU come in another order on two ranks, and some of its kernels add in the order in which they come.
TOLERANCE = 1e-6

ASK = """
import json, os, torch
home = os.path.dirname(torch.__file__)
print(json.dumps({"version": torch.__version__, "include": [os.path.join(home, "include"), os.path.join(home, "include", "torch", "csrc", "api", "include")],
                  "lib": os.path.join(home, "lib"), "cuda": torch.cuda.is_available(), "new_abi": bool(torch._C._GLIBCXX_USE_CXX11_ABI),
                  "libraries": ["torch_cuda", "c10_cuda", "torch", "torch_cpu", "c10"]}))
"""


class Unfit(Exception):
    """Why these tests cannot be run here."""


def find_torch():
    done = subprocess.run([sys.executable, "-c", ASK], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise Unfit("Python has no PyTorch")
    torch = json.loads(done.stdout.splitlines()[-1])
    if not torch["cuda"]:
        raise Unfit("PyTorch %s sees no GPU" % torch["version"])
    if not torch["new_abi"]:
        raise Unfit("PyTorch %s is built for the old ABI of std::string" % torch["version"])
    return torch


def checked(command):
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=600)
    if done.returncode != 0:
        errors = [line for line in done.stdout.splitlines() if "error" in line or "undefined" in line]
        raise RuntimeError("%s\n%s" % (" ".join(map(str, command))[:300], "\n".join(errors[:6]) or done.stdout[-600:]))


def flags(torch):
    includes = [ROOT / "runtime" / "torch" / "include", ROOT / "runtime" / "include"]
    # Some of LibTorch's classes have other members without NDEBUG than in its builds.
    return ["-std=c++20", "-O1", "-DNDEBUG", "-fPIC", *["-I%s" % i for i in includes], *[part for i in torch["include"] for part in ("-isystem", i)]]


def link_flags(torch, build):
    return ["-Wl,--no-as-needed", "-L" + torch["lib"], *["-l" + name for name in torch["libraries"]], "-Wl,--as-needed", "-Wl,-rpath," + torch["lib"],
            "-L" + str(build / "lib"), "-lhvd_runtime", "-Wl,-rpath," + str(build / "lib"), "-Wl,--allow-shlib-undefined", "-pthread"]


def build_all(torch, build, programs, jobs):
    """The binding and all programs, original and rewritten: executables by (name, "sequential" or "distributed")."""
    work = build / "torch"
    work.mkdir(parents=True, exist_ok=True)
    inner = ["-I%s" % (ROOT / "runtime" / part) for part in ("torch/src", "src", ".")]
    units = [(source, work / (source.stem + ".o"), inner) for source in sorted((ROOT / "runtime" / "torch" / "src").glob("*.cpp"))]
    made = {}
    for name in PROGRAMS:
        for kind in ("sequential", "distributed"):
            source = programs / kind / (name + ".cpp")
            if not source.exists():
                raise Unfit("%s is not there: make it with scripts/gpu-carry.sh where hvdize is built" % source)
            units.append((source, work / ("%s_%s.o" % (kind, name)), []))
            made[name, kind] = work / ("%s_%s" % (kind, name))
    with concurrent.futures.ThreadPoolExecutor(max_workers=jobs) as pool:
        list(pool.map(lambda unit: checked(["g++", *flags(torch), *unit[2], "-c", unit[0], "-o", unit[1]]), units))
    library = work / "libhvd_torch.so"
    checked(["g++", "-shared", "-o", library, *[o for _, o, mine in units if mine], *link_flags(torch, build)])
    for (name, kind), program in made.items():
        checked(["g++", "-o", program, str(program) + ".o", library, "-Wl,-rpath," + str(work), *link_flags(torch, build)])
    return made


def difference(one, other):
    """Where two outputs differ in more than the last digits of numbers, or None."""
    first, second = ([line for line in text.splitlines() if not line.startswith(("hvd", "[W", "WARNING", "W2"))] for text in (one, other))
    if len(first) != len(second):
        return "%d lines and %d lines" % (len(first), len(second))
    for a, b in zip(first, second):
        left, right = a.split(), b.split()
        same = len(left) == len(right) and all(x == y or close(x, y) for x, y in zip(left, right))
        if not same:
            return "'%s' and '%s'" % (a, b)
    return None


def close(x, y):
    number = re.compile(r"[-+]?\d+\.\d+(e[-+]?\d+)?$")
    return bool(number.match(x) and number.match(y)) and abs(float(x) - float(y)) <= TOLERANCE * max(abs(float(x)), abs(float(y)), 1e-3)


def shortened(text):
    """Both ends: what was wrong comes first, where a trace of calls follows."""
    return text if len(text) <= 1600 else text[:1200] + " ... " + text[-400:]


def run_program(command, folder, settings):
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run([str(c) for c in command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", timeout=120,
                          stdin=subprocess.DEVNULL, env={**os.environ, **settings})
    if done.returncode != 0:
        raise RuntimeError("%s: status %d: %s" % (" ".join(map(str, command))[-200:], done.returncode, shortened(done.stderr)))
    return done.stdout


def prepare(build, deps, jobs):
    """The programs by name and kind, or why they cannot be had: an Unfit, or another error."""
    try:
        if not deps:
            raise Unfit("no --deps with rewritten programs")
        return build_all(find_torch(), build, deps / "torch", jobs)
    except (Unfit, RuntimeError, OSError, subprocess.TimeoutExpired) as why:
        return why


def torch_case(build, made, settings):
    """Passed, failed and skipped, as the other suites of gpu_check.py; `made`: of prepare(); `settings`: environment of the runs."""
    result = {"passed": 0, "failed": [], "skipped": []}
    if isinstance(made, Exception):
        result["skipped" if isinstance(made, Unfit) else "failed"].append("LibTorch: %s" % made)
        return result
    for name, arguments in PROGRAMS.items():
        run = lambda kind, start, extra: run_program([*start, made[name, kind], *arguments], build / "torch" / "runs" / name, {**settings, "HVD_BATCH": "global", **extra})  # noqa: E731
        try:
            wanted = run("sequential", [], {})
        except (RuntimeError, subprocess.TimeoutExpired) as why:
            result["failed"].append("%s: the sequential program: %s" % (name, why))
            continue
        for ranks, backend in ((1, "auto"), (2, "auto"), (2, "nccl")):
            what = "%s on %d ranks, backend %s" % (name, ranks, backend)
            try:
                differs = difference(wanted, run("distributed", [build / "bin" / "hvd-run", "-n", str(ranks)], {"HVD_BACKEND": backend}))
            except (RuntimeError, subprocess.TimeoutExpired) as why:
                if "NCCL cannot be loaded" in str(why):
                    result["skipped"].append("%s: there is no NCCL" % what)
                else:
                    result["failed"].append("%s: %s" % (what, why))
                continue
            if differs:
                result["failed"].append("%s: %s" % (what, differs))
            else:
                result["passed"] += 1
    return result
