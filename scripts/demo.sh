#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# A sequential trainer becomes a distributed one and gives the same numbers: installs what is missing, builds, rewrites the two
# examples, shows what changed, and compares both forms on 1 to 4 ranks. Takes some minutes, most of them for float64.
#
# HVDIZE_DATA: a folder with the four MNIST or Fashion-MNIST files; without one, digits are generated.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[ "${HVDIZE_NO_SETUP:-}" = 1 ] || "$root/scripts/setup.sh"
ninja_targets=(hvdize hvd-verify hvd_runtime)
configure_and_build
demo=$build/demo
rows=$demo/rows.tsv
mkdir -p "$demo"
rm -f "$rows"

data=${HVDIZE_DATA:-}
[ -z "$data" ] && [ -d "$root/../shared/data/fashion-mnist" ] && data=$root/../shared/data/fashion-mnist
data_arguments=()
if [ -n "$data" ]; then
  data=$(cd "$data" && pwd)
  data_arguments=(--data "$data")
fi
echo "== data: ${data:-generated digits}"

# compile SOURCE PROGRAM: skipped when nothing it is made from is newer
compile() {
  if [ "$2" -nt "$1" ] && [ -z "$(find "$root/runtime/include" "$build/lib" -newer "$2" -name '*hvd*' -print -quit)" ]; then return; fi
  local launcher=()
  command -v ccache >/dev/null && launcher=(ccache)
  "${launcher[@]}" "${CXX:-c++}" -std=c++20 -O2 -I"$root/runtime/include" -c "$1" -o "$2.o"
  "${CXX:-c++}" "$2.o" -o "$2" "$build"/lib/libhvd_runtime.so -Wl,-rpath,"$build/lib" -pthread
}

for example in mnist_mlp mnist_cnn; do
  source=$root/examples/$example.cpp
  flags=(-- -std=c++20 -I"$root/runtime/include")
  echo
  echo "== hvdize examples/$example.cpp -o $example.cpp --sync-bn"
  "$build/bin/hvdize" "$source" -o "$demo/$example.new.cpp" --sync-bn "${flags[@]}" 2>&1 | tail -12
  if ! cmp -s "$demo/$example.new.cpp" "$demo/$example.cpp"; then cp "$demo/$example.new.cpp" "$demo/$example.cpp"; fi
  echo
  echo "-- what it changed:"
  diff -U0 "$source" "$demo/$example.cpp" | grep -v '^@@' | tail -n +3 | head -40 || true
  compile "$source" "$demo/${example}_seq" &
  compile "$demo/$example.cpp" "$demo/${example}_dist" &
  wait -n
  wait -n
done

# times EXPRESSION: its value, printed so that reading it gives the same number
times() { python3 -c "import math; print(repr($1))"; }

# compare LABEL PROGRAM RANKS SEQUENTIAL_ARGUMENTS -- DISTRIBUTED_ARGUMENTS
compare() {
  local label=$1 program=$2 ranks=$3
  shift 3
  local sequential=()
  while [ "$1" != -- ]; do
    sequential+=("$1")
    shift
  done
  shift
  echo
  echo "== $label"
  local status=0
  "$build/bin/hvd-verify" -n "$ranks" --label "$label" --rows "$rows" --timeout 600 "${mode_environment[@]}" \
    --sequential "$demo/${program}_seq" "${data_arguments[@]}" "${sequential[@]}" \
    --distributed "$demo/${program}_dist" "${data_arguments[@]}" "$@" || status=$?
  # Nothing was compared when the sequential program failed: the last table must say so.
  if [ "$status" -ge 2 ]; then printf '%s\t%s\t-\t-\t-\t-\tFAILED\n' "$label" "$ranks" >>"$rows"; fi
}

# Sample counts that no batch size divides: every epoch ends with a partial batch, and ranks get uneven shares of it.
mlp=(--samples 3230 --test-samples 500 --patience 99)
cnn=(--samples 1615 --test-samples 300 --patience 99)

sequential_run() {  # PROGRAM ARGUMENTS: what the original does, and its log for the last table
  echo
  echo "== the sequential trainer: $*"
  mkdir -p "$demo/$1"
  (cd "$demo/$1" && "../${1}_seq" "${data_arguments[@]}" "${@:2}")
}
sequential_run mnist_mlp "${mlp[@]}" --epochs 4 --batch 32 --lr 0.01 --dtype float64
sequential_run mnist_cnn "${cnn[@]}" --epochs 6 --batch 32 --dtype float64

echo
echo "== the first program, distributed, on 4 ranks"
launcher=()
[ -n "$(command -v mpirun)" ] && launcher=(mpirun --oversubscribe -np 4 --mca mpi_yield_when_idle 1)
(cd "$demo" && HVD_BATCH=global "${launcher[@]}" ./mnist_mlp_dist "${data_arguments[@]}" "${mlp[@]}" --epochs 4 --batch 32 --lr 0.01 --dtype float64)

mode_environment=(--env HVD_BATCH=global)
for numbers in "float64" "float32, 5 steps" "float32"; do
  args=(--batch 32 --dtype "${numbers%,*}")
  [[ $numbers == *steps ]] && args+=(--max-steps 5)
  sizes=("${mlp[@]}" --epochs 4 --lr 0.01)
  compare "mnist_mlp|$numbers|global batch" mnist_mlp 1,2,3,4 "${sizes[@]}" "${args[@]}" -- "${sizes[@]}" "${args[@]}"
  sizes=("${cnn[@]}" --epochs 6)
  compare "mnist_cnn|$numbers|global batch" mnist_cnn 1,2,3,4 "${sizes[@]}" "${args[@]}" -- "${sizes[@]}" "${args[@]}"
done

# Per-rank batches: the oracle is the sequential program with N times the batch and the scaled rate, linear for SGD and the square
# root for Adam.
mode_environment=(--env HVD_BATCH=per-rank)
for n in 1 2 3 4; do
  args=("${mlp[@]}" --epochs 4 --dtype float64)
  compare "mnist_mlp|float64|per-rank batch" mnist_mlp $n "${args[@]}" --batch $((8 * n)) --lr "$(times "0.0025*$n")" -- \
    "${args[@]}" --batch 8 --lr 0.0025
  args=("${cnn[@]}" --epochs 6 --dtype float64)
  compare "mnist_cnn|float64|per-rank batch" mnist_cnn $n "${args[@]}" --batch $((8 * n)) --lr "$(times "0.001*math.sqrt($n)")" -- \
    "${args[@]}" --batch 8 --lr 0.001
done

echo
echo "== gradients of one step: float32 on every device and for every size of slice, against float64"
compile "$root/test/demo/gradients.cpp" "$demo/gradients"
"$demo/gradients" "$rows" || echo "some are too far off: see the table"

echo
echo "== the same training?"
python3 "$root/scripts/demo_table.py" "$rows" "$demo"/mnist_{mlp,cnn}/log.csv
