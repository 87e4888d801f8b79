#!/usr/bin/env bash
# Tests and measures on this machine's GPUs with the binaries that `make gpu-build` put
# into BIN; needs no Go here. Writes one file a part into OUT and prints how each ended.
#   bench/gpu.sh [test|bench|grid|all]
set -u
BIN=${BIN:-.gpu}
OUT=${OUT:-docs/results}
PART=${1:-all}
mkdir -p "$OUT"
failed=0

# heading says when and on what.
heading() {
  echo "$(date -u +%Y-%m-%d), $(nvidia-smi --query-gpu=name --format=csv,noheader | sort | uniq -c | sed 's/^ *//'), driver $(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -1)"
}

# part NAME COMMAND...: runs a command, keeps what it prints under a heading.
part() {
  local name=$1
  shift
  {
    heading
    echo "\$ $*"
    "$@" 2>&1
  } >"$OUT/$name.txt"
  local rc=$?
  echo "$name: exit $rc: $(tail -1 "$OUT/$name.txt")"
  [ $rc = 0 ] || failed=1
}

gpus=$(nvidia-smi -L | wc -l)

# Programs of each layer that grid measures, of those that the binary has.
FC1=${FC1:-allgatherlinear allgatherlinearput allgatherlinearparts allgatherlinearfused allgatherlinearcollective1}
FC2=${FC2:-linearreducescatter linearreducescatterget linearreducescatterinslot linearreducescatterringkernel}
MODELS=${MODELS:-8B 70B 405B GPT-3 DDLB}
ROUNDS=${ROUNDS:-8}
PYTHON=${PYTHON:-/opt/torch/.venv/bin/python3}

# there NAME...: those of the programs that the binary has.
there() {
  "$BIN/run" list | awk -v want=" $* " 'NR > 1 && index(want, " " $1 " ") { print $1 }'
}

# grid: model by model the peers, then our programs at the same shapes, so that what is
# compared is measured within minutes. Lines of JSON, for bench/plot.
grid() {
  local model layer programs shapes
  heading
  for model in $MODELS; do
    echo "# peers, $model"
    timeout 240 "$PYTHON" -m torch.distributed.run --standalone --nproc-per-node "$gpus" bench/peers.py \
      --points "$model/*" --rounds "$ROUNDS" --out "$OUT/grid-peers.json" || failed=1
    for layer in fc1 fc2; do
      programs=$(there $([ $layer = fc1 ] && echo "$FC1" || echo "$FC2"))
      shapes=$("$PYTHON" bench/peers.py --list --ranks "$gpus" --points "$model/$layer/*" | awk '{ print $2 }' | paste -sd ';')
      [ -n "$programs" ] || { echo "# no program for $layer"; continue; }
      echo "# ovgen, $model $layer"
      timeout 600 "$BIN/run" bench $programs -ranks "$gpus" -driver cuda -iters "$ROUNDS" -json -shapes "$shapes" >>"$OUT/grid-ovgen.json" || failed=1
    done
  done
  return $failed
}

if [ "$PART" = grid ]; then
  rm -f "$OUT/grid-peers.json" "$OUT/grid-ovgen.json"
  grid 2>&1 | tee "$OUT/grid.txt"
  exit "${PIPESTATUS[0]}"
fi
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
