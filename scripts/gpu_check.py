#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does what scripts/gpu-check.sh says. Python's standard library only."""
import argparse
import concurrent.futures
import datetime
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "bench" / "device"), str(ROOT / "scripts")]
import peers  # noqa: E402
import study  # noqa: E402
import gpu_check_examples  # noqa: E402
import gpu_check_torch  # noqa: E402

# One test of every kind of kernel; compute-sanitizer slows them a hundredfold.
SANITIZED = ("*OnCublas/conv2d*:*OnCublas/max_pool*:*OnCublas/avg_pool*:*OnCublas/softmax*:*OnCublas/layer_norm*:*OnCublas/sum*:"
             "*OnCublas/index_select:*OnCublas/gather:*OnCublas/cross_entropy*:*OnCublas/batch_norm*:*GpuDevices.Training*/cublas:"
             "*GpuDevicesConvolution.Transposes*/cublas:*GpuDevicesLayers.Statistics*/cublas")


class Failed(Exception):
    """No report can be made; the text says why."""


def say(text):
    print("gpu-check: " + text, flush=True)


def run(command, timeout, log=None, **environment):
    """(status, output); status 124 after the timeout."""
    try:
        done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=timeout,
                              env={**os.environ, **environment}, stdin=subprocess.DEVNULL)
        status, output = done.returncode, done.stdout
    except subprocess.TimeoutExpired as late:
        status, output = 124, (late.stdout or b"").decode(errors="replace") if isinstance(late.stdout, bytes) else late.stdout or ""
    except OSError as error:
        status, output = 127, str(error)
    if log:
        Path(log).write_text(output)
    return status, output


def find_gpu():
    """Name, driver and compute capability of the first GPU."""
    if not shutil.which("nvidia-smi"):
        raise Failed("no CUDA device: there is no nvidia-smi")
    status, output = run(["nvidia-smi", "--query-gpu=name,driver_version,compute_cap,memory.total", "--format=csv,noheader"], 60)
    lines = [line for line in output.splitlines() if line.count(",") == 3]
    if status != 0 or not lines:
        raise Failed("no CUDA device: nvidia-smi says '%s'" % (output.strip().splitlines() or ["nothing"])[0])
    name, driver, capability, memory = (part.strip() for part in lines[0].split(","))
    return {"name": name, "driver": driver, "capability": capability, "memory": memory, "count": len(lines)}


def python_package(*patterns):
    """Files of CUDA's libraries in Python's packages (site-packages/nvidia/...)."""
    for folder in sys.path:
        for pattern in patterns:
            found = sorted(glob.glob(os.path.join(folder, "nvidia", pattern)))
            if found:
                return found[0]
    return None


