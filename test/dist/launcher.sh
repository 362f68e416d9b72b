#!/bin/bash
# SPDX-License-Identifier: Apache-2.0

# What hvd-run does with output, input, signals and statuses, with any program. usage: launcher.sh BIN_DIR

bin=${1:?usage: launcher.sh BIN_DIR}
run=$bin/hvd-run
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0

# check WHAT CONDITION...: the condition is a command
check() {
  local what=$1
  shift
  if "$@"; then
    echo "ok   $what"
  else
    echo "FAIL $what: not so: $*"
    failures=$((failures + 1))
  fi
}
same() { [ "$1" = "$2" ]; }
# Processes of a test are known by a word among their arguments.
alive() { pgrep -f "$1" >/dev/null; }
gone() {
  for _ in $(seq 50); do
    alive "$1" || return 0
    sleep 0.1
  done
  return 1
}
appears() {
  for _ in $(seq 100); do
    [ "$(grep -c "$2" "$1" 2>/dev/null)" -ge "${3:-1}" ] && return 0
    sleep 0.1
  done
  return 1
}

out=$("$run" -n 3 sh -c 'echo "$HVD_RUN_RANK of $HVD_RUN_SIZE"' | sort | tr '\n' ' ')
check "every rank is told who it is" same "$out" "0 of 3 1 of 3 2 of 3 "
out=$("$run" -n 2 --label sh -c 'echo out; echo err >&2' 2>&1 | sort | tr '\n' ' ')
check "labels" same "$out" "[0] err [0] out [1] err [1] out "
out=$("$run" -n 4 sh -c 'for i in 1 2 3 4 5 6 7 8 9; do printf "abcdefghij"; printf "klmnopqrst\n"; done' | sort -u)
check "lines of different ranks do not mix" same "$out" abcdefghijklmnopqrst
out=$("$run" -n 2 sh -c '[ $HVD_RUN_RANK = 1 ] || printf "no end"')
check "a last line without end" same "$out" "no end"
out=$(seq 3 | "$run" -n 2 sh -c 'cat' | tr '\n' ' ')
check "the first rank reads standard input" same "$out" "1 2 3 "
out=$("$run" -n 2 sh -c 'seq 1 100000' | sort -n | uniq -c | awk '$1 != 2 { bad = 1 } END { print NR, bad + 0 }')
check "long output" same "$out" "100000 0"
"$run" -n 1 sh -c 'exit 7'
check "one rank: its status" same $? 7
"$run" -n 3 sh -c '[ $HVD_RUN_RANK = 1 ] && exit 5; sleep 30' 2>"$folder/err"
check "status of the rank that failed" same $? 5
check "and who it was" grep -q '^hvd-run: rank 1 (process [0-9]*) ended with exit status 5; the others are ended' "$folder/err"
"$run" -n 3 sh -c '[ $HVD_RUN_RANK = 2 ] && kill -9 $$; sleep 30' 2>"$folder/err"
check "status of a signal" same $? 137
check "and which" grep -q '^hvd-run: rank 2 .* signal 9 (Killed); the others are ended' "$folder/err"
"$run" -n 2 "$folder/nothing" 2>"$folder/err"
check "a program that is not there" same $? 127
check "said once" same "$(cat "$folder/err")" "hvd-run: $folder/nothing: No such file or directory"
"$run" -n 0 true 2>"$folder/err"
check "no ranks" same $? 2
"$run" -n 2 2>"$folder/err"
check "no program" same $? 2

# A signal reaches the ranks, which may have something left to do.
"$run" -n 2 sh -c 'trap "echo asked; exit 3" TERM; echo ready; while :; do sleep 0.1; done' >"$folder/out" 2>&1 &
job=$!
appears "$folder/out" ready 2
kill -TERM $job
wait $job
check "status after a signal" same $? 143
check "both ranks had their say" same "$(grep -c asked "$folder/out")" 2

# Nobody outlives the launcher.
word=hvd-launcher-test-$$
"$run" -n 2 sh -c "echo ready; while :; do sleep 0.1; done; : $word" >"$folder/out" 2>&1 &
job=$!
appears "$folder/out" ready 2
kill -KILL $job
wait $job 2>/dev/null
check "no rank is left when the launcher is killed" gone "$word"

# The same for ranks in a session that wait for each other.
"$run" -n 3 "$bin/hvd-dist-fault" for-ever "$word" >"$folder/out" 2>&1 &
job=$!
appears "$folder/out" started
kill -KILL $job
wait $job 2>/dev/null
check "no rank and no guardian is left when the launcher is killed" gone "$word"
check "nothing in shared memory" test -z "$(find /dev/shm -maxdepth 1 | grep -E 'hvd-(board|heap|group|run)')"

# Before the session has begun.
HVD_DEADLINE=1 "$run" -n 3 sh -c "[ \$HVD_RUN_RANK = 1 ] && exec sleep 30; exec $bin/hvd-dist-fault" 2>"$folder/err"
check "a rank that does not start: not 0" test $? -ne 0
check "and who it is" grep -q '^hvd: rank 1 has not started a session within 1 s; the job ends' "$folder/err"
check "said once" same "$(grep -c 'has not started' "$folder/err")" 1

# The table of hvd-tune.
export HVD_TUNING=$folder/cache/tuning
"$run" -n 2 "$bin/hvd-tune" --max-bytes 65536 --rounds 1 >"$folder/out" 2>&1
check "hvd-tune measures" same $? 0
check "and keeps what it has found" grep -Eq '^local 2 direct-from ([0-9]+|never)$' "$HVD_TUNING"
check "and shows it" same "$("$bin/hvd-tune" --print | tail -n +2)" "$(cat "$HVD_TUNING")"
echo "local two" >"$HVD_TUNING"
"$run" -n 2 "$bin/hvd-dist-fault" >"$folder/out" 2>"$folder/err"
check "a table that is not understood stops nothing" same $? 0
check "and is named, once, with its line" same "$(cat "$folder/err")" "hvd: $HVD_TUNING:1: 'local two' is not understood; run hvd-tune again"

[ $failures -eq 0 ]
