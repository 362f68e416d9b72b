# SPDX-License-Identifier: Apache-2.0
"""Units that hvdize-c++ compiles once, at the link: what their objects are, and that nothing else is missed."""
import os
import re
import shutil
import subprocess
from pathlib import Path

KIND = re.compile(rb"hvdize-unit \d+\nkind (\w+)\n")
SOURCES = {"main.o": "main.cpp", "loop.o": "train/loop.cpp", "blobs.o": "data/blobs.cpp"}
MISSING = "hvdize_needs_its_link_step__this_object_holds_no_code"


def kinds(*objects):
    """What the summaries of object files call their units."""
    return [kind.decode() for o in objects for kind in KIND.findall(o.read_bytes())]


def session(b, program, folder):
    """Is this the distributed form of a program?"""
    return "hvd::Session" in subprocess.run(["nm", "-C", program], cwd=folder, text=True, stdout=subprocess.PIPE).stdout


class Program:
    """The program of three files, in a folder of its own."""

    def __init__(self, b, name, *flags, env=None):
        self.b, self.folder, self.env = b, b.folder(name, Path(b.site["source"], "test", "e2e", "programs", "several")), env
        self.flags = [*b.core[:2], *flags, "-I.", b.core[-1]]

    def compile(self, compiler=None, objects=SOURCES):
        return all(self.b.done([compiler or self.b.wrapper, *self.flags, "-c", SOURCES[o], "-o", o], self.folder, env=self.env) for o in objects)

    def link(self, *arguments, env=None, compiler=None):
        return self.b.done([compiler or self.b.wrapper, *arguments, *self.b.link], self.folder, env={**(self.env or {}), **(env or {})})

    def output(self, program, env=None):
        return self.b.run(["./" + program], self.folder, env=env)

    def is_sequential(self, program):
        return not session(self.b, program, self.folder) and self.output(program) == self.expected

    @property
    def kinds(self):
        return kinds(*(self.folder / o for o in SOURCES))

    def plain(self):
        """The program by the real compiler."""
        good = self.b.done([self.b.real, *self.flags, *SOURCES.values(), "-o", "plain", *self.b.link], self.folder)
        self.expected = self.output("plain")
        return good


def once(b):
    """How often the real compiler sees a unit."""
    p = Program(b, "once")
    log, counting = p.folder / "log", p.folder / "counting"
    counting.write_text('#!/bin/sh\necho "$@" >>%s\nexec %s "$@"\n' % (log, b.real))
    counting.chmod(0o755)
    p.env = {"HVDIZE_CXX": str(counting)}
    count = lambda name: sum(bool(re.search(r" -c \S*/?%s " % name, line)) for line in log.read_text().splitlines())  # noqa: E731
    b.check("units that train wait for the link", p.plain() and p.compile() and p.kinds == ["deferred", "deferred", "plain"] and count("main.cpp") + count("loop.cpp") == 0)
    b.check("and are compiled once there", p.link("main.o", "loop.o", "blobs.o", "-o", "t") and count("main.cpp") == count("loop.cpp") == 1)
    b.check("the program is the sequential one on 1 and 2 ranks", b.agrees(p.folder / "plain", p.folder / "t", p.folder))
    b.check("a second link compiles nothing", p.link("main.o", "loop.o", "blobs.o", "-o", "t") and count("main.cpp") == count("loop.cpp") == 1)
    both = [subprocess.Popen([str(w) for w in (b.wrapper, *(p.folder / o for o in SOURCES), "-o", "t%d" % n, *b.link)], cwd=p.folder, stdin=subprocess.DEVNULL) for n in (1, 2)]
    b.check("two links of the same objects at a time", [process.wait(240) for process in both] == [0, 0] and p.output("t1", {"HVD_BATCH": "global"}) == p.output("t2", {"HVD_BATCH": "global"}) == p.expected)
    b.check("sources on the link command", p.link(*p.flags, *SOURCES.values(), "-o", "t3") and p.output("t3", {"HVD_BATCH": "global"}) == p.expected and session(b, "t3", p.folder))
    b.check("a linker that is not ours says what is missing", not p.link("main.o", "loop.o", "blobs.o", "-o", "x", compiler=b.real) and MISSING in b.last)
    (p.folder / "bare.cpp").write_text(Path(p.folder, "main.cpp").read_text().replace('"train/loop.h"', '"train/net.h"').replace("train_epoch(net, optimizer, data, settings)", "1.0").replace("Settings settings;", "struct { size_t batch = 1; double rate = 1; } settings;"))
    b.check("a program that makes an optimizer and never trains is compiled as it is written", b.done([b.wrapper, *p.flags, "-c", "bare.cpp"], p.folder) and kinds(p.folder / "bare.o") == ["deferred"] and
            p.link("bare.o", "blobs.o", "-o", "bare") and not session(b, "bare", p.folder) and p.output("bare")[0] == 0)


