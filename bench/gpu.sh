#!/usr/bin/env bash
# Tests and measures on this machine's GPUs with the binaries that `make gpu-build` put
# into BIN; needs no Go here. Writes one file a part into OUT and prints how each ended.
#
#   bench/gpu.sh PART
#
# test     bits, delays, scenarios
# join     torchrun, PyTorch, compute-sanitizer
# bench    all schedules
# smoke    whether grid, small and block run: on one GPU, in about a minute
# grid     the models' layers beside NCCL and PyTorch
# small    few bytes and few rows
# block    a layer of Llama as a chain, as plans and by torch, and their bits
# stages   the same layer with each of its communications by copies, packets and tiles: bits, and the fastest forms
# forms    the bits of forms that no package of the catalogue has
# norm     an all-reduce, a residual and a norm, by one kernel and by two, NCCL and torch
# fewrows  products of few rows on one GPU, checked, beside cuBLASLt and a read of the weight
# codes    conversions of 8 and 4 bits, of every bf16 and fp16, on one GPU
# eighttiles  products of e4m3 by tiles of our own, checked, beside cuBLASLt's, on one GPU
# making   the same products with functions in their kernels and behind, checked, beside cuBLASLt's
# ahead    products that read their weight ahead of the end of the launch before: bits, alone and in a layer, and times
# eight    weights of eight bits, and rows too: bits, the decoder's logits and steps beside 16 bits, the product alone
# scaled   70B's layers of eight bits, and quantised gathers, beside torch's products with NCCL and its symmetric memory
# scaled-block  a layer of Llama behind attention in 16 bits and in eight, beside torch's products with NCCL
# gathers  gathers that quantise, by the copy engine, by the kernel that widens and by packets, in several parts
# hosts    products over two hosts that the GPUs play, by a network that is played
# compare  BIN/run and an older binary, OLD, in turn
# ways     other options of the ways of an MLP's layers, on four GPUs, where a package is slower than a peer or its goal
# same     bits of rows, by their number and by way, and what the promise costs
# cost     what it costs alone
# llama    the decoder by ovgen's ways and by NCCL, in turn
# trace    where the time of the decoder's steps goes, by name, on one GPU and on more
# all      test and bench
set -u
BIN=${BIN:-.gpu}
OUT=${OUT:-docs/results}
PART=${1:-all}
mkdir -p "$OUT"
failed=0

# heading prints the day, the GPUs and the driver.
heading() {
  local names driver
  names=$(nvidia-smi --query-gpu=name --format=csv,noheader | sort | uniq -c | sed 's/^ *//')
  driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -1)
  echo "$(date -u +%Y-%m-%d), $names, driver $driver"
}

# part NAME COMMAND...: runs a command and keeps its output under a heading.
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

POINTS=${POINTS:-}
ROUNDS=${ROUNDS:-}
PYTHON=${PYTHON:-/opt/torch/.venv/bin/python3}

# grid: the models' layers by PyTorch, NCCL and our packages in the same rounds. Lines of
# JSON, for bench/plot, and a table.
if [ "$PART" = grid ]; then
  rm -f "$OUT/grid.json"
  part grid "$PYTHON" -m torch.distributed.run --standalone --nproc-per-node "$gpus" bench/peers.py \
    --points "$POINTS" --rounds "${ROUNDS:-8}" --library "$BIN/libovgen.so" --out "$OUT/grid.json"
  exit $failed
fi

# smoke: every form of grid, small and block on one GPU, two rounds; the times say nothing. Prints NCCL's symmetric
# window, each error, and at how many points each form of grid and small ran.
if [ "$PART" = smoke ]; then
  part smoke-peers "$PYTHON" bench/peers.py --smoke --library "$BIN/libovgen.so"
  part smoke-small "$PYTHON" bench/small.py --library "$BIN/libovgen.so" --rounds 2
  part smoke-block "$PYTHON" bench/block.py --library "$BIN/libblock.so" --rounds 2 --rows 128,512
  grep -h "^    \|^# NCCL's" "$OUT"/smoke-*.txt
  exit $failed
