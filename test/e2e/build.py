# SPDX-License-Identifier: Apache-2.0
"""Rewrites and compiles the programs of the end-to-end tests; results are kept by the content of what they are made from."""
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

COMPILE_TIMEOUT = 600


class BuildError(Exception):
    """Something did not compile or was not rewritten; the message is for the reader."""


@dataclass
class Rewrite:
    status: int
    messages: str
    output: Path
    written: bool

    def texts(self):
        """What was written, by the path in the folder of the output."""
        folder = self.output.parent
        return {f.relative_to(folder): f.read_bytes() for f in folder.rglob("*") if f.is_file()}


class Builder:
    def __init__(self, build, hvdize=None, extra_options=()):
        self.site = json.loads(Path(build, "test", "site.json").read_text())
        self.include = Path(self.site["source"], "runtime", "include")
        self.hvdize = hvdize or str(Path(self.site["bin"], "hvdize"))
        self.verify = str(Path(self.site["bin"], "hvd-verify"))
        self.launcher = str(Path(self.site["bin"], "hvd-run"))
        self.extra_options = list(extra_options)
        self.cache = Path(build, "test", "e2e-cache")
        self.torch_include = Path(self.site["source"], "runtime", "torch", "include")
        headers = sorted(self.include.rglob("*.hpp")) + sorted(self.torch_include.rglob("*.hpp"))
        self.headers = self.digest(*[p.read_bytes() for p in headers])
        self.precompiling = threading.Lock()

    @staticmethod
    def digest(*parts):
        total = hashlib.sha256()
        for part in parts:
            total.update(part if isinstance(part, bytes) else str(part).encode())
            total.update(b"\0")
        return total.hexdigest()[:24]

    @staticmethod
    def is_torch(source):
        """Whether the program is one of LibTorch's."""
        return "#include <torch/" in source.read_text()

    def parse_flags(self, source, cxx):
        # Quote includes of a copy or of a rewritten file are meant relative to the original.
        if not self.is_torch(source):
            return ["-std=c++20", "-I", str(self.include), "-iquote", str(source.parent), *cxx]
        flags = ["-std=c++" + self.site["torchStandard"], "-I", str(self.torch_include), "-I", str(self.include), "-iquote", str(source.parent)]
        # A compiler that is told of its own folder again looks there too early.
        folders = {os.path.realpath(f): None for f in self.site["torchIncludes"].split(":") if f}
        for folder in folders:
            if folder != "/usr/include":
                flags += ["-isystem", folder]
        return flags + list(cxx)

    def emulated_gpus(self, source):
        """Linker arguments for GPUs where LibTorch has none: for cases with gpus=N, or for all programs with HVD_TEST_TORCH_GPUS=1."""
        asked = os.environ.get("HVD_TEST_TORCH_GPUS") == "1" or any(line.startswith("// e2e:") and "gpus=" in line for line in source.read_text(errors="replace").splitlines())
        return ["-Wl,--no-as-needed", self.site["torchGpus"], "-Wl,--as-needed"] if asked and self.site["torchGpus"] else []

    def libraries(self, source):
        runtime = [Path(self.site["runtime"])]
        if self.is_torch(source):
            runtime.insert(0, Path(self.site["torch"]))
        linked = [str(r) for r in runtime] + ["-Wl,-rpath," + str(r.parent) for r in runtime]
        return linked + (self.emulated_gpus(source) + self.site["torchLibraries"].split(":") if self.is_torch(source) else [])

    def compiler(self, origin):
        """LibTorch's headers, precompiled, cost a third with Clang; programs of the training core are compiled by the build's compiler."""
        clang = Path(self.site["llvmTools"], "clang++") if self.site["tool"] else None
        return str(clang) if clang and self.is_torch(origin) and clang.exists() else self.site["compiler"]

    def linker(self, compiler):
        """LLVM's, where Clang compiles: LibTorch's libraries take the usual one as long as a fifth of the compilation."""
        lld = Path(compiler).with_name("ld.lld")
        return ["-fuse-ld=lld"] if compiler.endswith("clang++") and lld.exists() else []

    def general_flags(self):
        return ["-O0", "-Wall", "-Wextra", *self.site["flags"].split()]

    def precompiled(self, origin):
        """A framework's headers take longer to read than a program: they are read once for all programs. The first flags of a compilation,
        none for a program that does not include the header of the whole framework: what it lacks must not come from elsewhere."""
        compiler, clang = self.compiler(origin), self.compiler(origin).endswith("clang++")
        whole = "torch/torch.h" if self.is_torch(origin) else "hvd/hvd.hpp"
        if "#include <%s>\n" % whole not in origin.read_text(errors="surrogateescape"):
            return []
        # Folders of the program differ from case to case and are of no consequence for LibTorch's headers.
        flags = self.general_flags() + self.parse_flags(origin, [])
        flags = [f for f, before in zip(flags, ["", *flags]) if "-iquote" not in (f, before)]
        with self.precompiling:
            folder = self.cache / ("headers-" + self.digest(compiler, self.site["compilerVersion"], self.headers, whole, Path(__file__).with_name("early_torch.hpp").read_text(), *flags))
            header = folder / "headers.h"
            ready = Path(str(header) + (".pch" if clang else ".gch"))
            if not ready.exists():
                folder.mkdir(parents=True, exist_ok=True)
                early = Path(__file__).with_name("early_torch.hpp").read_text() if clang and self.is_torch(origin) else "#include <%s>\n" % whole
                header.write_text(early.replace("#pragma once\n", ""))
                at_once = ["-fpch-instantiate-templates"] if clang else []
                self.checked([compiler, *flags, *at_once, "-x", "c++-header", str(header), "-o", str(header) + ".part"])
                os.replace(str(header) + ".part", ready)
            return ["-include", str(header)]

    def rewrite(self, source, folder, options, cxx, further=()):
        """Runs hvdize on `source`, and on `further` sources of the same program; the result goes into `folder`, which is emptied first."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        output = folder / source.name
        place = ["-o", str(output)]
        files = [str(source)]
        if further:
            place = ["--out-root", str(folder)]
            files = [str(f.relative_to(source.parent)) for f in [source, *further]]
        command = [self.hvdize, *files, *place, *options, *self.extra_options, "--", *self.parse_flags(source, cxx)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True,
                              errors="replace", timeout=COMPILE_TIMEOUT, cwd=source.parent)
        written = output.exists() or any(folder.iterdir())
        return Rewrite(done.returncode, done.stdout, output, written)

    def compile(self, text, origin, cxx, further=(), beside=None):
        """Compiles the text of a program that stems from the file `origin`; the path of the executable.

        further: the other sources, as paths relative to the folder `beside` (default: that of `origin`), whose headers are found first."""
        compiler = self.compiler(origin)
        beside = beside or origin.parent
        flags = [*self.general_flags(), "-iquote", str(beside), *self.parse_flags(origin, cxx)]
        near = sorted(f for f in beside.rglob("*") if f.is_file()) if further or beside != origin.parent else []
        key = self.digest(text, origin.stem, self.headers, compiler, self.site["compilerVersion"], *flags, *self.libraries(origin), *further,
                          *[part for f in near for part in (f.relative_to(beside), f.read_bytes())])
        folder = self.cache / key
        program = folder / origin.stem
        if program.exists():
            return program
        self.cache.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=key + ".", dir=self.cache))  # two cases may build the same text at once
        sources = [work / origin.name]
        # Headers beside the source are looked for there before anywhere else.
        for file in [f for f in near if f.relative_to(beside) != Path(origin.name) and beside != origin.parent]:
            (work / file.relative_to(beside)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, work / file.relative_to(beside))
        sources[0].write_text(text, newline="")
        sources += [beside / f for f in further]
        launcher = [self.site["launcher"]] if self.site["launcher"] else []
        first = self.precompiled(origin)
        if first:
            launcher = []
        objects = []
        for number, source in enumerate(sources):
            objects.append(str(work / ("part%d.o" % number)))
            self.checked([*launcher, compiler, *first, *flags, "-c", str(source), "-o", objects[-1]])
        self.checked([compiler, *self.linker(compiler), *self.site["flags"].split(), *objects, "-o", str(work / origin.stem), *self.libraries(origin), "-pthread"])
        try:
            work.rename(folder)
        except OSError:  # another run was quicker
            shutil.rmtree(work, ignore_errors=True)
        return program

    @staticmethod
    def checked(command):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True,
                              errors="replace", timeout=COMPILE_TIMEOUT)
        if done.returncode != 0:
            raise BuildError("status %d of: %s\n%s" % (done.returncode, " ".join(command), done.stdout))