def library_options():
    """Where cuDNN or cuBLAS lie in Python's packages and not in the toolkit."""
    options = []
    toolkit = Path(shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc").resolve().parent.parent
    if not glob.glob(str(toolkit / "lib64" / "libcudnn.so*")) and not glob.glob("/usr/lib/*/libcudnn.so*"):
        header, library = python_package("cudnn/include/cudnn.h"), python_package("cudnn/lib/libcudnn.so.9")
        if header and library:
            options += ["-DHVDIZE_CUDNN_INCLUDE_DIR=" + str(Path(header).parent), "-DHVDIZE_CUDNN_LIBRARY=" + library]
    if not glob.glob(str(toolkit / "lib64" / "libcublas.so")):
        library = python_package("cu13/lib/libcublas.so.13", "cublas/lib/libcublas.so.1?")
        if library:
            options.append("-DCUDA_cublas_LIBRARY=" + library)
    if not (toolkit / "include" / "nccl.h").exists() and python_package("nccl/include/nccl.h"):
        options.append("-DHVDIZE_NCCL_INCLUDE_DIR=" + str(Path(python_package("nccl/include/nccl.h")).parent))
    return options


def build_googletest(deps, build):
    """Options that name a GoogleTest made from its sources, where the machine has none."""
    sources = deps / "googletest"
    if not sources.exists():
        return []
    folder = build / "googletest"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("gtest-all", "gtest_main"):
        library = folder / ("lib%s.a" % ("gtest" if name == "gtest-all" else "gtest_main"))
        if library.exists():
            continue
        source = sources / "src" / (name + ".cc")
        status, output = run(["g++", "-std=c++20", "-O1", "-fPIC", "-I", sources / "include", "-I", sources, "-c", source, "-o", folder / (name + ".o")], 300)
        if status == 0:
            status, output = run(["ar", "rcs", library, folder / (name + ".o")], 60)
        if status != 0:
            raise Failed("GoogleTest cannot be compiled: " + output[-500:])
    return ["-DGTEST_INCLUDE_DIR=%s" % (sources / "include"), "-DGTEST_LIBRARY=%s" % (folder / "libgtest.a"),
            "-DGTEST_MAIN_LIBRARY=%s" % (folder / "libgtest_main.a"), "-DCMAKE_DISABLE_FIND_PACKAGE_GTest_CONFIG=ON"]


def zlib_options(deps):
    if Path("/usr/include/zlib.h").exists() or not (deps / "include" / "zlib.h").exists():
        return []
    found = sorted(glob.glob("/lib/*/libz.so.1") + glob.glob("/usr/lib/*/libz.so.1"))
    return ["-DZLIB_INCLUDE_DIR=%s" % (deps / "include")] + (["-DZLIB_LIBRARY=" + found[0]] if found else [])


def build(arguments, capability):
    """The runtime, its tests and the benchmark; hvdize itself is left out."""
    folder = arguments.build.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    deps = arguments.deps.resolve() if arguments.deps else folder / "no-deps"
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    options = ["-DCMAKE_BUILD_TYPE=Release", "-DHVDIZE_BUILD_TOOL=OFF", "-DHVDIZE_WITH_TORCH=OFF", "-DHVDIZE_WITH_CUDA=ON", "-DHVDIZE_BUILD_TESTS=ON"]
    if capability:
        options.append("-DHVDIZE_CUDA_ARCHITECTURES=%s-real" % capability.replace(".", ""))
    options += arguments.cmake
    if shutil.which("ccache"):
        options.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
    say("configuring in %s" % folder)
    status, output = run(["cmake", *generator, "-S", ROOT, "-B", folder, *options, *library_options(), *build_googletest(deps, folder), *zlib_options(deps)],
                         300, folder / "configure.log")
    if status != 0:
        raise Failed("configuring failed, see %s:\n%s" % (folder / "configure.log", output[-2000:]))
    targets = ["hvd_cuda", "hvd-unit-tests", "hvd-dist-training", "hvd-dist-graphs", "hvd-dist-conformance", "hvd-run", "helenna_seq", "hvd-bench-device", "hvd-bench-steps"]
    if mpirun_of(folder):
        targets.append("hvd-bench")
    if has_cudnn_tests(folder):
        targets.append("hvd-cudnn-tests")
    say("building with %d jobs" % arguments.jobs)
    start = time.monotonic()
    status, output = run(["cmake", "--build", folder, "-j", arguments.jobs, "--target", *targets], 1800, folder / "build.log")
    if status != 0:
        errors = [line for line in output.splitlines() if "error" in line.lower()][:20]
        raise Failed("the build failed, see %s:\n%s" % (folder / "build.log", "\n".join(errors) or output[-2000:]))
    say("built in %.0f s" % (time.monotonic() - start))
    return folder


def use_build(folder):
    """A build made elsewhere with --build-only: the libraries of CUDA that it needs may lie in Python's packages."""
    folder = folder.resolve()
    found = [python_package(*patterns) for patterns in (("cudnn/lib/libcudnn.so.9",), ("cu13/lib/libcublas.so.13", "cublas/lib/libcublas.so.1?"),
                                                        ("cu13/lib/libnvrtc.so.13", "cuda_nvrtc/lib/libnvrtc.so.1?"))]
    paths = [str(folder / "lib")] + [str(Path(library).parent) for library in found if library] + os.environ.get("LD_LIBRARY_PATH", "").split(":")
    os.environ["LD_LIBRARY_PATH"] = ":".join(dict.fromkeys(path for path in paths if path))
    status, output = run([folder / "bin" / "hvd-bench-device", "--describe"], 60)
    if status != 0:
        raise Failed("the build in '%s' does not run here: %s" % (folder, output[-800:]))
    return folder


def has_cudnn_tests(folder):
    """Whether the build has found cuDNN."""
    found = [line for line in (folder / "CMakeCache.txt").read_text().splitlines() if line.startswith("HVDIZE_CUDNN_LIBRARY:")]
    return bool(found) and not found[0].endswith("NOTFOUND")


def google_test(program, chosen, timeout, before=(), **environment):
    """What a GoogleTest program counts: passed, failed (names), skipped (names)."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        status, output = run([*before, program, "--gtest_color=no", "--gtest_brief=1", "--gtest_filter=" + chosen, "--gtest_output=json:%s" % report],
                             timeout, **environment)
        result = {"passed": 0, "failed": [], "skipped": [], "status": status}
        if not report.exists():
            result["failed"].append("%s ended with status %d: %s" % (Path(program).name, status, output[-800:]))
            return result
        for suite in json.loads(report.read_text())["testsuites"]:
            for test in suite["testsuite"]:
                name = "%s.%s" % (suite["name"], test["name"])
                if test.get("failures"):
                    result["failed"].append(name + ": " + test["failures"][0]["failure"][:400])
                elif test.get("result") == "SKIPPED":
                    result["skipped"].append(name)
                elif test.get("result") == "COMPLETED":
                    result["passed"] += 1
        if status != 0 and not result["failed"]:
            result["failed"].append("status %d: %s" % (status, output[-800:]))
        return result


def one(status, output, what):
    return {"passed": int(status == 0), "failed": [] if status == 0 else ["%s: status %d: %s" % (what, status, output[-800:])], "skipped": []}


# Who carries buffers on GPUs: name, HVD_BACKEND, who carries those on the host, whether it needs mpirun, what a refusal says where a machine lacks it.
WAYS = (("staged through shared memory", "local", "local", False, None),
        ("staged through MPI", "mpi", "mpi", True, None),
        ("CUDA-aware MPI", "mpi_cuda", "mpi", True, "HVD_BACKEND=mpi_cuda: rank 0: this MPI library"),
        ("NCCL", "nccl", "local", False, "HVD_BACKEND=nccl: rank 0: NCCL cannot be loaded"),
        ("NCCL under MPI", "nccl", "local", True, "HVD_BACKEND=nccl: rank 0: NCCL cannot be loaded"))


def mpirun_of(folder):
    """The launcher of MPI that the build has found; empty: it has no MPI."""
    site = folder / "test" / "site.json"
    found = json.loads(site.read_text())["mpirun"] if site.exists() else ""
    return found if shutil.which(found) else ""


def launcher(folder, ranks, mpi):
    """The command that starts ranks; None where there is no mpirun, or the build has no MPI."""
    if not mpi:
        return [folder / "bin" / "hvd-run", "-n", ranks]
    if os.geteuid() == 0:
        os.environ["OMPI_ALLOW_RUN_AS_ROOT"] = os.environ["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
    return [mpirun_of(folder), "--oversubscribe", "-np", ranks] if mpirun_of(folder) else None


def nccl_library():
    """HVD_NCCL_LIBRARY where NCCL lies in Python's packages only."""
    toolkit = Path(shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc").resolve().parent.parent
    found = python_package("nccl/lib/libnccl.so.2")
    if "HVD_NCCL_LIBRARY" in os.environ or not found or glob.glob(str(toolkit / "lib64" / "libnccl.so.2")) or glob.glob("/usr/lib/*/libnccl.so.2"):
        return {}
    return {"HVD_NCCL_LIBRARY": found}


def way_case(folder, way, device, ranks=2):
    """The conformance suite on buffers of the GPU, and training, over one way."""
    name, backend, host, mpi, refusal = way
    command = launcher(folder, ranks, mpi)
    if not command:
        return {"passed": 0, "failed": [], "skipped": ["%s: there is no mpirun, or this build has no MPI" % name]}
    result = {"passed": 0, "failed": [], "skipped": []}
    for program, options, settings in (("hvd-dist-conformance", [host], {"HVD_TEST_WAY": backend}), ("hvd-dist-training", [], {"HVD_TEST_DEVICE": device})):
        status, output = run([*command, folder / "bin" / program, *options], 120, HVD_BACKEND=backend, HVD_DEADLINE="60", **settings, **nccl_library())
        if status == 2 and refusal and refusal in output:
            lines = [line for line in output.splitlines() if refusal in line]
            return {"passed": 0, "failed": [], "skipped": ["%s: %s" % (name, lines[0])]}
        case = one(status, output, "%s over %s on %d ranks" % (program, name, ranks))
        result["passed"] += case["passed"]
        result["failed"] += case["failed"]
    return result


def collectives_case(folder, ranks=2, largest=64 << 20):
    """Allreduces of buffers on the GPU over each way that is there: the case, and the table of hvd-bench."""
    command = launcher(folder, ranks, True)
    if not command:
        return {"passed": 0, "failed": [], "skipped": ["hvd-bench: there is no mpirun, or this build has no MPI"]}, ""
    status, output = run([*command, folder / "bin" / "hvd-bench", "--memory", "device", "--max-bytes", str(largest), "--rounds", "5", "--iterations", "5"], 120,
                         **nccl_library())
    lines = output.splitlines()
    begin = next((i for i, line in enumerate(lines) if line.startswith("allreduce, ")), len(lines))
    return one(status, output, "hvd-bench"), "\n".join(line for line in lines[begin:] if not line.startswith("hvd: "))


def ranks_case(folder, device, ranks):
    result = {"passed": 0, "failed": [], "skipped": []}
    for program in ("hvd-dist-training", "hvd-dist-graphs"):
        status, output = run([folder / "bin" / "hvd-run", "-n", ranks, folder / "bin" / program], 180, HVD_TEST_DEVICE=device, **nccl_library())
        case = one(status, output, "%s on %d ranks, backend auto, device %s" % (program, ranks, device))
        for kind, value in case.items():
            result[kind] += value
    return result


def accuracy_case(folder, device):
    """A short training has to learn its ten classes."""
    with tempfile.TemporaryDirectory() as out:
        status, output = run([folder / "bin" / "helenna_seq", "--network", "cnn_small", "--device", device, "--epochs", "3", "--batch", "64",
                              "--lr", "0.02", "--workers", "2", "--out", out + "/"], 240)
        lines = Path(out, "log.csv").read_text().splitlines() if Path(out, "log.csv").exists() else []
        best = max((float(line.split(",")[3]) for line in lines[1:]), default=0.0)
        case = one(status, output, "helenna on " + device)
        if status == 0 and best < 0.8:
            case = {"passed": 0, "failed": ["helenna on %s: test accuracy %.3f, at least 0.8 expected" % (device, best)], "skipped": []}
        return case, best


def fashion_case(folder, data):
    """cnn_medium on Fashion-MNIST reaches what it reaches on the CPU: 0.91 (docs/measurements: 0.9193)."""
    if not data:
        return {"passed": 0, "failed": [], "skipped": ["no --data with Fashion-MNIST"]}
    with tempfile.TemporaryDirectory() as out:
        status, output = run([folder / "bin" / "helenna_seq", "--network", "cnn_medium", "--dataset", "mnist", "--data", data, "--device", "cudnn", "--epochs", "4",
                              "--lr", "0.05", "--workers", "8", "--out", out + "/"], 150)
        lines = Path(out, "log.csv").read_text().splitlines() if Path(out, "log.csv").exists() else []
    case = one(status, output, "helenna on Fashion-MNIST")
    last = float(lines[-1].split(",")[3]) if len(lines) > 4 else 0.0
    say("  Fashion-MNIST: test accuracies %s" % ", ".join(line.split(",")[3] for line in lines[1:]))
    if status == 0 and last < 0.91:
        case = {"passed": 0, "failed": ["cnn_medium on Fashion-MNIST: test accuracy %.4f after 4 epochs, at least 0.91 expected" % last], "skipped": []}
    return case


def peers_case(folder, limit):
    """Training steps beside PyTorch's: the case, and the lines of the table."""
    if not torch_is_there():
        return {"passed": 0, "failed": [], "skipped": ["peers: Python has no PyTorch"]}, []
    status, output = run([sys.executable, ROOT / "bench" / "device" / "peers.py", "--steps", folder / "bin" / "hvd-bench-steps", "--limit", limit], limit + 120,
                         folder / "peers.log")
    return one(status, output, "peers.py"), peers.table([json.loads(line) for line in output.splitlines() if line.startswith('{"side"')])


def torch_is_there():
    return run([sys.executable, "-c", "import torch"], 120)[0] == 0


def sanitizer(folder, tool):
    program = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    if not Path(program).exists():
        return {"passed": 0, "failed": [], "skipped": ["compute-sanitizer is not installed"]}
    return google_test(folder / "bin" / "hvd-unit-tests", SANITIZED, 110, before=[program, "--tool", tool, "--error-exitcode", "9"])


def commit():
    status, output = run(["git", "-C", ROOT, "rev-parse", "HEAD"], 10)
    changed = run(["git", "-C", ROOT, "status", "--porcelain", "-uno"], 30)[1].strip()
    return (output.strip() + (" with changes" if changed else "")) if status == 0 else "unknown"


def markdown(report):
    gpu = report["gpu"]
    lines = ["# Check of the GPU devices", "",
             "%s, %s, compute capability %s, driver %s (%d in the machine); %s; commit %s; %s UTC; %.0f s in all." % (
                 gpu["name"], gpu["memory"], gpu["capability"], gpu["driver"], gpu["count"], report["nvcc"], report["commit"], report["date"], report["seconds"]),
             "", "The library says: " + report["library"], "", *[line for remark in report.get("remarks", []) for line in ("**Remark.** " + remark, "")], "| suite | passed | failed | skipped | seconds |", "| --- | ---: | ---: | ---: | ---: |"]
    for suite in report["suites"]:
        lines.append("| %s | %d | %d | %d | %.0f |" % (suite["name"], suite["passed"], len(suite["failed"]), len(suite["skipped"]), suite["seconds"]))
    failures = [(s["name"], f) for s in report["suites"] for f in s["failed"]]
    if failures:
        lines += ["", "## What failed", ""] + ["- %s: `%s`" % (name, text.replace("\n", " ").replace("`", "'")) for name, text in failures]
    if report["collectives"]:
        lines += ["", "## Collectives of buffers on the GPU", "", "```", report["collectives"], "```"]
    if report.get("peers"):
        lines += ["", "## Training steps beside PyTorch's", ""] + report["peers"]
    skipped = [(s["name"], why) for s in report["suites"] for why in s["skipped"]]
    if skipped:
        lines += ["", "## What was skipped", ""] + ["- %s: %s" % (name, text.replace("\n", " ")) for name, text in skipped]
    if report["measurements"]:
        lines += ["", "## Measurements", ""] + study.tables(report["measurements"])
    return "\n".join(lines) + "\n"


def write_report(out, report):
    """Both files, whole or not at all."""
    out.mkdir(parents=True, exist_ok=True)
    for name, text in (("gpu-check.json", json.dumps(report, indent=1) + "\n"), ("gpu-check.md", markdown(report))):
        part = out / (name + ".part")
        part.write_text(text)
        os.replace(part, out / name)


class Check:
    """One run: its suites so far. The report is written anew after each."""

    def __init__(self, arguments, gpu, folder):
        self.arguments, self.gpu, self.folder, self.begin = arguments, gpu, folder, time.monotonic()
        self.suites, self.measurements, self.collectives, self.peers = [], [], "", []
        nvcc = run(["nvcc", "--version"], 30)[1].strip().splitlines()
        library = run([folder / "bin" / "hvd-bench-device", "--describe"], 120)[1]
        self.nvcc = nvcc[-2] if len(nvcc) > 1 else "nvcc unknown"
        self.library = next((line[5:] for line in library.splitlines() if line.startswith("GPU: ")), "nothing")
        say("the library says: " + self.library)

    def left(self):
        return self.arguments.limit - (time.monotonic() - self.begin)

    def suite(self, name, work):
        self.together([(name, work)])

    def together(self, suites):
        """Suites side by side, as many as --together says; what they find is kept in their order."""
        def timed(work):
            start = time.monotonic()
            result = work() if self.left() > 0 else {"passed": 0, "failed": ["not run: the time of --limit was over"], "skipped": []}
            return result, time.monotonic() - start

        with concurrent.futures.ThreadPoolExecutor(max_workers=self.arguments.together) as pool:
            for name, future in [(name, pool.submit(timed, work)) for name, work in suites]:
                result, seconds = future.result()
                self.suites.append({"name": name, "seconds": seconds, **{k: result[k] for k in ("passed", "failed", "skipped")}})
                say("%s: %d passed, %d failed, %d skipped (%.0f s, ended after %.0f s)" % (
                    name, result["passed"], len(result["failed"]), len(result["skipped"]), seconds, time.monotonic() - self.begin))
                for failure in result["failed"][:10]:
                    say("  FAILED " + failure)
                write_report(self.arguments.out, self.report())

    def report(self):
        return {"gpu": self.gpu, "nvcc": self.nvcc, "commit": self.arguments.commit or commit(), "library": self.library,
                "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M"), "seconds": time.monotonic() - self.begin,
                "remarks": self.arguments.remark, "suites": self.suites, "measurements": self.measurements, "collectives": self.collectives, "peers": self.peers}

    def devices(self):
        folder, tests = self.folder, self.folder / "bin" / "hvd-unit-tests"
        graphs = has_cudnn_tests(folder)
        suites = []
        if graphs:
            # Without a plan other ways take over, in silence: here that is a failure. And those other ways.
            suites += [("convolutions on cudnn, plans required", lambda: google_test(tests, "*GpuDevicesConvolution*/cudnn", 200, HVD_CUDNN_GRAPH="require")),
                       ("attention on cudnn, plans required", lambda: google_test(tests, "*GpuDevicesAttention*/cudnn", 200, HVD_CUDNN_GRAPH="require")),
                       ("convolutions on cudnn, without graphs", lambda: google_test(tests, "*GpuDevicesConvolution*/cudnn:*OnCudnn/conv*", 120, HVD_CUDNN_GRAPH="off")),
                       ("graphs of cuDNN, without the GPU", lambda: google_test(folder / "bin" / "hvd-cudnn-tests", "*", 120))]
        for device, name in (("cublas", "OnCublas"), ("cudnn", "OnCudnn")):
            # What cuDNN does by plans has suites of its own.
            others = ":-*GpuDevicesConv*:*GpuDevicesAtt*" if device == "cudnn" and graphs else ""
            if device == "cublas":  # which has no attention of its own
                others = ":-*GpuDevicesAttention.IsOneOperationWhereTheDeviceHasIt*"
            suites += [("operations on " + device, lambda name=name: google_test(tests, "*%s/*" % name, 200)),
                       ("memory, copies, draws, training on " + device, lambda device=device, others=others: google_test(tests, "*Gpu*" + device + others, 200))]
        return suites + [("allocator", lambda: google_test(tests, "CachingAllocator*:GpuLibrary*", 60))]

    def ranks(self):
        return [("2 ranks, backend auto, " + device, lambda device=device: ranks_case(self.folder, device, 2)) for device in ("cublas", "cudnn")] + [
            ("%d ranks, %s" % (ranks, way[0]), lambda way=way, ranks=ranks: way_case(self.folder, way, "cublas", ranks)) for way in WAYS for ranks in (1, 2, 3, 8)]

    def training(self):
        return [("training reaches its accuracy, " + device, lambda device=device: accuracy_case(self.folder, device)[0]) for device in ("cublas", "cudnn")] + [
            ("Fashion-MNIST on cudnn reaches the accuracy of the CPU", lambda: fashion_case(self.folder, self.arguments.data))]

    def sanitizers(self):
        return [("compute-sanitizer " + tool, lambda tool=tool: sanitizer(self.folder, tool)) for tool in ("memcheck", "racecheck") if self.arguments.sanitizer]

    def torch_programs(self):
        made = gpu_check_torch.prepare(self.folder, self.arguments.deps and self.arguments.deps.resolve(), self.arguments.jobs)
        return gpu_check_torch.torch_case(self.folder, made, nccl_library())

    def benchmarks(self):
        def operations():
            status, output = run([self.folder / "bin" / "hvd-bench-device", "--device", "cublas", "--device", "cudnn", "--seconds", "0.05"], 150)
            self.measurements = study.parse(output)
            return one(status, output, "hvd-bench-device")

        def collectives():
            case, self.collectives = collectives_case(self.folder)
            return case

        def beside_peers():
            case, self.peers = peers_case(self.folder, max(0.0, self.left() - 20))
            return case

        for name, work in (("benchmark of operations", operations), ("benchmark of collectives", collectives), ("benchmark beside PyTorch", beside_peers)):
            self.suite(name, work)

    def all(self):
        # The longest first.
        deps = self.arguments.deps and self.arguments.deps.resolve()
        examples = [("rewritten example on 1 and 2 ranks", lambda: gpu_check_examples.examples_case(self.folder, deps, ("cublas", "cudnn"), nccl_library()))]
        self.together([("rewritten LibTorch programs", self.torch_programs), *examples, *self.sanitizers(), *self.devices(), *self.training(), *self.ranks()])
        if self.arguments.bench:
            self.benchmarks()
        return self.report()


def main():
    parser = argparse.ArgumentParser(prog="gpu-check.sh", description="Builds the runtime on a machine with a GPU, tests and measures its GPU devices.")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "measurements")
    parser.add_argument("--deps", type=Path)
    parser.add_argument("--build", type=Path, default=ROOT / "build-gpu")
    parser.add_argument("--built", action="store_true", help="use what is in --build, made elsewhere with --build-only, as it is")
    parser.add_argument("--data", type=Path, help="a folder with Fashion-MNIST")
    parser.add_argument("--commit", help="what the report says of the sources, where git does not know")
    parser.add_argument("--remark", action="append", default=[], help="what a reader of the report has to know of this run")
    parser.add_argument("--limit", type=float, default=3600, help="seconds after which no further suite is begun; those left out count as failed")
    parser.add_argument("--together", type=int, default=1, help="suites of tests that run side by side; benchmarks run by themselves")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--no-bench", dest="bench", action="store_false")
    parser.add_argument("--no-sanitizer", dest="sanitizer", action="store_false")
    parser.add_argument("--build-only", action="store_true", help="build and stop; needs no GPU")
    parser.add_argument("--capability", help="of the GPUs to build for with --build-only, such as 9.0; without: the default GPUs")
    parser.add_argument("--cmake", action="append", default=[], metavar="OPTION", help="one more option for CMake")
    arguments = parser.parse_args()
    try:
        gpu = None if arguments.build_only else find_gpu()
        folder = use_build(arguments.build) if arguments.built else build(arguments, gpu["capability"] if gpu else arguments.capability)
    except Failed as why:
        print("gpu-check: %s" % why, file=sys.stderr)
        return 2
    if arguments.build_only:
        return 0
    report = Check(arguments, gpu, folder).all()
    failed = sum(len(s["failed"]) for s in report["suites"])
    say("%d passed, %d failed, %d skipped; report in %s" % (
        sum(s["passed"] for s in report["suites"]), failed, sum(len(s["skipped"]) for s in report["suites"]), arguments.out))
    return 1 if failed or not any(s["passed"] for s in report["suites"]) else 0


if __name__ == "__main__":
    sys.exit(main())