fi

# small: collectives of few bytes and products of few rows, beside NCCL and PyTorch.
if [ "$PART" = small ]; then
  part "small-$gpus" "$PYTHON" -m torch.distributed.run --standalone --nproc-per-node "$gpus" bench/small.py \
    --library "$BIN/libovgen.so" --rounds "${ROUNDS:-15}"
  exit $failed
fi

# block: the bits of the schedules of bench/block, and the times of a layer of Llama behind attention.
if [ "$PART" = block ]; then
  part "block-bits-$gpus" timeout 120 "$BIN/block-run" verify all -ranks "$gpus" -driver cuda -iters "${ITERS:-5}"
  part "block-$gpus" timeout 200 "$PYTHON" -m torch.distributed.run --standalone --nproc-per-node "$gpus" \
    bench/block.py --library "$BIN/libblock.so" --rounds "${ROUNDS:-15}"
  exit $failed
fi

# rows "M..." K,N: a list of shapes.
rows() { local m; for m in $1; do printf '%s;' "$m,$2"; done | sed 's/;$//'; }

# stages: the bits of the 27 forms of bench/stages, their times at ROWS rows of MODEL, in turn, and the fastest; where
# FORMS names some, these by each kernel of tiles too, as package tuned's table has it.
if [ "$PART" = stages ]; then
  ms=${ROWS:-64,128,256,512,1024,2048,4096} wide=4096 inner=14336
  [ "${MODEL:-8B}" = 8B ] || wide=8192 inner=28672 # 70B's
  at=(-ranks "$gpus" -driver cuda -type bf16 -extents "F=$inner" -shapes "$(rows "${ms//,/ }" "$wide,$wide")")
  if [ -n "${FORMS:-}" ]; then
    part "stages-tune-$gpus" "$BIN/stages-run" tune $FORMS "${at[@]}" -iters "${ROUNDS:-10}" \
      -o "$OUT/stages-$gpus.json"
    exit $failed
  fi
  part "stages-bits-$gpus" timeout 200 "$BIN/stages-run" verify all -ranks "$gpus" -driver cuda -iters "${ITERS:-3}"
  all=$("$BIN/stages-run" list -json | sed -n 's/^{"program":"\([^"]*\)".*/\1/p' | paste -sd,)
  part "stages-$gpus" timeout 400 "$BIN/stages-run" bench "$all" "${at[@]}" -iters "${ROUNDS:-10}"
  python3 bench/tables.py fastest "$OUT/stages-$gpus.txt" copiescopiescopies
  exit $failed
fi

# forms: the bits of the schedules of bench/forms.
if [ "$PART" = forms ]; then
  part "forms-$gpus" timeout 240 "$BIN/forms-run" verify all -ranks "$gpus" -driver cuda -iters "${ITERS:-3}"
  [ "$gpus" = 1 ] || part "forms-hosts-$gpus" timeout 120 "$BIN/forms-run" verify -driver cuda -iters "${ITERS:-3}" \
    -ranks "$gpus" -hosts 2 hostsgatherfp8 hostsgatherquantised hostsgatherblocks hostsscatterfp8 hostsreducefp8 \
    hostsmlpfp8 hostsquantised hostsfp4 hostsweight hostsoperand hostsgradient \
    hostsbatchblock hostsbalancedblock hostscountedblock hostslogits
  exit $failed
fi

# norm: the bits of the schedules of bench/norm, and their times beside NCCL's and torch's.
if [ "$PART" = norm ]; then
  part "norm-bits-$gpus" timeout 120 "$BIN/norm-run" verify all -ranks "$gpus" -driver cuda -iters "${ITERS:-5}"
  part "norm-$gpus" timeout 120 "$PYTHON" -m torch.distributed.run --standalone --nproc-per-node "$gpus" \
    bench/norm.py --library "$BIN/libnorm.so" --rounds "${ROUNDS:-15}"
  exit $failed
fi

# fewrows: the bits of the kernels of few rows, and their times; ROWS and WEIGHTS choose less.
if [ "$PART" = fewrows ]; then
  part fewrows timeout 300 "$BIN/fewrows" -ptx "$BIN/fewrows.ptx" -rounds "${ROUNDS:-15}" \
    ${ROWS:+-rows "$ROWS"} ${WEIGHTS:+-weights "$WEIGHTS"}
  exit $failed
fi

# codes: what device code makes of all codes of 8 and 4 bits and of all numbers of 16, with and without the instructions
# for it.
if [ "$PART" = codes ]; then
  part codes env OVGEN_CONVERSIONS="$BIN" "$BIN/cuda.test" -test.v -test.run TestConversions
  exit $failed
fi

# eighttiles: kernels of tiles that multiply e4m3; SHAPES, "rows,depth,columns;...", chooses others.
if [ "$PART" = eighttiles ]; then
  part eighttiles timeout 300 "$BIN/eighttiles" -ptx "$BIN/eighttiles.ptx" -rounds "${ROUNDS:-15}" \
    ${SHAPES:+-shapes "$SHAPES"}
  exit $failed
fi

# making: the same kernels with functions of their results, beside the functions behind products by the library and by
# the kernels themselves; ROWS and WEIGHTS choose less.
if [ "$PART" = making ]; then
  part making timeout 500 "$BIN/fewrows" -making -ptx "$BIN/making-fewrows.ptx,$BIN/early-making-fewrows.ptx" \
    -rounds "${ROUNDS:-11}" -rows "${ROWS:-1,8,16,32,64}" \
    -weights "${WEIGHTS:-14336x4096,4096x14336,6144x4096,4096x4096}"
  exit $failed
fi

# ahead: the same of kernels that start early, beside those that don't, and of a layer behind attention on all GPUs.
if [ "$PART" = ahead ]; then
  part ahead-fewrows timeout 400 "$BIN/fewrows" -ptx "$BIN/fewrows.ptx,$BIN/early-fewrows.ptx" -rounds "${ROUNDS:-11}" \
    ${ROWS:+-rows "$ROWS"} ${WEIGHTS:+-weights "$WEIGHTS"}
  part "ahead-verify-$gpus" "$BIN/ahead-run" verify all -ranks "$gpus" -driver cuda -type bf16
  for forms in library,fewrows,fewrowsahead narrow,narrowahead; do
    part "ahead-${forms%%,*}-$gpus" "$BIN/ahead-run" bench -inturn $forms -ranks "$gpus" -driver cuda -type bf16 \
      -extents F=14336 -shapes "$gpus,4096,4096;16,4096,4096;32,4096,4096;64,4096,4096"
  done
  exit $failed
fi

# eight: the bits of the packages; the decoder by 16 bits, by weights alone of eight and by rows of eight too, on all
# GPUs; rows that travel in eight bits or four, quantised for it or given so, beside 16: gathers of 8192 and 128 rows,
# and as many for all peers; and the kernels of weights alone, by themselves, unless ROWS is none.
if [ "$PART" = eight ]; then
  part "eight-verify-$gpus" "$BIN/run" verify linearallreduceweightsfp8 linearallreducequantised -ranks "$gpus" \
    -driver cuda
  part "eight-layers-$gpus" "$BIN/llama-run" verify decodefp8 decodescaled biasedscaled normedscaled prefillscaled \
    -ranks "$gpus" -driver cuda
  wire=(allgatherquantised allgathervquantised allgatherfp4 allgathervfp4 allgatherblocksfp8 alltoallfp8 alltoallvfp8)
  part "eight-wire-verify-$gpus" "$BIN/run" verify "${wire[@]}" -ranks "$gpus" -driver cuda -delays -straggler
  part "eight-wire-gather-$gpus" "$BIN/run" bench -inturn -shapes '8192,0,7168;128,0,7168' -ranks "$gpus" \
    -driver cuda -type bf16 allgather allgatherquantised allgatherfp4 allgatherblocksfp8 allgatherv \
    allgathervquantised allgathervfp4
  part "eight-wire-exchange-$gpus" "$BIN/run" bench -inturn -shapes "$((8192 / gpus)),0,7168;$((128 / gpus)),0,7168" \
    -ranks "$gpus" -driver cuda -type bf16 alltoallfp8 alltoallvfp8
  part "eight-wire-exchange16-$gpus" "$BIN/run" bench -inturn -ranks "$gpus" -driver cuda -type bf16 \
    -shapes "$((8192 / gpus * 7168)),0,0;$((128 / gpus * 7168)),0,0" alltoall alltoallv
  part "eight-llama-$gpus" env OVGEN_EXAMPLE_EIGHT="$gpus" "$BIN/llama.test" -test.v -test.run TestEightOnGPUs
  grep '^ *|' "$OUT/eight-llama-$gpus.txt"
  [ "${ROWS:-}" = none ] || part eight-fewrows timeout 400 "$BIN/fewrows" -ptx "$BIN/fewrows.ptx" \
    -rounds "${ROUNDS:-11}" ${ROWS:+-rows "$ROWS"} ${WEIGHTS:+-weights "$WEIGHTS"}
  exit $failed
fi

# scaled: layers of eight bits beside torch's, TABLES chooses some.
if [ "$PART" = scaled ]; then
  part "scaled-$gpus" timeout 400 "$PYTHON" -m torch.distributed.run --standalone --nproc-per-node "$gpus" \
    bench/eight.py --library "$BIN/libovgen.so" --rounds "${ROUNDS:-11}" ${TABLES:+--tables "$TABLES"}
  exit $failed
fi

# scaled-block: the bits of the packages of eight bits, and their times and torch's; MODEL is 8B or 70B.
if [ "$PART" = scaled-block ]; then
  part "scaled-block-bits-$gpus" timeout 120 "$BIN/block-run" verify chainfp8 chainpacketsfp8 chainrowsfp8 \
    wholefp8 wholeblocksfp8 \
    -ranks "$gpus" -driver cuda -iters "${ITERS:-3}"
  part "scaled-block-$gpus" timeout 480 "$PYTHON" -m torch.distributed.run --standalone --nproc-per-node "$gpus" \
    bench/eight.py --library "$BIN/libblock.so" --tables "block-${MODEL:-70B}" --rounds "${ROUNDS:-11}"
  exit $failed
fi

# gathers: bits, and times of 8192 to 128 rows of 7168.
if [ "$PART" = gathers ]; then
  part "gathers-verify-$gpus" timeout 90 "$BIN/gathers-run" verify all -ranks "$gpus" -driver cuda -type bf16 \
    -iters 5 -delays -straggler
  part "gathers-$gpus" timeout 90 "$BIN/gathers-run" bench -inturn -ranks "$gpus" -driver cuda -type bf16 \
    -shapes '8192,0,7168;2048,0,7168;512,0,7168;128,0,7168' plain engine1 engine4 read1 read2 read4 read8 readsignals \
    plainpackets packets rows foursrows foursengine4 foursread1 foursread4
  exit $failed
fi

# hosts: 8192 rows through both layers of three models' MLPs, in 1, 2, 4 and 8 parts and serially, over a network of
# RATE GB/s, and a picture of the second's; OVGEN_NCCL may name NCCL's library.
if [ "$PART" = hosts ]; then
  gathers= sums=
  for layer in 4096,14336 8192,28672 16384,53248; do # hidden, width
    gathers+="8192,${layer%,*},$((${layer#*,} / gpus));"
    sums+="8192,${layer#*,},${layer%,*};"
  done
  played=(-driver cuda -ranks "$gpus" -hosts 2 -network "${RATE:-45}" -type bf16)
  part "hosts-gather-$gpus" timeout 60 "$BIN/hosts-run" bench gatherhosts1,gatherhosts2,gatherhosts4,gatherhosts8 \
    "${played[@]}" -iters "${ROUNDS:-10}" -shapes "${gathers%;}"
  part "hosts-sum-$gpus" timeout 60 "$BIN/hosts-run" bench sumhosts1,sumhosts2,sumhosts4,sumhosts8 \
    "${played[@]}" -iters "${ROUNDS:-10}" -shapes "${sums%;}"
  part "hosts-trace-$gpus" timeout 30 "$BIN/hosts-run" trace gatherhosts1 gatherhosts4 "${played[@]}" \
    -m 8192 -k 8192 -n $((28672 / gpus)) -o "$OUT/hosts.trace.json" -svg "$OUT/hosts-$gpus.svg"
  exit $failed
fi

# cost: Llama's MLP with equal bits beside without: by the library's products, by kernels of few rows and by tiles.
if [ "$PART" = cost ] || [ "$PART" = same ]; then
  cost() {
    "$BIN/invariant-run" bench free,mlp freepackets,mlppackets -ranks "$gpus" -driver cuda -type bf16 \
      -shapes "$(rows "8 64 256 1024 4096" 4096,4096)" -extents F=14336 -iters "${ROUNDS:-16}"
  }
  few() {
    "$BIN/invariant-run" bench freepackets,mlppackets,freefew,fewmlppackets,freefewearly,fewmlpearly -ranks "$gpus" \
      -driver cuda -type bf16 -shapes "$(rows "8 16 32 64 128 512" 4096,4096)" -extents F=14336 -iters "${ROUNDS:-16}"
  }
  bytiles() {
    "$BIN/invariant-run" bench free,mlp,freetiles,mlptiles -ranks "$gpus" -driver cuda -type bf16 \
      -shapes "$(rows "512 1024 2048 4096" 4096,4096)" -extents F=14336 -iters "${ROUNDS:-16}"
  }
  part "same-cost-$gpus" cost
  part "same-cost-tiles-$gpus" bytiles
  part "same-cost-few-$gpus" few
  python3 bench/tables.py run "$OUT/same-cost-tiles-$gpus.txt" free mlp freetiles mlptiles
  python3 bench/tables.py run "$OUT/same-cost-few-$gpus.txt" freefew freepackets mlppackets freefew fewmlppackets \
    freefewearly fewmlpearly
  [ "$PART" = same ] || exit $failed
fi

# same: rows have equal bits, whatever their number and the way; a free choice, which must differ, shows that the
# comparison sees it.
if [ "$PART" = same ]; then
  same() { "$BIN/invariant-run" same "$@" -ranks "$gpus" -driver cuda -delays -straggler; }
  forms() {
    local wrong=0
    for mode in "" -oneprocess; do # whose bits are equal
      same scatterslots scattershot scatterstores scatterkernels scatterparts scatterpackets scatterwords \
        scatterstaged -shapes "$(rows "$gpus 32 128 256 1024" 8192,4096)" $mode || wrong=1
    done
    same scatterslots scatterpackets scattertiles -shapes "$(rows "$gpus 256 1024 4096" 8192,4096)" || wrong=1
    same reduceslots reduceshot reducetwoshot reducepackets reducewords reducetwopackets reducetiles -oneprocess \
      -shapes "$(rows "$gpus 16 64 248 1024" 8192,4096)" || wrong=1
    same normslots normshot normrows normowners -shapes "$(rows "$gpus 16 64 248 1024" 8192,4096)" || wrong=1
    same gatherpull gatherkernels gatheronce gatherparts gatherpush gatherpushring gathergrouped gatherring \
      gatherbroadcast gathershot gatherpackets gathernccl gathertiles \
      -shapes "$(rows "$gpus 16 64 256 1024" 4096,7168)" || wrong=1
    for forms in "fewmlp fewmlppackets" fewmlpearly; do # whose bits are equal
      same $forms -shapes "$(rows "8 64 128 512" 4096,4096)" -extents F=14336 || wrong=1
    done
    for type in bf16 fp16; do
      same mlp mlpshot mlppackets mlptiles -shapes "$(rows "8 64 128 512 2048" 4096,4096)" -extents F=14336 \
        -type $type -oneprocess || wrong=1
    done
    same mlp mlppackets -shapes "$(rows "8 64 256" 512,512)" -extents F=1024 -type fp32 -oneprocess || wrong=1
    return $wrong
  }
  eight() {
    local wrong=0
    same eightscatterslots eightscattershot eightscatterpackets -shapes "$(rows "16 64 256 1024" 8192,4096)" || wrong=1
    same eightgatherpull eightgatherring eightgathershot -shapes "$(rows "16 64 256 1024" 4096,7168)" || wrong=1
    same eightquantisedpull eightquantisedring -shapes "$(rows "16 64 256 1024" 4096,7168)" || wrong=1
    same eightreduceslots eightreducetwoshot eightreducepackets -oneprocess \
      -shapes "$(rows "16 64 256 1024" 8192,4096)" || wrong=1
    return $wrong
  }
  free() { ! same free freepackets -shapes "$(rows "8 64 128 512 2048" 4096,4096)" -extents F=14336 -oneprocess; }
  part "same-$gpus" forms
  part "same-eight-$gpus" eight
  part "same-free-$gpus" free
  exit $failed
fi

# ways: 405B's first layer, GPT-3's and 8B's second by more options than the catalogue has, for four ranks.
if [ "$PART" = ways ]; then
  options() { "$BIN/ways-run" bench "$1" -ranks "$gpus" -driver cuda -type bf16 -iters "${ROUNDS:-12}" -shapes "$2"; }
  part "ways-gather-$gpus" options "$("$BIN/ways-run" list -json | sed -n 's/^{"program":"\(gather[^"]*\)".*/\1/p' |
    paste -sd,)" "1024,16384,13312;1024,4096,3584;512,8192,7168"
  part "ways-sum-$gpus" options "$("$BIN/ways-run" list -json | sed -n 's/^{"program":"\(sum[^"]*\)".*/\1/p' |
    paste -sd,)" "4096,49152,12288;1024,14336,4096;2048,14336,4096;4096,14336,4096"
  exit $failed
fi

# llama: the decoder's tokens, and the times of steps of LAYERS layers, by NCCL too; OVGEN_NCCL may name its library.
if [ "$PART" = llama ]; then
  part "llama-tokens-$gpus" env OVGEN_EXAMPLE_GPUS="$gpus" "$BIN/llama.test" -test.v -test.run TestOnGPUs
  part "llama-$gpus" env OVGEN_EXAMPLE_SPEED="$gpus" OVGEN_EXAMPLE_LAYERS="${LAYERS:-4}" "$BIN/llama.test" -test.v \
    -test.run TestSpeed
  python3 bench/tables.py steps "$OUT/llama-$gpus.txt"
  exit $failed
fi

# trace: 8B's sizes, 4 and 16 layers, 1 to 64 sequences, once the kernels are right.
if [ "$PART" = trace ]; then
  part llama-kernels env OVGEN_EXAMPLE_KERNELS=1 "$BIN/llama-kernels.test" -test.v \
    -test.run 'TestDecode|TestBest|TestWide'
  part "llama-trace-$gpus" env OVGEN_EXAMPLE_TRACE="$gpus" "$BIN/llama.test" -test.v -test.run 'TestTrace$'
  grep -v '^ ' "$OUT/llama-trace-$gpus.txt"
  exit $failed
fi

# in_turn ARGUMENT...: both binaries measure the same, three times.
in_turn() {
  local round binary rc=0
  for round in 1 2 3; do
    for binary in "$OLD" "$BIN/run"; do
      if [ "$binary" = "$OLD" ]; then echo "== run-base round $round"; else echo "== run round $round"; fi
      "$binary" bench "$@" -ranks "$gpus" -driver cuda -type bf16 -iters "${ROUNDS:-24}" || rc=1
    done
  done
  return $rc
}

# compare: no figure may be worse than the commit before by more than noise.
if [ "$PART" = compare ]; then
  [ -x "${OLD:-}" ] || { echo "set OLD to generated/run as an older commit builds it" >&2; exit 2; }
  part compare in_turn $("$OLD" list -json | sed -n 's/^{"program":"\([^"]*\)".*/\1/p')
  "$PYTHON" bench/compare.py "$OUT/compare.txt" | tee -a "$OUT/compare.txt" | tail -1
  exit $failed
fi

# checked NAME...: programs under compute-sanitizer, one process a rank: it looks at
# programs that start no others.
checked() {
  local r rc=0 pids=()
  for r in 0 1; do
    OVGEN_RANK=$r OVGEN_SIZE=2 OVGEN_JOB=memcheck$$ compute-sanitizer --tool memcheck --error-exitcode 9 \
      "$BIN/run" verify "$@" -driver cuda -iters 1 -timeout 120s -shapes "128,128,128" &
    pids+=($!)
  done
  for r in "${pids[@]}"; do wait "$r" || rc=1; done
  return $rc
}

if [ "$PART" = join ]; then
  for n in 2 4; do
    [ "$gpus" -ge $n ] || continue
    torchrun=("$PYTHON" -m torch.distributed.run --standalone --nproc-per-node $n)
    part "torchrun-$n" timeout 120 "${torchrun[@]}" --no-python \
      "$BIN/run" verify allgatherlinear linearreducescatter -driver cuda -iters 20
    if [ -e "$BIN/libovgen.so" ]; then
      part "torch-$n" timeout 120 "${torchrun[@]}" docs/examples/torch/allgather_matmul.py \
        --library "$BIN/libovgen.so" --out "$OUT/torch-$n.json"
    else
      echo "torch-$n: not run, there is no $BIN/libovgen.so (make gpu-build)"
    fi
  done
  part memcheck-2 checked $("$BIN/run" list -json | sed -n 's/^{"program":"\([^"]*\)".*/\1/p')
  exit $failed
fi

if [ "$PART" != bench ]; then
  part driver env OVGEN_CONVERSIONS="$BIN" "$BIN/cuda.test" \
    -test.run 'Conversions|Conform|NoAllocs|Peers|Kernel|Unexportable|Foreign|Threads|ManyAtOnce|Misaligned'
  part "peers-$gpus" env OVGEN_EXAMPLE_GPUS="$gpus" "$BIN/peers.test" -test.v -test.run TestOnGPUs
  for n in 2 4; do
    [ "$gpus" -ge $n ] || continue
    part "verify-$n" "$BIN/run" verify all -ranks $n -driver cuda -iters ${ITERS:-50}
    part "oneprocess-$n" "$BIN/run" verify all -ranks $n -driver cuda -iters ${ITERS:-50} -oneprocess
    part "disturbed-$n" "$BIN/run" verify all -ranks $n -driver cuda -iters ${ITERS:-50} \
      -delays -straggler -shapes "1024,512,768"
    part "tiles-delays-$n" "$BIN/run-delays" verify allgatherlineartiles linearreducescattertiles -ranks $n \
      -driver cuda -iters ${ITERS:-50} -delays -straggler
    part "scenarios-$n" "$BIN/scenario.test" -test.v -test.run 'TestProcesses|TestRoom' -driver cuda \
      -ranks $n -processes
  done
fi
if [ "$PART" != test ]; then
  part bench "$BIN/run" bench all -ranks "$gpus" -driver cuda -iters ${ROUNDS:-8}
  part steps "$BIN/run" bench allgathermatmul -ranks "$gpus" -driver cuda -iters 80 -nosteps -shapes 512,4096,3584
  # Twice, with a cache of tuned products that is empty the first time.
  cache=$(mktemp -d)
  for start in first second; do
    part "layers-$start" env OVGEN_CACHE="$cache" "$BIN/run" layers allgatherlinear allgathergateup \
      linearreducescatter linearallreducetwoshot -ranks "$gpus" -driver cuda
  done
  rm -rf "$cache"
  part known "$BIN/cuda.test" -test.run '^$' -test.bench KnownProduct
fi
exit $failed