def as_written(b):
    """Links that leave the program as it is written compile what was deferred, too."""
    p = Program(b, "as-written", "-fPIC")
    if not b.check("position independent code waits as well", p.plain() and p.compile() and p.kinds == ["deferred", "deferred", "plain"]):
        return
    objects = list(SOURCES)
    b.check("HVDIZE=off", p.link(*objects, "-o", "off", env={"HVDIZE": "off"}) and p.is_sequential("off"))
    b.check("--hvdize-off", p.link("--hvdize-off", *objects, "-o", "off2") and p.is_sequential("off2"))
    b.check("a shared library", p.link("-shared", "loop.o", "blobs.o", "-o", "libparts.so") and b.done([b.real, *p.flags, "main.cpp", "-o", "s", "-L.", "-lparts", "-Wl,-rpath," + str(p.folder), *b.link], p.folder) and p.is_sequential("s"))
    b.check("-r, and then the real link", b.done([b.wrapper, "-r", "loop.o", "-o", "part.o"], p.folder) and kinds(p.folder / "part.o") == ["plain"] and
            p.link("main.o", "part.o", "blobs.o", "-o", "r") and session(b, "r", p.folder) and p.output("r", {"HVD_BATCH": "global"}) == p.expected)
    b.check("-r of several units that change is refused", b.done([b.wrapper, "-r", "loop.o", "blobs.o", "-o", "parts.o"], p.folder) and not p.link("main.o", "parts.o", "-o", "r2") and "several objects" in b.last)
    text = Path(p.folder, "train", "loop.cpp").read_text()
    Path(p.folder, "train", "loop.cpp").write_text(text.replace("loss.backward();", "static hvd::Tensor before; if (before.defined()) loss = loss + before; before = loss; loss.backward();"))
    good = p.plain() and p.compile(objects=["loop.o"]) and kinds(p.folder / "loop.o") == ["deferred"] and not p.link(*objects, "--hvdize-batch=global", "-o", "f") and "[HVD3" in b.last
    b.check("HVDIZE_FALLBACK", good and p.link(*objects, "--hvdize-batch=global", "-o", "f", env={"HVDIZE_FALLBACK": "sequential"}) and p.is_sequential("f"))
    Path(p.folder, "train", "loop.cpp").write_text(text)
    b.check("a source that changed after its object was made", not p.link(*objects, "-o", "c", env={"HVDIZE": "off"}) and "compile it again" in b.last)


