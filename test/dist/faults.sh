#!/bin/bash
# SPDX-License-Identifier: Apache-2.0

# How a job ends when one rank goes wrong: within 10 seconds, with the right status, with the reason, with no process and no file
# left. usage: faults.sh BIN_DIR [LAUNCHER [RANKS]]     LAUNCHER: hvd-run (the one in BIN_DIR) or an mpirun; default mpirun

bin=${1:?usage: faults.sh BIN_DIR [LAUNCHER [RANKS]]}
ranks=${3:-3}
case ${2:-mpirun} in
  hvd-run) launch=("$bin/hvd-run" -n "$ranks") ;;
  *)
    launch=("${2:-mpirun}" --oversubscribe -np "$ranks")
    export HVD_BACKEND=mpi
    ;;
esac
program=$bin/hvd-dist-fault
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1
out=$(mktemp)
trap 'rm -f "$out"' EXIT
failures=0

# Processes of this job are known by a tag in their environment, files of the runtime by their name.
tag=hvd-fault-$$
left_over() { grep -lszxF "HVD_FAULT_TAG=$tag" /proc/[0-9]*/environ | cut -d/ -f3; }

files() { find /dev/shm /tmp -maxdepth 1 \( -name '*hvd-board*' -o -name '*hvd-heap*' -o -name '*hvd-group*' -o -name '*hvd-run*' \) 2>/dev/null; }

# expect FAULT STATUS TEXT [VARIABLE=VALUE...]: STATUS a number or "fail" (any but 0); TEXT a regular expression, "" for none
expect() {
  local fault=$1 status=$2 text=$3 rc start seconds rest good=yes
  shift 3
  start=$SECONDS
  env "$@" HVD_FAULT_TAG="$tag" timeout 60 "${launch[@]}" "$program" ${fault:+"$fault"} >"$out" 2>&1
  rc=$?
  seconds=$((SECONDS - start))
  if [ "$status" = fail ]; then [ $rc -ne 0 ] && [ $rc -ne 124 ] || good=no; else [ $rc -eq "$status" ] || good=no; fi
  [ $good = yes ] || echo "  status $rc, expected $status"
  [ "$seconds" -le 10 ] || { echo "  took $seconds s"; good=no; }
  if [ -n "$text" ] && ! grep -Eq "$text" "$out"; then echo "  no line matches: $text"; good=no; fi
  if [ "$status" = 0 ] && grep -q 'hvd:' "$out"; then echo "  unexpected message"; good=no; fi
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    rest=$(left_over)
    [ -z "$rest" ] && break
    sleep 0.2
  done
  [ -z "$rest" ] || { echo "  processes left:" $rest; good=no; }
  [ -z "$(files)" ] || { echo "  files left:" $(files); good=no; }
  if [ $good = yes ]; then
    echo "ok   ${fault:-no fault} $*"
  else
    echo "FAIL ${fault:-no fault} $*"
    sed 's/^/    | /' "$out"
    failures=$((failures + 1))
  fi
}

# expect_not FAULT TEXT: no line of the output of the last `expect FAULT` matches
expect_not() {
  if grep -Eq "$2" "$out"; then
    echo "FAIL $1 without $2"
    sed 's/^/    | /' "$out"
    failures=$((failures + 1))
  else
    echo "ok   $1 without $2"
  fi
}

