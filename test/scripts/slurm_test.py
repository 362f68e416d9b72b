#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Submits the scripts of examples/slurm to a real Slurm of one machine, started for this test in a folder of its own.      usage: slurm_test.py BUILD

Needs root, Slurm and munge (Debian: slurm-wlm). Prints "ok", "FAIL" or "skip" for each check; status 1 after a failure.
"""
import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
READER = Path(__file__).resolve().parent / "docs"
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "sinfo")


def missing():
    """Why the test cannot run here; empty when it can."""
    if os.geteuid() != 0:
        return "only root can start Slurm"
    path = os.environ["PATH"] + ":/usr/sbin"
    absent = [p for p in PROGRAMS if not shutil.which(p, path=path)]
    if absent:
        return "%s is not installed" % absent[0]
    try:
        pwd.getpwnam("munge")
    except KeyError:
        return "there is no user munge"
    return ""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Slurm:
    """munged, slurmctld and slurmd, with everything they write below one folder."""

    def __init__(self, folder):
        self.folder = folder
        self.daemons = []
        self.env = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf"), "PATH": os.environ["PATH"] + ":/usr/sbin"}

    def start(self):
        munge = pwd.getpwnam("munge")
        place = self.folder / "munge"
        place.mkdir()
        key = place / "key"
        key.write_bytes(os.urandom(1024))
        for path in (place, key):
            os.chown(path, munge.pw_uid, munge.pw_gid)
        key.chmod(0o400), place.chmod(0o755)
        self.folder.chmod(0o755)
        socket_path = place / "socket"
        self.daemon("setpriv", "--reuid", str(munge.pw_uid), "--regid", str(munge.pw_gid), "--clear-groups", "munged", "--foreground", "--key-file", key,
                    "--socket", socket_path, "--pid-file", place / "pid", "--log-file", place / "log", "--seed-file", place / "seed")
        self.write_configuration(socket_path)
        self.wait(socket_path.exists, 20, "munged")
        self.daemon("slurmctld", "-D", "-i", "-f", self.folder / "slurm.conf")
        self.daemon("slurmd", "-D", "-f", self.folder / "slurm.conf")
        self.wait(lambda: "idle" in self.output("sinfo", "-h", "-o", "%T"), 60, "slurmd")

    def write_configuration(self, socket_path):
        host = socket.gethostname().split(".")[0]
        (self.folder / "state").mkdir()
        (self.folder / "spool").mkdir()
        (self.folder / "slurm.conf").write_text("\n".join([
            "ClusterName=test", "SlurmctldHost=%s(127.0.0.1)" % host, "SlurmUser=root", "SlurmdUser=root", "AuthType=auth/munge", "CryptoType=crypto/munge",
            "AuthInfo=socket=%s" % socket_path, "SlurmctldPort=%d" % free_port(), "SlurmdPort=%d" % free_port(), "StateSaveLocation=%s" % (self.folder / "state"),
            "SlurmdSpoolDir=%s" % (self.folder / "spool"), "SlurmctldPidFile=%s" % (self.folder / "ctld.pid"), "SlurmdPidFile=%s" % (self.folder / "d.pid"),
            "SlurmctldLogFile=%s" % (self.folder / "ctld.log"), "SlurmdLogFile=%s" % (self.folder / "d.log"), "ProctrackType=proctrack/linuxproc",
            "TaskPlugin=task/none", "SelectType=select/cons_tres", "SelectTypeParameters=CR_Core", "SlurmdParameters=config_overrides", "MpiDefault=none",
            "ReturnToService=2", "JobAcctGatherType=jobacct_gather/none", "AccountingStorageType=accounting_storage/none",
            "NodeName=%s NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN" % host, "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP"]) + "\n")

    def daemon(self, *command):
        log = open(self.folder / ("%s.out" % Path(command[0]).name), "ab")
        self.daemons.append(subprocess.Popen([str(c) for c in command], env=self.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True))

    def wait(self, ready, seconds, what):
        end = time.monotonic() + seconds
        while not ready():
            if time.monotonic() > end:
                raise RuntimeError("%s did not start:\n%s" % (what, self.logs()))
            time.sleep(0.3)

    def output(self, *command):
        return subprocess.run(command, env=self.env, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout

    def logs(self):
        return "\n".join("%s: %s" % (p.name, p.read_text(errors="replace")[-1500:]) for p in sorted(self.folder.glob("*.log")) + sorted(self.folder.glob("*.out")))

    def stop(self):
        for d in reversed(self.daemons):
            try:
                os.killpg(d.pid, signal.SIGTERM)
                d.wait(timeout=15)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                d.kill()


def build_program(site, folder):
    shutil.copytree(READER, folder)
    include = Path(site["source"], "runtime", "include")
    command = [Path(site["bin"], "hvdize-c++"), "-std=c++20", "-Iinclude", "-I%s" % include, "train.cpp", "-o", "train", site["runtime"],
               "-Wl,-rpath,%s" % Path(site["runtime"]).parent]
    done = subprocess.run([str(c) for c in command], cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return "" if done.returncode == 0 else done.stdout


def submit(slurm, site, folder, script):
    """(what the job wrote, the trace's summary)"""
    work = folder / script.stem
    work.mkdir()
    trace, out = work / "trace.json", work / "job.out"
    env = {**slurm.env, "PATH": site["bin"] + ":" + slurm.env["PATH"], "HVD_TRACE": str(trace), "HVD_BATCH": "global"}
    done = subprocess.run(["sbatch", "--wait", "--export=ALL", "--output=%s" % out, str(script), str(folder / "train")], cwd=work, env=env, timeout=150, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    text = done.stdout + (out.read_text() if out.exists() else "")
    summary = slurm.output(str(Path(site["bin"], "hvd-trace")), str(trace))
    return done.returncode, text, summary, (work / "model.safetensors").exists()


def main():
    why = missing()
    if why:
        print("skip examples/slurm: %s" % why)
        return 0
    site = json.loads(Path(sys.argv[1], "test", "site.json").read_text())
    failures = 0
    with tempfile.TemporaryDirectory(prefix="hvdize-slurm-") as temporary:
        folder = Path(temporary)
        slurm = Slurm(folder)
        try:
            if trouble := build_program(site, folder / "reader"):
                raise RuntimeError(trouble)
            slurm.start()
            for script in sorted((ROOT / "examples" / "slurm").glob("*.sbatch")):
                if script.stem == "several-nodes" and not site["mpirun"]:
                    print("skip %s: no MPI in this build" % script.name)
                    continue
                status, text, summary, saved = submit(slurm, site, folder / "reader", script)
                good = status == 0 and [line for line in text.splitlines() if line.startswith("epoch")] == ["epoch 1", "epoch 2"] and saved and "2 ranks" in summary
                print("%-4s %s: a job of 2 ranks" % ("ok" if good else "FAIL", script.name), flush=True)
                if not good:
                    failures += 1
                    print("    status %s, saved %s\n%s\n%s\n%s" % (status, saved, text, summary, slurm.logs()))
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            print("FAIL Slurm on this machine: %s" % error)
            failures += 1
        finally:
            slurm.stop()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