def at_once(b):
    """What -c brings beside the object comes by -c: dependencies, errors, and files of options that are known to make some."""
    p = Program(b, "at-once")
    for number, words in enumerate((["-MD"], ["-MMD", "-MP", "-MF", "r.d", "-MT", "a target"], ["-MMD", "-MFr.d", "-MQ", "a$b"])):
        rules = []
        for compiler in (b.real, b.wrapper):
            good = b.done([compiler, *p.flags, *words, "-c", "train/loop.cpp", "-o", "loop.o"], p.folder)
            file = p.folder / ("r.d" if number else "loop.d")
            rules.append(file.read_text() if good and file.exists() else compiler)
            file.unlink(missing_ok=True)
        b.last = "\n-- hvdize-c++:\n".join(rules)
        b.check("the real compiler's dependencies: %s" % " ".join(words), rules[0] == rules[1] and kinds(p.folder / "loop.o") == ["deferred"])
    (p.folder / "all.h").write_text("#include <hvd/hvd.hpp>\n")
    rules = []
    good = b.done([b.real, *p.flags, "-x", "c++-header", "all.h"], p.folder)
    for compiler in (b.real, b.wrapper):
        good = good and b.done([compiler, *p.flags, "-include", "all.h", "-MD", "-c", "train/loop.cpp", "-o", "loop.o"], p.folder)
        rules.append((p.folder / "loop.d").read_text())
    b.last = "\n-- hvdize-c++:\n".join(rules)
    b.check("and with a precompiled header", good and rules[0] == rules[1] and "hvd.hpp" not in rules[0] and kinds(p.folder / "loop.o") == ["deferred"])
    text = Path(p.folder, "train", "loop.cpp").read_text()
    (p.folder / "wrong.cpp").write_text(text.replace("loop.h", "train/loop.h").replace("../data", "data").replace("evaluate.h", "train/evaluate.h").replace("double sum = 0;", "double sum = 0, unused; sum = no_such_name;"))
    errors = [re.sub(r"^\S*(c\+\+|g\+\+|clang\+\+\S*): ", "", b.run([c, *p.flags, "-c", "wrong.cpp"], p.folder)[1], flags=re.M) for c in (b.real, b.wrapper)]
    b.check("an error is the real compiler's, at once", "no_such_name" in errors[0] and errors[0].splitlines()[:3] == errors[1].splitlines()[:3] and not (p.folder / "wrong.o").exists())
    (p.folder / "wrong.cpp").write_text((p.folder / "wrong.cpp").read_text().replace(", unused; sum = no_such_name", ", unused"))
    b.check("a warning that is an error too", not b.done([b.wrapper, *p.flags, "-Wall", "-Werror", "-c", "wrong.cpp"], p.folder) and "unused" in b.last and not (p.folder / "wrong.o").exists())
    objects = {}
    for flag, beside in (("-gsplit-dwarf", "loop.dwo"), ("--coverage", "loop.gcno"), ("-fstack-usage", "loop.su"), ("-Wa,-adhln=loop.list", "loop.list"), ("-flto", ""), ("--hvdize-defer=off", "")):
        if flag == "-fstack-usage" and not b.site["compilerVersion"].startswith("GNU"):
            continue
        done = b.done([b.wrapper, *p.flags, flag, "-c", "train/loop.cpp", "-o", "loop.o"], p.folder)
        objects[flag] = done and kinds(p.folder / "loop.o") == ["plain"] and (not beside or (p.folder / beside).exists())
        b.check("compiled at once: %s" % flag, objects[flag])
    b.check("compiled at once: HVDIZE_DEFER=off", b.done([b.wrapper, *p.flags, "-c", "train/loop.cpp", "-o", "loop.o"], p.folder, env={"HVDIZE_DEFER": "off"}) and kinds(p.folder / "loop.o") == ["plain"])
    (p.folder / "main.d").unlink(missing_ok=True)
    b.check("several sources, one with -x", b.done([b.wrapper, *p.flags, "-MMD", "-c", "main.cpp", "-x", "c++", "train/loop.cpp"], p.folder) and kinds(p.folder / "main.o", p.folder / "loop.o") == ["deferred", "deferred"] and
            "main.cpp" in (p.folder / "main.d").read_text() and "loop.cpp" in (p.folder / "loop.d").read_text())


def archives(b):
    """One archive with the trainers of two programs: each program gets its own, wherever and however the archive is named."""
    p = Program(b, "archives")
    for n in "ab":
        for source in ("main.cpp", "train/loop.cpp"):
            text = Path(p.folder, source).read_text().replace("train_epoch", "train_epoch_" + n)
            Path(p.folder, source.replace(".cpp", "_%s.cpp" % n)).write_text(text.replace("double sum = 0;", "double sum = %d;" % (n == "b")))
    header = Path(p.folder, "train", "loop.h")
    declared = next(line for line in header.read_text().splitlines() if "train_epoch" in line)
    header.write_text(header.read_text().replace(declared, declared.replace("train_epoch", "train_epoch_a") + "\n" + declared.replace("train_epoch", "train_epoch_b")))
    names = ["main_a", "main_b", "loop_a", "loop_b", "blobs"]
    made = lambda compiler, *flags: all(b.done([compiler, *p.flags, *flags, "-c", next(p.folder.rglob(n + ".cpp")), "-o", n + ".o"], p.folder) for n in names)  # noqa: E731
    members = ["blobs.o", "loop_b.o", "loop_a.o"]
    good = made(b.real)
    for n in "ab":
        good = good and b.done([b.real, "main_%s.o" % n, "loop_%s.o" % n, "blobs.o", "-o", "plain_" + n, *b.link], p.folder)
    expected = {n: p.output("plain_" + n) for n in "ab"}
    good = good and made(b.wrapper) and b.done(["ar", "rcs", "liball.a", *members], p.folder) and b.done(["ar", "rcsT", "libthin.a", *members], p.folder)
    if not b.check("an archive with the trainers of two programs", good and kinds(p.folder / "liball.a") == ["plain", "deferred", "deferred"] and expected["a"] != expected["b"]):
        return
    b.check("its table of symbols names what waits", b.done(["nm", "-s", "liball.a"], p.folder) and re.search(r"train_epoch_a\S* in loop_a\.o", b.last))
    b.check("a linker that is not ours says what is missing", not b.done([b.real, *p.flags, "main_a.cpp", "liball.a", "-o", "x", *b.link], p.folder) and MISSING in b.last)

    def is_program(n, *arguments, distributed=True, env=None):
        program = "t_" + n
        (p.folder / program).unlink(missing_ok=True)
        good = p.link("main_%s.o" % n, *arguments, "-o", program, env=env) and p.output(program, {"HVD_BATCH": "global"}) == expected[n] and session(b, program, p.folder) == distributed
        return good and not list((p.folder / (program + ".hvdize")).glob("*.a"))

    def has(n, program):
        return "train_epoch_" + n in subprocess.run(["nm", "-C", program], cwd=p.folder, text=True, stdout=subprocess.PIPE).stdout

    b.check("the first program has its trainer and not the other's", is_program("a", "liball.a") and has("a", "t_a") and not has("b", "t_a"))
    b.check("the second one too, with -l", is_program("b", "-L.", "-lall") and has("b", "t_b") and not has("a", "t_b"))
    for what in (["libthin.a"], ["-Wl,--start-group,liball.a,--end-group"], ["-Xlinker", "liball.a"], ["-L.", "-Wl,-Bstatic", "-lall", "-Wl,-Bdynamic"]):
        b.check("named by %s" % " ".join(what), is_program("a", *what) and not has("b", "t_a"))
    b.check("--whole-archive takes both", is_program("a", "-Wl,--whole-archive", "liball.a", "-Wl,--no-whole-archive") and has("b", "t_a"))
    b.check("HVDIZE=off", is_program("b", "liball.a", distributed=False, env={"HVDIZE": "off"}) and not has("a", "t_b"))
    for n in "ab":
        file = Path(p.folder, "train", "loop_%s.cpp" % n)
        file.write_text(file.read_text() + "int defined_twice() { return 1; }\n")
    good = made(b.wrapper) and b.done(["ar", "rcs", "libtwice.a", *members], p.folder)
    b.check("what both define is no clash where one is used", good and is_program("a", "libtwice.a", distributed=False, env={"HVDIZE": "off"}))


