#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs libFuzzer with the address and undefined-behaviour sanitizers on every parser.
#
# usage: fuzz.sh [SECONDS [TARGET...]]      SECONDS for each target (300); TARGET: idx, network, ... (default: all of test/fuzz)
#
# Builds into build-fuzz; corpora stay in build-fuzz/corpus, what a target fails on in build-fuzz/findings. An input may make a parser
# allocate 64 MB at a time and 1 GB together at most. Status 1 when there was a finding.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
seconds=${1:-300}
shift || true
build=$root/build-fuzz
compiler=${CXX:-clang++-19}
mkdir -p "$build"

cmake -G Ninja -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_COMPILER="$compiler" -DHVDIZE_FUZZ=ON \
  -DHVDIZE_BUILD_TOOL=OFF -DHVDIZE_BUILD_EXAMPLES=OFF -DHVDIZE_WITH_MPI=OFF -DHVDIZE_WITH_ONEDNN=OFF -DHVDIZE_WITH_TORCH=OFF \
  -DHVDIZE_WITH_CUDA=OFF -DCMAKE_CXX_COMPILER_LAUNCHER="${LAUNCHER:-}" \
  -DCMAKE_CXX_FLAGS="-fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=undefined -fno-omit-frame-pointer" > "$build/build.log"
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
  for source in "$root"/test/fuzz/*.cpp; do
    name=$(basename "$source" .cpp)
    [ "$name" = replay ] || targets+=("$name")
  done
fi
ninja -C "$build" ${JOBS:+-j "$JOBS"} "${targets[@]/#/hvd-fuzz-}" >> "$build/build.log"
python3 "$root/test/fuzz/seeds.py" "$build/seeds"

status=0
for target in "${targets[@]}"; do
  mkdir -p "$build/corpus/$target" "$build/findings"
  # CIFAR's records are 3 KB; elsewhere short inputs find more.
  if "$build/bin/hvd-fuzz-$target" "$build/corpus/$target" "$build/seeds/$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=1024 \
      -malloc_limit_mb=64 -max_len=8192 -print_final_stats=1 -artifact_prefix="$build/findings/$target-" > "$build/$target.log" 2>&1; then
    echo "ok   $target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$build/$target.log") inputs"
  else
    echo "FAIL $target: see $build/$target.log and $build/findings"
    status=1
  fi
done
exit $status
