package run

const usage = `usage: run list [flags]
       run verify NAME...|all [flags]
       run same NAME... [flags]           rows have the same bits whatever their number, by each
                                          program (of one operation and equal placements)
       run tune NAME...|all [flags]
       run trace NAME... [flags]
       run bench NAME...|all [flags]      NAME,NAME: interleaved in one run, for programs
                                          of one operation and equal placements
       run layers NAME... [flags]         the operations of a model's layers

  -ranks N       ranks to start (4); torchrun, mpirun and srun set it themselves
  -hosts N       hosts that they play, each as many (1): only ranks of one reach each other's
                 memory; all are then the programs over hosts (verify, bench, trace, layers)
  -m -k -n N     one shape: C[m,n] = A[m,k] * B, over all ranks where an extent is
                 spread; an MLP without F has n*ranks columns between its layers and k at
                 the end; what a program has as a constant, or not at all, is left out
  -oneprocess    all ranks in one process, a goroutine each, instead of a process each
  -shapes LIST   several: "8192,8192,8192;2048,8192,3584" (m,k,n; 0 leaves an extent out)
  -extents LIST  other extents of every shape: "N2=1024,N3=1024" or "F=28672" or "P=512"
  -type LIST     bf16, fp16, fp32, or several with commas (verify: all that the program takes; bench: bf16)
  -driver NAME   auto, cuda or sim (auto: GPUs where there are enough, else the simulator)
  -seed N        of the inputs, delays and stragglers (1)
  -cache FOLDER  where tuned products are kept, or off (OVGEN_CACHE, else the user's cache folder)
  -timeout D     for joining, and for a run on its own (30s, more for large shapes in
                 the simulator; with -long 1h)
  -long          insist on what takes the simulator minutes
  -json          one line of JSON for each row (verify, bench, tune, list)
list: the programs, and the memory that a plan of one shape takes on a rank (-ranks, -m, -k,
      -n, -extents, -type)
  -devices       in their place the devices of -driver (cuda), the first -ranks of them, and
                 what joins them
verify:
  -iters N       runs of each shape, eager, again replayed, and captured in a graph of the
                 caller's (5; on GPUs 50)
verify and same:
  -delays        delay random operations on the device
  -straggler     let a random rank come late to every run
bench:
  -iters N       measured rounds after 3 to warm up (16)
  -nosteps       measure also without the step words that an abort reads
  -inturn        interleave all that is named, also programs of several operations, each with tensors of
                 its own, at the first one's shapes
bench and trace:
  -network GB/S  of -hosts: play a network of that rate. Exchanges go as between ranks of one host, each
                 after a delay of 25 us and of its bytes at the rate
tune: measures the schedules of each operation against each other, by tiles with each kernel; on two
      ranks none in two shots, and none whose bits New refuses
  -iters N       as for bench
  -o FILE        where the fastest of each shape are kept, for package tuned (tuning.json)
layers: stands up a plan of each program and bucket of rows in one group, binds each layer's
        weights to them, and prints what that takes of time and memory
  -layers N      of the model (80)
  -buckets N     numbers of rows, evenly up to m (20)
trace: writes when each operation of a run was at work, for ui.perfetto.dev
  -o FILE        (trace.json; of several programs NAME.trace.json)
  -svg FILE      also a picture, the programs one below the other
`