def cached(b):
    """With ccache: objects without code are found again, and the link is right."""
    if not shutil.which("ccache"):
        b.skip("ccache and what waits for the link", "ccache is not installed")
        return
    p = Program(b, "deferred-cache")
    p.plain()
    for where, command in (("in front", ["ccache", b.wrapper]), ("behind", [b.wrapper, "ccache", b.real])):
        p.env = {"CCACHE_DIR": str(p.folder / "cache")}
        good = True
        for _ in range(2):
            for o, source in SOURCES.items():
                good = good and b.done([*command, *p.flags, "-MMD", "-c", source, "-o", o], p.folder, env=p.env)
        good = good and p.kinds == ["deferred", "deferred", "plain"] and "train/net.h" in (p.folder / "loop.d").read_text()
        b.check("ccache %s of it, and units that wait" % where, good and p.link(*SOURCES, "-o", "t") and p.output("t", {"HVD_BATCH": "global"}) == p.expected)
        shutil.rmtree(p.folder / "t.hvdize", ignore_errors=True)


def killed(b, trials=6):
    """A compilation that is killed leaves a whole object or none."""
    import random
    import signal
    import time
    p = Program(b, "deferred-killed")
    command = [str(w) for w in (b.wrapper, *p.flags, "-MMD", "-c", "train/loop.cpp", "-o", "loop.o")]
    start = time.monotonic()
    b.done(command, p.folder)
    whole, chance, bad = time.monotonic() - start, random.Random(11), []
    for trial in range(trials):
        (p.folder / "loop.o").unlink(missing_ok=True)
        process = subprocess.Popen(command, cwd=p.folder, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(chance.uniform(0.3, 1.1) * whole)
        (os.killpg if trial % 2 else os.kill)(process.pid, signal.SIGKILL)
        process.wait()
        if (p.folder / "loop.o").exists() and (kinds(p.folder / "loop.o") != ["deferred"] or not b.done(["nm", "loop.o"], p.folder) or MISSING not in b.last or not (p.folder / "loop.d").exists()):
            bad.append("%d: %s" % (trial, b.last))
    b.last = "\n".join(bad)
    b.check("killed compilations of what waits leave a whole object or none", not bad)
    b.done(command, p.folder)
    b.last = " ".join(sorted(f.name for f in p.folder.iterdir()))
    b.check("and the next one clears up", b.last == "data loop.d loop.o main.cpp train")


TESTS = {"once": once, "written": as_written, "atonce": at_once, "archives": archives, "cached": cached, "waiting": killed}
