#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The traces that HVD_TRACE writes of hvd-dist-traced, and what hvd-trace says of them. usage: trace.py BIN_DIR [MPIRUN]

Prints "ok WHAT" or "FAIL WHAT" for each check; exit status 1 when one failed."""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

BIN = Path(sys.argv[1])
MPIRUN = sys.argv[2] if len(sys.argv) > 2 else ""
BATCHES, EPOCHS = 5, 2
SIZES = [32 * 64, 64, 64 * 10, 10]  # elements of the parameters
failures = 0


def check(what, condition, detail=""):
    global failures
    if condition:
        print("ok   " + what)
    else:
        failures += 1
        print("FAIL %s: %s" % (what, str(detail)[-2000:]))


def launch(ranks, trace, *arguments, launcher="hvd-run", **environment):
    command = [str(BIN / "hvd-run"), "-n", str(ranks)]
    if launcher == "mpirun":
        command = [MPIRUN, "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "-np", str(ranks)]
        environment["HVD_BACKEND"] = "mpi"
    if launcher == "none":
        command = []
    environment.update(OMP_NUM_THREADS="1", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", HVD_TRACE=str(trace))
    return subprocess.run(command + [str(BIN / "hvd-dist-traced"), *arguments], env={**os.environ, **environment}, capture_output=True,
                          text=True, timeout=60)


def summary(trace, *options):
    return subprocess.run([str(BIN / "hvd-trace"), str(trace), *options], capture_output=True, text=True, timeout=60)


def load(what, trace, ranks):
    """The events of a trace whose structure is as it must be."""
    if not trace.exists():
        check(what + ": the file is there", False)
        return []
    events = json.loads(trace.read_text())["traceEvents"]
    check(what + ": every rank has a name", sorted(e["pid"] for e in events if e["name"] == "process_name") == list(range(ranks)))
    known = all({"ph", "name", "pid"} <= e.keys() and e["ph"] in "MXi" for e in events)
    spans = [e for e in events if e["ph"] == "X"]
    check(what + ": fields", known and all({"ts", "dur", "tid", "cat"} <= e.keys() and e["dur"] >= 0 for e in spans))
    for rank in range(ranks):
        phases = sorted((e for e in spans if e["pid"] == rank and e["cat"] == "phase"), key=lambda e: e["ts"])
        apart = all(a["ts"] + a["dur"] <= b["ts"] + 0.01 for a, b in zip(phases, phases[1:]))
        count = lambda name: sum(e["name"] == name for e in phases)
        check("%s: phases of rank %d" % (what, rank), apart and count("backward") == count("reduce gradients") == BATCHES * EPOCHS and
              count("forward") == BATCHES * EPOCHS and count("loading") == (BATCHES + 1) * EPOCHS, {e["name"]: count(e["name"]) for e in phases})
    check(what + ": no part is left", not list(trace.parent.glob(trace.name + ".*")))
    # The same collective overlaps on all ranks: their clocks are one.
    meetings = {}
    for e in spans:
        if e["cat"] == "collective" and e["args"]["op"] not in ("broadcast", "reduce"):  # in which not all wait; tracks from 1000 on are those of a node
            meetings.setdefault((e["tid"], e["args"]["number"]), []).append(e)
    check(what + ": all ranks meet in every collective",
          meetings and all((len(m) == ranks or tid >= 1000) and max(e["ts"] for e in m) <= min(e["ts"] + e["dur"] for e in m) + 1 for (tid, _), m in meetings.items()))
    return spans


def count_reductions(what, spans, ranks, name, rounds, buckets, elements):
    """Calls and bytes: `rounds` times as many reductions as there are buckets, each of which holds a weight for each of its tensors."""
    for rank in range(ranks):
        mine = [e for e in spans if e["pid"] == rank and e["name"] == "allreduce " + name]
        total = sum(e["args"]["bytes"] for e in mine)
        check("%s: reductions of rank %d" % (what, rank), len(mine) == rounds * buckets and total == rounds * 4 * elements,
              "%d calls, %d bytes" % (len(mine), total))


def every_step(folder, launcher, ranks, backend):
    trace = folder / ("step-%s.json" % launcher)
    job = launch(ranks, trace, launcher=launcher)
    check("%s: status" % launcher, job.returncode == 0, job.stderr)
    spans = load(launcher, trace, ranks)
    elements = sum(SIZES) + len(SIZES)
    count_reductions(launcher, spans, ranks, "gradients", BATCHES * EPOCHS, 1, elements)
    means = [e for e in spans if e["name"] == "allgather batch_mean"]
    check(launcher + ": one mean for each batch", len(means) == ranks * BATCHES * EPOCHS, len(means))
    check(launcher + ": with the source line", all(e["args"]["file"].endswith("traced.cpp") and e["args"]["line"] > 0 for e in means))
    check(launcher + ": backend", spans and all(e["args"]["backend"] == backend for e in spans if e["cat"] == "collective"))
    said = summary(trace)
    line = [text for text in said.stdout.split("all ranks:")[-1].splitlines() if "allreduce gradients" in text]
    check(launcher + ": summary", said.returncode == 0 and len(line) == 1 and
          line[0].split()[2:6:2] == [str(ranks * BATCHES * EPOCHS), str(ranks * BATCHES * EPOCHS * 4 * elements)], said.stdout + said.stderr)


def compressed(folder):
    """The same run with its gradients in fewer bytes: what goes over the wire, and in how many messages."""
    elements = sum(SIZES) + len(SIZES)
    # Rank 1: of a 64 x 32 and a 10 x 64 matrix 64 and 10 numbers with the vectors and the weights, then 32 and 64.
    low_rank = 64 + 10 + SIZES[1] + SIZES[3] + len(SIZES) + 32 + 64
    for setting, calls, total in (("bf16", 1, 2 * elements), ("fp16", 1, 2 * elements), ("powersgd:1", 2, 4 * low_rank), ("none", 1, 4 * elements)):
        trace = folder / ("compressed-%s.json" % setting.replace(":", "-"))
        job = launch(3, trace, HVD_COMPRESSION=setting)
        check("HVD_COMPRESSION=%s: status" % setting, job.returncode == 0, job.stderr)
        spans = load("HVD_COMPRESSION=" + setting, trace, 3)
        for rank in range(3):
            mine = [e for e in spans if e["pid"] == rank and e["name"] == "allreduce gradients"]
            sent = sum(e["args"]["bytes"] for e in mine)
            check("HVD_COMPRESSION=%s: bytes of rank %d" % (setting, rank),
                  len(mine) == BATCHES * EPOCHS * calls and sent == BATCHES * EPOCHS * total, "%d calls, %d bytes" % (len(mine), sent))
    job = launch(2, folder / "bad.json", HVD_COMPRESSION="powersgd:0")
    check("a compression that is none", job.returncode == 2 and "HVD_COMPRESSION='powersgd:0' is not understood" in job.stderr, job.stderr)


def hierarchical(folder, launcher):
    """Three ranks on nodes of two and one: gradients within a node at every step, parameters between them every second step and at the end."""
    elements = sum(SIZES) + len(SIZES)
    trace = folder / ("hierarchical-%s.json" % launcher)
    job = launch(3, trace, launcher=launcher, HVD_SYNC="hierarchical:2", HVD_NODE_SIZE="2", HVD_CHECK="1")
    what = "hierarchical under " + launcher
    check(what + ": status", job.returncode == 0, job.stderr)
    spans = load(what, trace, 3) if trace.exists() else []
    count_reductions(what, spans, 3, "gradients", BATCHES * EPOCHS, 1, elements)
    count_reductions(what, spans, 3, "parameters", EPOCHS * -(-BATCHES // 2), 1, elements)
    tracks = [{e["tid"] for e in spans if e["pid"] == rank and e["name"] == "allreduce gradients"} for rank in range(3)]
    check(what + ": each node by itself", tracks[0] == tracks[1] and not tracks[0] & tracks[2], tracks)


def served(folder, launcher):
    """A server that workers run ahead of, one of them slow: what is pushed, how old the parameters are, what is pulled."""
    bound, steps, what = 2, BATCHES * EPOCHS, "a server under " + launcher
    trace = folder / ("served-%s.json" % launcher)
    job = launch(4, trace, "slow", launcher=launcher, HVD_SYNC="parameter-server:async:%d" % bound)
    check(what + ": status", job.returncode == 0, job.stderr)
    spans = load(what, trace, 4)
    events = json.loads(trace.read_text())["traceEvents"] if trace.exists() else []
    for rank in range(4):
        pushes, pulls = ([e["args"] for e in events if e["pid"] == rank and e.get("cat") == cat] for cat in ("push", "pull"))
        sent = sum(e["pid"] == rank and e["name"] == "reduce gradients" for e in spans if e["cat"] == "collective")
        taken = sum(e["pid"] == rank and e["name"] == "broadcast parameters" for e in spans)
        check("%s: messages of rank %d" % (what, rank), sent == taken == steps, (sent, taken))
        if rank == 0:
            check(what + ": it pushes and pulls nothing", not pushes and not pulls)
            continue
        check("%s: pushes of rank %d" % (what, rank), [p["step"] for p in pushes] == list(range(1, steps + 1)), pushes)
        check("%s: staleness of rank %d" % (what, rank), all(0 <= p["staleness"] <= bound for p in pushes) and
              all(p["staleness"] == 0 for p in pushes if p["step"] % BATCHES == 1), pushes)
        taken = [p["step"] for p in pulls]
        check("%s: pulls of rank %d" % (what, rank), taken == sorted(set(taken)) and {BATCHES, steps} <= set(taken), taken)
    said = summary(trace).stdout
    check(what + ": summary", said.count("gradients of %d steps pushed to the server" % steps) == 3, said)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        every_step(folder, "hvd-run", 3, "local")
        if MPIRUN:
            every_step(folder, "mpirun", 2, "mpi")
        else:
            print("skip trace under mpirun: no MPI in this build")

        compressed(folder)
        hierarchical(folder, "hvd-run")
        served(folder, "hvd-run")
        if MPIRUN:
            hierarchical(folder, "mpirun")
            served(folder, "mpirun")

        trace = folder / "buckets.json"
        launch(2, trace, HVD_BUCKET_MB="0.002")  # the first bucket takes one tensor, no other takes two
        count_reductions("small buckets", load("small buckets", trace, 2), 2, "gradients", BATCHES * EPOCHS, 4, sum(SIZES) + 4)

        trace = folder / "periodic.json"
        launch(2, trace, HVD_SYNC="periodic:2", HVD_BUCKET_MB="0.002")
        rounds = EPOCHS * -(-BATCHES // 2)
        spans = load("periodic", trace, 2)
        count_reductions("periodic", spans, 2, "parameters", rounds, 4, sum(SIZES) + 4)
        check("periodic: no gradients", not any(e["name"] == "allreduce gradients" for e in spans))

        trace = folder / "growing.json"
        launch(2, trace, HVD_SYNC="periodic:grow:1:1", HVD_BUCKET_MB="0.002")
        count_reductions("a period that grows", load("growing", trace, 2), 2, "parameters", 5 + 3, 4, sum(SIZES) + 4)
        trace = folder / "adaptive.json"
        job = launch(2, trace, HVD_SYNC="periodic:adaptive:20", HVD_CHECK="1")
        spans = load("adaptive", trace, 2)
        means, told = (sum(e["name"] == name for e in spans) for name in ("allreduce parameters", "allgather period"))
        check("an adaptive period", job.returncode == 0 and 2 * EPOCHS <= means <= 2 * BATCHES * EPOCHS and told == means, (means, told, job.stderr))

        trace = folder / "slow.json"
        launch(3, trace, "slow")
        said = summary(trace, "--html", str(folder / "page.html"))
        check("the slow rank is named", "slowest rank: 1\n" in said.stdout and "advice: rank 1 comes last" in said.stdout, said.stdout)
        page = (folder / "page.html").read_text()
        check("the page needs no network", "rank 1 program" in page and "slowest rank: 1" in page and "://" not in page and "src=" not in page)

        trace = folder / "ended.json"
        trace.write_text("of an earlier run")
        job = launch(3, trace, "throw")
        said = summary(trace, "--merge", str(folder / "merged.json"))
        check("an abort leaves its parts", job.returncode == 134 and not trace.exists() and len(list(folder.glob("ended.json.rank*"))) == 3)
        check("the summary of an abort", said.returncode == 0 and "did not come to its end" in said.stdout and "allreduce gradients" in said.stdout,
              said.stdout + said.stderr)
        merged = json.loads((folder / "merged.json").read_text())["traceEvents"]
        check("the parts in one file", {e["pid"] for e in merged} == {0, 1, 2})
        launch(2, trace)
        check("parts of an earlier run are removed", not list(folder.glob("ended.json.rank*")) and trace.exists())

        trace = folder / "alone.json"
        job = launch(1, trace, launcher="none")
        said = summary(trace)
        check("one rank", job.returncode == 0 and said.returncode == 0 and said.stdout.startswith("1 rank, backend self"), said.stdout + said.stderr)

        job = launch(2, folder / "nowhere" / "t.json")
        check("a file that cannot be written", job.returncode == 2 and "HVD_TRACE: " in job.stderr and "No such file or directory" in job.stderr, job.stderr)
        (folder / "not.json").write_text("{\"a\": 1}")
        said = summary(folder / "not.json")
        check("a file that is no trace", said.returncode == 1 and "not a trace" in said.stderr, said.stderr)
        check("no file", summary(folder / "none.json").returncode == 1 and summary("--what").returncode == 2)


main()
sys.exit(failures > 0)
