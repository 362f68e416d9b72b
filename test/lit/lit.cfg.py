# SPDX-License-Identifier: Apache-2.0
#
# Tests of the rewriters. Substitutions, besides those of lit:
#   %hvdize FILE -o OUT     the program, quiet about nothing
#   %core_flags             how a program on the training core is parsed; goes after hvdize's `--`
#   %compile FILE           a golden output must compile (-fsyntax-only, with %core_flags)
#   %python                 the interpreter that runs lit
#   %strip FILE             prints FILE without the lines that hold directives of the test (RUN, CHECK and its kind): the
#                           output keeps the input's comments, and a check must not find itself
#   %check FILE [options]   %strip of FILE, checked by FileCheck against the directives of this test (%s)
#   %docs                   the folder of the documentation
#   %refused_torch          programs of LibTorch that must be refused: as %golden, which see; needs the feature `torch`
#   %golden [options]       rewrites the programs of this test and judges each by what it announces: see golden.py
import json
import os
import subprocess
import sys

import lit.formats

config.name = "hvdize"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".cpp", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = config.exec_root

config.environment["PATH"] = os.pathsep.join([config.llvm_tools, config.environment["PATH"]])
for name in ("CCACHE_DIR", "HOME"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
# Precompiled headers of the tests' own: nothing in the user's folders is read or written.
config.environment["HVDIZE_CACHE"] = os.path.join(config.exec_root, "header-cache")

core_flags = "-std=c++20 -I" + os.path.join(config.source_root, "runtime", "include")
strip = "%s %s" % (sys.executable, os.path.join(config.test_source_root, "strip.py"))

config.substitutions.append(("%python", sys.executable))
config.substitutions.append(("%hvdize", config.hvdize))
config.substitutions.append(("%core_flags", core_flags))
config.substitutions.append(("%compile", "%s -fsyntax-only %s" % (config.compiler, core_flags)))
config.substitutions.append(("%strip", strip))
config.substitutions.append(("%docs", os.path.join(config.source_root, "docs")))
config.substitutions.append(("%check", "%s --check %s %%s" % (strip, os.path.join(config.llvm_tools, "FileCheck"))))

# What hvdize inserts is laid out by the .clang-format above a file; the expectations are those of a program without one, wherever the
# build folder lies.
os.makedirs(config.exec_root, exist_ok=True)
with open(os.path.join(config.exec_root, ".clang-format"), "w") as file:
    file.write("DisableFormat: true\n")

# Programs share their headers in precompiled form, without those that hvdize adds: each output must bring them itself.
parts = os.path.join(config.test_source_root, "passes", "Inputs")
precompiled, tools = (os.path.join(config.exec_root, name) for name in ("headers.pch", "tools.json"))
clang = os.path.join(config.llvm_tools, "clang++")
# With what they instantiate: else each program that uses them does it again.
subprocess.run([clang, *core_flags.split(), "-fpch-instantiate-templates", "-x", "c++-header", os.path.join(parts, "headers.hpp"), "-o", precompiled], check=True)
with open(tools, "w") as file:
    json.dump({"hvdize": config.hvdize, "compiler": clang, "filecheck": os.path.join(config.llvm_tools, "FileCheck"),
               "split": os.path.join(config.llvm_tools, "split-file"), "flags": [*core_flags.split(), "-I" + parts, "-include-pch", precompiled]}, file)
config.substitutions.append(("%golden", "%s %s %s %%s %%t" % (sys.executable, os.path.join(config.test_source_root, "golden.py"), tools)))

# Programs of LibTorch: its headers are precompiled by hvdize itself, once; only what is refused is judged here.
with open(os.path.join(os.path.dirname(config.exec_root), "site.json")) as file:
    site = json.load(file)
if site["torch"]:
    config.available_features.add("torch")
    folders = [os.path.realpath(f) for f in site["torchIncludes"].split(":") if f]
    torch_flags = ["-std=c++" + site["torchStandard"], "-I" + os.path.join(config.source_root, "runtime", "torch", "include"),
                   "-I" + os.path.join(config.source_root, "runtime", "include")]
    for folder in dict.fromkeys(folders):
        if folder != "/usr/include":
            torch_flags += ["-isystem", folder]
    torch_tools = os.path.join(config.exec_root, "torch-tools.json")
    with open(tools) as file:
        changed = dict(json.load(file), flags=torch_flags)
    with open(torch_tools, "w") as file:
        json.dump(changed, file)
    config.substitutions.append(("%refused_torch", "%s %s %s %%s %%t --no-verify" % (sys.executable, os.path.join(config.test_source_root, "golden.py"), torch_tools)))
