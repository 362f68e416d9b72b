#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# On a machine with an NVIDIA GPU: builds the runtime (without the compiler hvdize, so without LLVM), runs the tests of the GPU
# devices, several ranks on the GPU (over the host, MPI, CUDA-aware MPI and NCCL, as far as
# they are there), compute-sanitizer and the benchmarks, and writes a report. Needs nvcc, cuBLAS, CMake, Ninja or make, g++ and Python 3; no network.
# What else the machine lacks (GoogleTest, zlib's headers) scripts/gpu-carry.sh puts into a folder.
#
#   scripts/gpu-check.sh [--out FOLDER] [--deps FOLDER] [--build FOLDER] [--jobs N] [--no-bench] [--no-sanitizer] [--build-only]
#
#   --out    where gpu-check.md and gpu-check.json go (default docs/measurements); written when all is done
#   --deps   a folder made by scripts/gpu-carry.sh
#   --build  the build folder (default build-gpu)
# Exit status: 0 all passed, 1 something failed (the report says what), 2 there is no GPU or no build: no report.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
command -v python3 >/dev/null || { echo "gpu-check: python3 is needed" >&2; exit 2; }
exec python3 "$here/gpu_check.py" "$@"
