#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of hvdize-c++: prints "ok WHAT", "FAIL WHAT" or "skip WHAT: WHY" for each check.      usage: run.py BUILD [TEST...]"""
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import deferred

HERE = Path(__file__).resolve().parent
TEMPORARY = re.compile(r"\.hvdize|guard\.h")


class Bench:
    """One build of hvdize, an empty folder, and what happened so far."""

    def __init__(self, build):
        self.site = json.loads(Path(build, "test", "site.json").read_text())
        self.bin = Path(self.site["bin"])
        self.wrapper = str(self.bin / "hvdize-c++")
        self.real = self.site["compiler"]
        self.runtime = self.site["runtime"]
        self.include = str(Path(self.site["source"], "runtime", "include"))
        self.core = ["-std=c++20", "-O0", "-DHIDDEN=8", "-Iinclude", "-I" + self.include]
        self.link = [self.runtime, "-Wl,-rpath," + str(Path(self.runtime).parent)]
        self.work = Path(tempfile.mkdtemp(prefix="hvdize-wrapper-"))
        self.failures = 0
        self.last = ""

    def folder(self, name, *trees):
        path = self.work / name
        path.mkdir(parents=True)
        for tree in trees:
            shutil.copytree(tree, path, dirs_exist_ok=True)
        return path

    def run(self, command, folder, env=None, timeout=240):
        """(status, output of both streams)"""
        done = subprocess.run([str(c) for c in command], cwd=folder, env={**os.environ, **(env or {})}, timeout=timeout, text=True, errors="replace",
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.last = done.stdout
        return done.returncode, done.stdout

    def done(self, command, folder, **options):
        return self.run(command, folder, **options)[0] == 0

    def check(self, what, good):
        print("%-4s %s" % ("ok" if good else "FAIL", what), flush=True)
        if not good:
            self.failures += 1
            print("\n".join("    " + line for line in self.last.splitlines()[-40:]), flush=True)
        return good

    def skip(self, what, why):
        print("skip %s: %s" % (what, why), flush=True)

    def configure(self, source, build, generator, *options, env=None):
        return self.done(["cmake", "-S", source, "-B", build, "-G", generator, "-DCMAKE_BUILD_TYPE=Debug", "-DCORE_INCLUDE=" + self.include,
                          "-DCORE_LIBRARY=" + self.runtime, *options], source, env=env)

    def agrees(self, sequential, distributed, folder, env=()):
        env = [word for e in ("HVD_BATCH=global", *env) for word in ("--env", e)]
        return self.done([self.bin / "hvd-verify", "-n", "1,2", "--timeout", "60", *env, "--sequential", sequential, "--distributed", distributed], folder)


def plain_program(b):
    """The sequential program of single/, by the real compiler."""
    folder = b.folder("plain", HERE / "single")
    assert b.done([b.real, *b.core, "trainer.cpp", "-o", "trainer", *b.link], folder), b.last
    return folder / "trainer"


def cmake_project(b):
    """A CMake project of several targets, only the compiler set: loop, data and main in files of their own, some in a static library."""
    folder, program = b.folder("several"), b.folder("several-program", Path(b.site["source"], "test", "e2e", "programs", "several"))
    shutil.copytree(HERE / "several", folder, dirs_exist_ok=True)
    options = ["-DPROGRAM=%s" % program]
    plain, build = folder / "plain", folder / "build"
    if not b.check("CMake takes the real compiler", b.configure(folder, plain, "Ninja", "-DCMAKE_CXX_COMPILER=" + b.real, *options) and
                   b.done(["ninja", "-C", plain], folder)):
        return
    b.check("CMake identifies hvdize-c++", b.configure(folder, build, "Ninja", "-DCMAKE_CXX_COMPILER=" + b.wrapper, *options))
    b.check("and finds the same compiler behind it", compiler_id(plain) == compiler_id(build))
    if not b.check("the project builds", b.done(["ninja", "-C", build, "-j2"], folder)):
        return
    b.check("a second build does nothing", b.done(["ninja", "-C", build], folder) and "no work to do" in b.last)
    b.check("a program of three files is the sequential one on 1 and 2 ranks", b.agrees(plain / "trainer", build / "trainer", folder))
    b.check("the tool beside it is the same program", b.done([build / "tool"], folder) and b.last == "no training here\n")
    objects = {p.name: p.stat().st_mtime_ns for p in (build / "trainer.hvdize").glob("*.o")}
    (program / "main.cpp").touch()
    b.check("a file is touched: the program is linked again", b.done(["ninja", "-C", build, "-j2"], folder) and "trainer" in b.last)
    after = {p.name: p.stat().st_mtime_ns for p in (build / "trainer.hvdize").glob("*.o")}
    b.check("objects of files that did not change are kept", len(objects) == 3 and sum(objects[n] == after.get(n) for n in objects) >= 2)
    header = program / "train" / "net.h"
    header.write_text(header.read_text() + "// changed\n")
    b.check("a header is changed: it is built again, and then nothing", b.done(["ninja", "-C", build, "-j2"], folder) and "no work" not in b.last and
            b.done(["ninja", "-C", build], folder) and "no work" in b.last)


def cmake_forms(b):
    """What CMake makes of a project's sources: precompiled headers, objects that are a library, several sources in one unit."""
    program = b.folder("forms-program", Path(b.site["source"], "test", "e2e", "programs", "several"))
    sequential = b.folder("forms-plain")
    sources = [program / name for name in ("main.cpp", "train/loop.cpp", "data/blobs.cpp")]
    if not b.done([b.real, *b.core, "-I", program, *sources, "-o", "trainer", *b.link], sequential):
        return b.check("the real compiler builds the program", False)
    forms = {"a precompiled header that changes, and an object library": ("Ninja", ["ninja", "-j2"], ["-DPRECOMPILE=ON", "-DPARTS=OBJECT"]),
             "a unity build with make": ("Unix Makefiles", ["make", "-j2"], ["-DCMAKE_UNITY_BUILD=ON"])}
    clang = Path(b.site["llvmTools"], "clang++")
    if clang.exists():
        forms["a precompiled header of Clang's"] = ("Ninja", ["ninja", "-j2"], ["-DPRECOMPILE=ON"])
    else:
        b.skip("a precompiled header of Clang's", "%s is not installed" % clang)
    for number, (what, (generator, build, options)) in enumerate(forms.items()):
        folder = b.folder("forms-%d" % number, HERE / "several")
        made = folder / "build"
        env = {"HVDIZE_CXX": str(clang)} if "Clang" in what else {}
        b.check("%s: the project builds" % what, b.configure(folder, made, generator, "-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_COMPILER=" + b.wrapper, "-DPROGRAM=%s" % program, *options, env=env) and
                b.done([*build, "-C", made, "trainer"], folder, env=env))
        b.check("%s: a unit waits for the link" % what, "deferred" in deferred.kinds(*(o for o in made.rglob("*.o") if "trainer.hvdize" not in o.parts)))
        b.check("%s: the program is the sequential one on 1 and 2 ranks" % what, b.agrees(sequential / "trainer", made / "trainer", folder))
        if number:
            continue
        b.check("a source that reads the changed header only through the command is compiled again", len(list((made / "trainer.hvdize").glob("bare-*.o"))) == 1)
        header = program / "train" / "evaluate.h"
        header.write_text(header.read_text() + "// changed\n")
        b.check("the precompiled header is changed: all is built again, and then nothing", b.done([*build, "-C", made, "trainer"], folder) and "trainer" in b.last and
                b.done([*build, "-C", made, "trainer"], folder) and "no work" in b.last)


def compiler_id(build):
    text = next(Path(build, "CMakeFiles").glob("*/CMakeCXXCompiler.cmake")).read_text()
    return [re.search(r'set\(%s "([^"]*)"\)' % name, text).group(1) for name in ("CMAKE_CXX_COMPILER_ID", "CMAKE_CXX_COMPILER_VERSION", "CMAKE_CXX_STANDARD_COMPUTED_DEFAULT")]


def launcher(b, plain):
    """As the launcher in front of CMake's compiler and linker, with make."""
    folder = b.folder("launcher", HERE / "single")
    options = ["-DCMAKE_CXX_COMPILER=" + b.real, "-DCMAKE_CXX_COMPILER_LAUNCHER=" + b.wrapper, "-DCMAKE_CXX_LINKER_LAUNCHER=" + b.wrapper]
    b.check("as CMAKE_CXX_COMPILER_LAUNCHER with make -j2", b.configure(folder, folder / "build", "Unix Makefiles", *options) and
            b.done(["make", "-C", folder / "build", "-j2"], folder))
    sequential = b.folder("launcher-plain")
    b.done([b.real, *b.core, "-I", folder / "include", folder / "trainer.cpp", "-o", "trainer", *b.link], sequential)
    b.check("and the program is the sequential one on 1 and 2 ranks, with __FILE__ and __LINE__", b.agrees(sequential / "trainer", folder / "build" / "trainer", folder))
    b.check("make has nothing to do then", b.done(["make", "-q", "-C", folder / "build", "trainer/fast"], folder) or b.done(["make", "-C", folder / "build"], folder) and "Building" not in b.last)
    wrapped = b.folder("no-linker-launcher", HERE / "single")
    b.check("without the linker's launcher the link fails and says why", b.configure(wrapped, wrapped / "build", "Ninja", *options[:2]) and
            not b.done(["ninja", "-C", wrapped / "build"], wrapped) and "CMAKE_CXX_LINKER_LAUNCHER" in b.last)


def dependencies(b, plain):
    """Dependency files speak of the author's files and the object that was asked for."""
    folder = b.folder("dependencies", HERE / "single")
    (folder / "words").write_text(" ".join(b.core[:2]) + " '-DHIDDEN=8' -Iinclude\n@more")
    (folder / "more").write_text("-I%s\n" % b.include)
    b.check("response files, also inside of each other", b.done([b.wrapper, "@words", "-MMD", "-c", "trainer.cpp", "-o", "t.x.o"], folder))
    rule = (folder / "t.x.d").read_text() if (folder / "t.x.d").exists() else ""
    b.last = rule
    b.check("the rule is for the object and names the author's files", rule.startswith("t.x.o:") and " trainer.cpp" in rule and "include/model.h" in rule and "shown.h" in rule)
    b.check("and nothing of ours", not TEMPORARY.search(rule))
    b.check("nothing is left beside the object", sorted(p.name for p in folder.iterdir()) == ["CMakeLists.txt", "include", "more", "shown.h", "t.x.d", "t.x.o", "trainer.cpp", "words"])
    b.done([b.wrapper, *b.core, "-MD", "-MP", "-MF", "r.d", "-MT", "a target", "-fsyntax-only", "trainer.cpp"], folder)
    wrapped = (folder / "r.d").read_text()
    b.done([b.real, *b.core, "-MD", "-MP", "-MF", "r.d", "-MT", "a target", "-fsyntax-only", "trainer.cpp"], folder)
    b.check("-fsyntax-only with dependencies is the real compiler's", wrapped == (folder / "r.d").read_text())
    return folder / "t.x.o"


def pass_through(b):
    """What compiles no object of a program is the real compiler's, byte for byte."""
    folder = b.folder("through", HERE / "several")
    (folder / "c.c").write_text("int c(void) { return 1; }\n")
    for arguments in (["--version"], ["-dumpversion"], ["-print-search-dirs"], ["-E", "tool.cpp"], ["-S", "-o", "-", "tool.cpp"], ["-M", "tool.cpp"], ["-fsyntax-only", "tool.cpp"],
                      ["-E", "-dM", "-x", "c++", "/dev/null"], ["nothing.cpp", "-c"], ["-c", "tool.cpp", "--no-such-option"], []):
        ours = b.run([b.wrapper, *arguments], folder)
        theirs = b.run([b.real, *arguments], folder)
        if ours != theirs:  # the compiler names itself
            ours, theirs = [(s, re.sub(r"^\S*(c\+\+|g\+\+|clang\+\+\S*): ", "", o, flags=re.M)) for s, o in (ours, theirs)]
        b.last = ours[1] + "\n-- the real compiler:\n" + theirs[1]
        b.check("as the real compiler: %s" % (" ".join(arguments) or "(no argument)"), ours == theirs)
    b.check("a C file", b.done([b.wrapper, "-c", "c.c", "-o", "c.o"], folder) and (folder / "c.o").exists())
    b.check("several inputs with -c", b.done([b.wrapper, "-c", "tool.cpp", "c.c"], folder) and (folder / "tool.o").exists() and (folder / "c.o").exists())
    b.check("standard input", subprocess.run([b.wrapper, "-x", "c++", "-c", "-", "-o", "in.o"], cwd=folder, input="int x;", text=True).returncode == 0 and (folder / "in.o").exists())
    b.done([b.real, "-O1", "-c", "tool.cpp", "-o", "real.o"], folder)
    b.done([b.wrapper, "-O1", "-c", "tool.cpp", "-o", "ours.o"], folder)
    for name in ("real", "ours"):
        b.done(["objcopy", "--remove-section=.hvdize", "-O", "binary", name + ".o", name + ".bin"], folder)
    b.check("what does not train is the same code", (folder / "real.bin").read_bytes() == (folder / "ours.bin").read_bytes())
    alone = folder / "alone"
    alone.mkdir()
    shutil.copy(b.wrapper, alone / "hvdize-c++")
    b.check("what does not train never needs hvdize", b.done([alone / "hvdize-c++", "-c", "tool.cpp"], folder))
    shutil.copytree(HERE / "single", folder / "single")
    b.check("what trains does", not b.done([alone / "hvdize-c++", *b.core, "-c", "trainer.cpp"], folder / "single") and "works beside hvdize" in b.last)


def filtered(b):
    """A framework that is reached in a roundabout way is not missed."""
    folder = b.folder("roundabout", HERE / "single")
    text = (folder / "trainer.cpp").read_text().replace("#include <hvd/hvd.hpp>\n", "").replace("#include <model.h>", "#define THE_HEADER \"far/all.h\"\n#  include THE_HEADER")
    if b.site["compilerVersion"].startswith("GNU"):  # what GCC lets pass, hvdize does
        text += "long narrowed(unsigned long n) { long list[] = {n}; return list[0]; }\n"
    (folder / "trainer.cpp").write_text(text)
    (folder / "far").mkdir()
    (folder / "far" / "all.h").write_text("#include_next <model.h>\n")
    b.check("an include by a macro, and the framework behind another header", b.done([b.wrapper, *b.core, "trainer.cpp", "-o", "t", *b.link], folder) and
            "hvd::Session" in subprocess.run(["nm", "-C", "t"], cwd=folder, text=True, stdout=subprocess.PIPE).stdout)


def diagnostics(b):
    """Messages, debug information and coverage speak of the author's lines."""
    folder = b.folder("lines", HERE / "single")
    lines = (folder / "trainer.cpp").read_text().splitlines()
    step = next(i for i, line in enumerate(lines, 1) if "the line of the breakpoint" in line)
    broken = lines[:]
    broken[step] = broken[step] + " int wrong = no_such_name;"
    (folder / "broken.cpp").write_text("\n".join(broken) + "\n")
    b.check("an error of the author's is at the author's line", not b.done([b.wrapper, *b.core, "-c", "broken.cpp"], folder) and "broken.cpp:%d:" % (step + 1) in b.last and
            not (folder / "broken.o").exists())
    unused = lines[:]
    unused[step] = unused[step] + " int never_used;"
    (folder / "unused.cpp").write_text("\n".join(unused) + "\n")
    b.check("and so is a warning about a rewritten file", b.done([b.wrapper, *b.core, "-Wall", "-c", "unused.cpp"], folder) and
            re.search(r"^unused\.cpp:%d:\d+: warning: unused variable" % (step + 1), b.last, re.M))
    if not b.check("a program with debug information and coverage", b.done([b.wrapper, *b.core, "-g", "--coverage", "trainer.cpp", "-c", "-o", "trainer.o"], folder) and
                   b.done([b.wrapper, "--coverage", "trainer.o", "-o", "trainer", *b.link], folder)):
        return
    if shutil.which("gdb"):
        b.run(["gdb", "-q", "-batch", "-ex", "break trainer.cpp:%d" % step, "-ex", "run", "-ex", "info source", "./trainer"], folder, env={"DEBUGINFOD_URLS": ""})
        b.check("gdb stops at the author's line and shows it", re.search(r"^%d\s+optimizer\.step\(\);" % step, b.last, re.M) and "Breakpoint 1, main" in b.last)
    else:
        b.skip("a breakpoint at the author's line", "gdb is not installed")
    b.done(["./trainer"], folder)
    b.done(["gcov", "-t", "trainer.o"], folder)
    counts = {int(m.group(2)): m.group(1).strip() for m in re.finditer(r"^\s*([^:]+):\s*(\d+):", b.last.split("0:Source:trainer.cpp")[-1].split("0:Source:")[0], re.M)}
    b.check("gcov counts the author's lines", counts.get(step, "").rstrip("*") == "8")


def whole_program(b, plain):
    """What the link step refuses."""
    folder = b.folder("refused", HERE / "single")
    text = (folder / "trainer.cpp").read_text()
    (folder / "bad.cpp").write_text(text.replace("loss.backward();", "static hvd::Tensor before; if (before.defined()) loss = loss + before; before = loss; loss.backward();"))
    refused = [b.wrapper, *b.core, "--hvdize-batch=global", "bad.cpp", "-o", "bad", *b.link]
    b.check("a program that is refused is not linked", not b.done(refused, folder) and re.search(r"bad\.cpp:\d+:\d+: error: .*\[HVD3", b.last) and not (folder / "bad").exists())
    b.check("HVDIZE_FALLBACK links it as it is written, and says so", b.done(refused, folder, env={"HVDIZE_FALLBACK": "sequential"}) and "sequential program" in b.last)
    b.check("HVDIZE=off too", b.done(refused, folder, env={"HVDIZE": "off"}))
    (folder / "other.cpp").write_text('#include <cstdio>\nvoid noise(int epoch) { std::printf("noise %d\\n", epoch); }\n')
    (folder / "trainer.cpp").write_text(text.replace("int main()", "void noise(int);\n\nint main()").replace("show(epoch);", "show(epoch);\n    noise(epoch);"))
    for name in ("trainer", "other"):
        b.done([b.wrapper, *b.core, "-c", name + ".cpp"], folder)
    b.check("a function of another file that prints is one rank's", b.done([b.wrapper, "trainer.o", "other.o", "-o", "t", *b.link], folder) and
            b.done([b.bin / "hvd-run", "-n", "2", "./t"], folder) and b.last.count("noise 1") == 1)
    b.done([b.wrapper, *b.core, "-DNDEBUG", "-DHIDDEN=9", "-c", "other.cpp", "-o", "other9.o"], folder)
    b.check("units with another value of a macro do not fit", not b.done([b.wrapper, "trainer.o", "other9.o", "-o", "t9", *b.link], folder) and "macro 'HIDDEN'" in b.last and "model.h" in b.last)
    (folder / "other.cpp").write_text((folder / "other.cpp").read_text() + "int more;\n")
    b.check("a source that changed after its object was made", not b.done([b.wrapper, "trainer.o", "other.o", "-o", "t2", *b.link], folder) and "compile it again" in b.last)
    (folder / "steps.cpp").write_text("#include <hvd/hvd.hpp>\nvoid train_on(const hvd::Tensor& loss) { loss.backward(); }\n")
    b.done([b.real, *b.core, "-c", "steps.cpp"], folder)
    foreign = [b.wrapper, *b.core, "trainer.cpp", "other.cpp", "steps.o", "-o", "t4", *b.link]
    b.check("an object of another compiler that trains is named", not b.done(foreign, folder) and "'steps.o' runs a backward pass" in b.last and not (folder / "t4").exists())
    b.check("and is linked where that is asked for", b.done(foreign, folder, env={"HVDIZE_FALLBACK": "sequential"}) and "'steps.o' runs a backward pass" in b.last)
    b.check("a linker that is not ours is told off", not b.done([b.real, "trainer.o", "-o", "t3", *b.link], folder) and "hvdize_needs_its_link_step" in b.last)


def options(b, plain, single):
    """Options of hvdize, and objects that were made with others."""
    folder = b.folder("options", HERE / "single")
    b.done([b.wrapper, *b.core, "-c", "trainer.cpp", "-o", "t.o"], folder)
    kept = folder / "kept"
    b.check("HVDIZE_FLAGS that came later count when the program is linked", b.done([b.wrapper, "t.o", "-o", "t", *b.link], folder, env={"HVDIZE_FLAGS": "--batch=global", "HVDIZE_KEEP": str(kept)}))
    texts = [p.read_text() for p in kept.rglob("trainer.cpp")]
    b.check("HVDIZE_KEEP keeps the rewritten source", len(texts) == 1 and "hvd::Batch::global" in texts[0] and '#line 1 "trainer.cpp"' in texts[0])
    b.check("one program has one policy", b.done([b.wrapper, *b.core, "--hvdize-batch=global", "-c", "trainer.cpp", "-o", "g.o"], folder) and
            not b.done([b.wrapper, "--hvdize-batch=per-rank", "g.o", "-o", "g", *b.link], folder) and "one policy" in b.last)
    b.check("an option that hvdize does not know", not b.done([b.wrapper, "--hvdize-nonsense", "t.o", "-o", "n", *b.link], folder) and "unknown option" in b.last)
    library = b.folder("library", HERE / "single")
    text = (library / "trainer.cpp").read_text()
    (library / "train.cpp").write_text(text.replace("int main()", "int train()"))
    (library / "main.cpp").write_text("int train();\nint main() { return train(); }\n")
    b.check("training code in a shared library is linked as it is", b.done([b.wrapper, *b.core, "-fPIC", "-shared", "train.cpp", "-o", "libtrain.so", *b.link], library))
    b.check("and a program that uses it is refused", not b.done([b.wrapper, "main.cpp", "-o", "m", "-L.", "-ltrain", *b.link], library) and "shared library" in b.last)


def caches(b, plain):
    """ccache in front of hvdize-c++ and behind it."""
    if not shutil.which("ccache"):
        b.skip("ccache", "ccache is not installed")
        return
    folder = b.folder("ccache", HERE / "single")
    env = {"CCACHE_DIR": str(folder / "cache")}
    for where, command in (("in front", ["ccache", b.wrapper]), ("behind", [b.wrapper, "ccache", b.real])):
        name = where.split()[0] + ".o"
        b.done(["ccache", "--clear", "--zero-stats"], folder, env=env)
        good = b.done([*command, *b.core, "-c", "trainer.cpp", "-o", name], folder, env=env)
        (folder / name).unlink()
        good = good and b.done([*command, *b.core, "-c", "trainer.cpp", "-o", name], folder, env=env)
        good = good and b.done([b.wrapper, name, "-o", "t-" + where.split()[0], *b.link], folder) and b.agrees(plain, folder / ("t-" + where.split()[0]), folder)
        b.check("ccache %s of it: the program is right" % where, good)
        stats = b.run(["ccache", "--print-stats"], folder, env=env)[1]
        hits = sum(int(m.group(1)) for m in re.finditer(r"^(?:direct_cache_hit|preprocessed_cache_hit)\s+(\d+)", stats, re.M))
        b.check("ccache %s of it: the second time is a hit" % where, hits >= 1)


def killed(b):
    """Compilations and links that are killed leave no object that a following build takes for good."""
    folder = b.folder("killed", HERE / "single")
    bad = []
    for delay in (0.05, 0.2, 0.5, 0.9, 1.3, 1.8, 2.4, 3.0):
        process = subprocess.Popen([b.wrapper, *b.core, "-c", "trainer.cpp", "-o", "t.o"], cwd=folder, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(delay)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if (folder / "t.o").exists():
            if not b.done([b.wrapper, "t.o", "-o", "t", *b.link], folder):
                bad.append("%s s: %s" % (delay, b.last))
            (folder / "t.o").unlink()
    b.last = "\n".join(bad)
    b.check("killed compilations leave a whole object or none", not bad)
    b.check("and the next build is right", b.done([b.wrapper, *b.core, "-c", "trainer.cpp", "-o", "t.o"], folder) and b.done([b.wrapper, "t.o", "-o", "t", *b.link], folder) and
            b.done(["./t"], folder))


def killed_links(b):
    """The link step of a program of several units, which compiles them again, is killed at random moments: what it leaves is right or not there."""
    program = Path(b.site["source"], "test", "e2e", "programs", "several")
    folder = b.folder("killed-link")
    objects = ["main.o", "loop.o", "blobs.o"]
    flags = [*b.core[:2], "-I", program, b.core[-1]]
    for source, made in zip(("main.cpp", "train/loop.cpp", "data/blobs.cpp"), objects):
        if not b.done([b.wrapper, *flags, "-c", program / source, "-o", made], folder):
            return b.check("the units are compiled", False)
    link = [b.wrapper, *objects, "-o", "t", *b.link]
    env = {"HVD_BATCH": "global"}
    if not b.check("the link of three units", b.done(link, folder)):
        return
    expected = b.run(["./t"], folder, env=env)
    start = time.monotonic()
    shutil.rmtree(folder / "t.hvdize")
    b.done(link, folder)
    whole = time.monotonic() - start
    chance, bad, unfinished = random.Random(7), [], 0
    for trial in range(8):
        (folder / "t").unlink(missing_ok=True)
        if trial % 3 == 0:
            shutil.rmtree(folder / "t.hvdize", ignore_errors=True)
        process = subprocess.Popen([str(c) for c in link], cwd=folder, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(chance.uniform(0, 1.4 * whole))
        # Every second time only hvdize-c++ itself dies, and what it had started is not told.
        (os.killpg if trial % 2 else os.kill)(process.pid, signal.SIGKILL)
        process.wait()
        if not (folder / "t").exists():
            unfinished += 1
        elif b.run(["./t"], folder, env=env) != expected:
            bad.append("killed %d: the program is not the right one: %s" % (trial, b.last))
    b.last = "\n".join(bad)
    b.check("killed links leave the whole program or none (%d of 8: none)" % unfinished, not bad and unfinished >= 3)
    b.check("and the next link, with what they left, is right", b.done(link, folder) and b.run(["./t"], folder, env=env) == expected)
    left = sorted(p.name for p in folder.iterdir())
    b.last = " ".join(left)
    b.check("and clears up", left == sorted([*objects, "several.safetensors", "t", "t.hvdize"]) and not [p for p in (folder / "t.hvdize").iterdir() if p.suffix not in (".o", ".stamp")])


def main():
    b = Bench(sys.argv[1])
    wanted = sys.argv[2:]
    try:
        plain = plain_program(b)
        tests = {"cmake": lambda: cmake_project(b), "forms": lambda: cmake_forms(b), "launcher": lambda: launcher(b, plain), "dependencies": lambda: dependencies(b, plain), "through": lambda: pass_through(b),
                 "filtered": lambda: filtered(b), "diagnostics": lambda: diagnostics(b), "program": lambda: whole_program(b, plain),
                 "options": lambda: options(b, plain, None), "caches": lambda: caches(b, plain), "killed": lambda: killed(b), "links": lambda: killed_links(b),
                 **{name: lambda test=test: test(b) for name, test in deferred.TESTS.items()}}
        for name, test in tests.items():
            if not wanted or name in wanted:
                test()
    finally:
        if not os.environ.get("HVDIZE_TEST_KEEP"):
            shutil.rmtree(b.work, ignore_errors=True)
        else:
            print("kept %s" % b.work)
    return 1 if b.failures else 0


if __name__ == "__main__":
    sys.exit(main())
