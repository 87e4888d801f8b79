#!/usr/bin/env bash
# Tests and measures on this machine's GPUs with the binaries that `make gpu-build` put
# into BIN; needs no Go here. Writes one file a part into OUT and prints how each ended.
#   bench/gpu.sh [test|bench|all]
set -u
BIN=${BIN:-.gpu}
OUT=${OUT:-docs/results}
PART=${1:-all}
mkdir -p "$OUT"
failed=0

# part NAME COMMAND...: runs a command, keeps what it prints under a heading.
part() {
  local name=$1
  shift
  {
    echo "$(date -u +%Y-%m-%d), $(nvidia-smi --query-gpu=name --format=csv,noheader | sort | uniq -c | sed 's/^ *//'), driver $(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -1)"
    echo "\$ $*"
    "$@" 2>&1
  } >"$OUT/$name.txt"
  local rc=$?
  echo "$name: exit $rc: $(tail -1 "$OUT/$name.txt")"
  [ $rc = 0 ] || failed=1
}

gpus=$(nvidia-smi -L | wc -l)
if [ "$PART" != bench ]; then
  part driver "$BIN/cuda.test" -test.run 'Conform|NoAllocs|Kernel|Unexportable|Foreign|Threads|ManyAtOnce|Misaligned'
  for n in 2 4; do
    [ "$gpus" -ge $n ] || continue
    part "verify-$n" "$BIN/run" verify all -ranks $n -driver cuda -iters 200
    part "disturbed-$n" "$BIN/run" verify all -ranks $n -driver cuda -iters 200 -delays -straggler -shapes "512,4096,3584;1000,1000,1000"
    part "scenarios-$n" "$BIN/scenario.test" -test.v -test.run TestProcesses -driver cuda -ranks $n
  done
fi
if [ "$PART" != test ]; then
  part bench "$BIN/run" bench all -ranks "$gpus" -driver cuda -iters 24
  part steps "$BIN/run" bench allgathermatmul -ranks "$gpus" -driver cuda -iters 80 -nosteps -shapes 512,4096,3584
fi
exit $failed
