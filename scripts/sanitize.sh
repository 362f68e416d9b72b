#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs the runtime's tests under sanitizers; the last line is "N passed, N failed".
#
# usage: sanitize.sh [thread|address]...      default both
#
#   thread   ThreadSanitizer: ranks that are threads (backend `threads`, device `cpu`): conformance, and the unit tests of communication
#            and of data loading
#   address  AddressSanitizer with its leak check, and UndefinedBehaviorSanitizer: all unit tests; conformance and trainings on the
#            backends `threads` and `local`
#
# Each has a build folder of its own, build-sanitize-thread and build-sanitize-address below $SANITIZE_BUILD (default: the repository), and the
# log of every run in it. First each sanitizer must report a program that has a mistake: one that sees nothing passes everything.
# CXX: the compiler (clang++-19; g++ works too). JOBS: parallel compilations. Nothing is suppressed.
set -uo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
compiler=${CXX:-clang++-19}
folder=${SANITIZE_BUILD:-$root}
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
export TSAN_OPTIONS="exitcode=66 second_deadlock_stack=1" ASAN_OPTIONS="exitcode=66 detect_stack_use_after_return=1 strict_string_checks=1"
export UBSAN_OPTIONS="print_stacktrace=1"
passed=0 failed=0

# build KIND FLAGS TARGET...
build() {
  local kind=$1 flags=$2
  build=$folder/build-sanitize-$kind
  shift 2
  mkdir -p "$build"
  local launcher=()
  command -v ccache > /dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  echo "== $kind: building in $build"
  if ! { cmake -G Ninja -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_UNITY_BUILD=ON \
           -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -g1" -DCMAKE_CXX_FLAGS="$flags -fno-omit-frame-pointer" -DHVDIZE_BUILD_TESTS=ON \
           -DHVDIZE_BUILD_TOOL=OFF -DHVDIZE_BUILD_EXAMPLES=OFF -DHVDIZE_WITH_MPI=OFF -DHVDIZE_WITH_ONEDNN=OFF -DHVDIZE_WITH_TORCH=OFF \
           -DHVDIZE_WITH_CUDA=OFF "${launcher[@]}" && ninja -C "$build" ${JOBS:+-j "$JOBS"} "$@"; } > "$build/build.log" 2>&1; then
    tail -n 40 "$build/build.log"
    echo "FAIL $kind: the build"
    failed=$((failed + 1))
    return 1
  fi
}

# verdict NAME STATUS LOG [PASSED]: a run is good when it ends with status 0 and no sanitizer has spoken in it.
verdict() {
  local name=$1 status=$2 log=$3 reports
  reports=$(grep -cE '(WARNING|ERROR): [A-Za-z]*Sanitizer|runtime error:' "$log")
  if [ "$status" -eq 0 ] && [ "$reports" -eq 0 ]; then
    passed=$((passed + ${4:-1}))
    echo "ok   $name${4:+: $4 tests}"
  else
    failed=$((failed + 1))
    echo "FAIL $name: status $status, $reports reports, see $log"
  fi
}

# check NAME COMMAND...
check() {
  local name=$1 log
  shift
  log=$build/$(echo "$name" | tr -cs 'a-z0-9\n' -).log
  (cd "$build" && timeout 900 "$@") > "$log" 2>&1
  verdict "$name" $? "$log"
}

# unit_tests NAME FILTER
unit_tests() {
  local name=$1 log status count
  log=$build/$(echo "$name" | tr -cs 'a-z0-9\n' -).log
  (cd "$build" && timeout 1800 bin/hvd-unit-tests --gtest_brief=1 --gtest_color=no --gtest_filter="$2") > "$log" 2>&1
  status=$?
  count=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) tests\{0,1\}\.$/\1/p' "$log")
  [ "${count:-0}" -gt 0 ] || status=1
  verdict "$name" $status "$log" "${count:-0}"
}

# must_report KIND PATTERN FLAGS: a program with the mistake on standard input.
must_report() {
  local name="$1: a mistake is found"
  if ! "$compiler" -std=c++20 -x c++ $3 -O1 -g1 -o "$build/mistake" - -pthread 2> "$build/mistake.log"; then
    cat "$build/mistake.log"
  elif "$build/mistake" > "$build/mistake.log" 2>&1; grep -q "$2" "$build/mistake.log"; then
    passed=$((passed + 1))
    echo "ok   $name"
    return
  fi
  failed=$((failed + 1))
  echo "FAIL $name: $2 is not reported, see $build/mistake.log"
}

# The tests of files whose names begin with one of these words.
tests_of() {
  local files=() word
  for word in "$@"; do files+=("$root"/test/unit/"$word"_*.cpp); done
  grep -hoE '^TEST(_P|_F)?\([A-Za-z0-9]+' "${files[@]}" | sed 's/.*(//' | sort -u | sed 's/.*/&.*:*\/&.*/' | paste -sd:
}

run_thread() {
  local flags=-fsanitize=thread ranks
  build thread "$flags" hvd-unit-tests hvd-dist-conformance || return
  must_report thread 'ThreadSanitizer: data race' "$flags" <<'CODE'
#include <thread>
int shared = 0;
int main() {
  std::thread other([] { ++shared; });
  ++shared;
  other.join();
  return 0;
}
CODE
  for ranks in 1 2 3 5; do check "thread: conformance on $ranks ranks" bin/hvd-dist-conformance threads $ranks; done
  unit_tests "thread: unit tests of communication and data" "$(tests_of dist data)"
}

run_address() {
  local flags="-fsanitize=address,undefined" ranks program
  build address "$flags" hvd-unit-tests hvd-run hvd-dist-conformance hvd-dist-training hvd-dist-precision hvd-dist-traced || return
  must_report address 'AddressSanitizer: heap-buffer-overflow' "$flags" <<'CODE'
#include <vector>
int main(int argc, char**) {
  std::vector<int> three(3);
  int* at = three.data();
  return at[argc + 2] = 1;
}
CODE
  must_report undefined 'runtime error: signed integer overflow' "$flags" <<'CODE'
int main(int argc, char**) {
  int most = 2147483647;
  return (most + argc) & 1;
}
CODE
  for ranks in 1 2 3 5; do
    check "address: conformance of local on $ranks ranks" bin/hvd-run -n $ranks bin/hvd-dist-conformance "$([ $ranks -eq 1 ] && echo self || echo local)"
  done
  check "address: conformance of threads on 3 ranks" bin/hvd-dist-conformance threads 3
  for program in training precision traced; do
    for ranks in 2 3; do check "address: $program on $ranks ranks" bin/hvd-run -n $ranks bin/hvd-dist-$program; done
  done
  check "address: training with a parameter server on 3 ranks" env HVD_SYNC=parameter-server bin/hvd-run -n 3 bin/hvd-dist-training
  check "address: training with a parameter server that workers run ahead of" env HVD_SYNC=parameter-server:async:2 bin/hvd-run -n 3 bin/hvd-dist-traced
  unit_tests "address: unit tests" "*"
}

kinds=("$@")
[ ${#kinds[@]} -gt 0 ] || kinds=(thread address)
for kind in "${kinds[@]}"; do
  case $kind in
    thread | address) "run_$kind" ;;
    *)
      echo "usage: sanitize.sh [thread|address]..." >&2
      exit 2
      ;;
  esac
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