expect "" 0 '^started'
expect throw 134 'hvd: rank 1: ended by exception std::runtime_error: diverged at step 7; the job ends'
expect throw-all 134 'no such data set'
expect exit3 3 'hvd: rank 1 ended with exit status 3 before the other ranks were done'
expect exit3-all 3 ''
expect exit0-all 0 '^started'
expect exit0 fail "different operations: .*'end of the session'"
expect early fail "different operations: .*'end of the session'"
expect other fail "different operations: .*'agree' \(fault.cpp:[0-9]+\)"
expect abort fail ''
expect kill 137 'rank 1 .*(died|exited on signal 9)'
expect stop 137 'hvd: rank 1 .* has been stopped by a signal'
expect stop-at-end 137 'hvd: rank 1 .* has been stopped by a signal'
expect late 137 "hvd: rank 1 has not reached allgather 'all_reduce_sum'.*waiting since [2-4] s: rank" HVD_DEADLINE=2
expect longwork 0 '^started' HVD_DEADLINE=2
expect train 0 '^started'
expect train-late 137 "hvd: rank 1 has not reached allreduce 'gradients' \((fault.cpp:[0-9]+, )?step [0-9]+\)" HVD_DEADLINE=2
expect train-throw 134 'hvd: rank 1: ended by exception std::runtime_error: between backward and reduction'
expect train-exit 5 '^started'
expect train-early fail "rank 1.*'end of the session'|rank 1 has left its session"
server=HVD_SYNC=parameter-server:async:3
expect served 0 '^started' $server
expect served-kill 137 'rank 1 .*(died|exited on signal 9)' $server
expect served-late 137 "hvd: rank 1 has not reached reduce 'gradients' \((fault.cpp:[0-9]+, )?step [0-9]+\)" $server HVD_DEADLINE=2
expect served-throw 134 'hvd: rank 1: ended by exception std::runtime_error: no gradients this time' $server
expect served-early fail "rank 1.*'end of the session'|rank 1 has left its session" $server
expect served-throw 134 'hvd: rank 1: ended by exception std::runtime_error: no gradients this time' $server HVD_CHECK=1
expect unwind 4 'main caught: caught in main'
expect caught 134 'hvd: rank 1 went on after an error: shard: an empty batch cannot be shared out; the job ends'
expect caught-at-end 134 'hvd: rank [0-9] went on after an error: shard: an empty batch cannot be shared out; the job ends'
expect caught-status 3 '^started'
expect caught-own 0 '^started'
expect caught-file 0 '^started'
expect caught-error 134 'hvd: rank 1 went on after an error: an error in a training step on this rank.*: a label out of range; the job ends'
expect caught-error-of-root 0 '^started'
expect error fail '^rank 1: cannot read part 3'
expect error fail '^rank 1: giving up'
expect error-all 4 '^cannot read part 3'
expect_not error-all '^rank [0-9]: '
expect return1-all 1 '^started'
expect input 0 "^read 15, on all ranks $((15 * ranks))" <<<$'4 5\n6'
expect threads 0 '^threads as they should be' -u OMP_NUM_THREADS -u OPENBLAS_NUM_THREADS
expect threads-asked 0 '^threads as they should be' OMP_NUM_THREADS=2 OPENBLAS_NUM_THREADS=2
expect check 0 '^started' HVD_CHECK=1
expect check-count 134 "HVD_CHECK: .*rank.* in allreduce 'all_reduce_sum' of 3 float64 \(batch 3, .*; rank 1 in .* of 4 float64 \(batch 3, step 3, operation [0-9]+\)" HVD_CHECK=1
expect check-dtype 134 "HVD_CHECK: .*rank.* of 3 float64 \(batch 3, .*; rank 1 in allreduce 'all_reduce_sum' of 3 int64" HVD_CHECK=1
expect check-skip 134 "HVD_CHECK: .*rank.* in allreduce 'all_reduce_sum' of 3 float64 \(batch 3, .*; rank 1 in allgather 'parameters' .*\(fault.cpp:[0-9]+, batch 4" HVD_CHECK=1
expect check-skip-step 134 "HVD_CHECK: .*rank.* in .*'(gradients|parameters)' .*batch 3.*; rank 1 in .*" HVD_CHECK=1
expect check-parameters 134 "HVD_CHECK: 'bias' of rank 1 is not that of rank 0 \(fault.cpp:[0-9]+, batch 3, step 3\)" HVD_CHECK=1
expect check-nan 134 "HVD_CHECK: on rank 1 'bias' \(gradients\) is NaN at element 0 of 8 \(fault.cpp:[0-9]+, batch 3|HVD_CHECK: on rank 1 'weight' \(gradients\) is NaN at element 0 of 64" HVD_CHECK=1
expect "" 2 "hvd: HVD_CHECK='yes' is not understood: 0 or 1" HVD_CHECK=yes
expect "" 2 "hvd: HVD_BATCH='half' is not understood: per-rank or global" HVD_BATCH=half
expect "" 2 "hvd: HVD_DEADLINE='-1' is not understood" HVD_DEADLINE=-1
expect "" 2 "hvd: HVD_SYNC='periodic:0' is not understood" HVD_SYNC=periodic:0
expect "" 2 "hvd: HVD_SYNC='post-local:3' is not understood" HVD_SYNC=post-local:3
expect "" 2 "hvd: HVD_SYNC='parameter-server:async' is not understood" HVD_SYNC=parameter-server:async
expect "" 2 'hvd: HVD_BACKEND=threads runs inside' HVD_BACKEND=threads

[ $failures -eq 0 ] && echo "all faults end as they must" || echo "$failures faults do not end as they must"
exit $((failures > 0))
