#!/usr/bin/env python3
"""Measures a layer of Llama from attention's output to the next residual, of 8B's sizes in bf16, on the GPUs of one
host: as one chain of ovgen, as a plan for each stage of that chain, and as torch does it with NCCL. Without torchrun it
is tried on one GPU.

    torchrun --nproc-per-node 2 bench/block.py --library libblock.so [--rows 128,512] [--rounds 15]

The library is that of package bench/block (make gpu-build). Each rank has its columns of attention's output, its rows
of the residual and its share of each weight. Each variant runs once a round, in an order that differs from round to
round:

    torch        mm, reduce_scatter, add, rms_norm, all_gather, mm (gate and up in one), silu * up, mm, reduce_scatter,
                 add; outputs preallocated where torch can; eager, and captured in one CUDA graph
    products     the three products of torch alone, in one CUDA graph: what no layer of such products can be faster than
    plans        projection, gate and projection again, with the shapes of both sums; enqueued, and replayed
    chain        enqueued, and replayed
    in parts     the chain, with a rank's rows in two parts behind the first sum; enqueued, and replayed
    packets      the chain whose rows and partial results travel as packets; enqueued, and replayed
    tiles        the chain with tiles wherever something travels, for the gather, for the last sums, or for the gather
                 between sums by packets (GPUs of compute capability 9.0); enqueued, and replayed

each eager (the host enqueues when the ranks have met) and gated (all is queued after a sleeping kernel before). A time
is the device's, of the slowest rank; the median over the rounds is given, and the range. Results must equal torch's
but for rounding.
"""
from job import Job, captured, dist, local_rank, torch  # first: it sets variables that CUDA and NCCL read

import argparse
import ctypes
import random
import statistics
import sys

from ours import buffers, ovgen

WIDTH, INNER = 4096, 14336  # of 8B
PRODUCTS = "products captured"  # they make no layer
CHAINS = {"chain": "chain", "in parts": "chaininparts", "packets": "chainbypackets", "tiles": "chainbytiles",
          "tiles gather": "gatheredbytiles", "tiles sum": "summedbytiles", "tiles between": "tilesbetweenpackets"}


def shape(element, **extents):
    """struct ovgen_NAME_shape: its extents in their order, the element type and, for those with a norm, the epsilon, of
    which 0 stands for 1e-5."""
    fields = [*((name, ctypes.c_int64) for name in extents), ("element", ctypes.c_int), ("epsilon", ctypes.c_double)]
    return type("Shape", (ctypes.Structure,), {"_fields_": fields})(*extents.values(), element)


class Block:
    """The tensors of a number of rows and the ways to compute the block."""

    def __init__(self, job, rows):
        d = job.ranks
        make = lambda *size: torch.empty(size, dtype=torch.bfloat16, device=job.device).uniform_(-1, 1)
        empty = lambda *size: torch.empty(size, dtype=torch.bfloat16, device=job.device)
        self.job, self.rows, self.plans = job, rows, []
        self.attention = make(rows, WIDTH // d)
        self.projection = make(WIDTH, WIDTH // d) / 32
        self.residual, self.norm = make(rows // d, WIDTH), make(WIDTH)
        self.gate_up = make(2 * INNER // d, WIDTH) / 32
        self.gate, self.up = self.gate_up[:INNER // d], self.gate_up[INNER // d:]
        self.down = make(WIDTH, INNER // d) / 32
        dist.broadcast(self.norm, 0)  # equal on all ranks
        self.partial, self.sums = empty(rows, WIDTH), empty(rows // d, WIDTH)
        self.gathered, self.both = empty(rows, WIDTH), empty(rows, 2 * INNER // d)
        self.r, self.g, self.c = empty(rows // d, WIDTH), empty(rows, INNER // d), empty(rows // d, WIDTH)

    def torch(self):
        torch.mm(self.attention, self.projection.t(), out=self.partial)
        dist.reduce_scatter_tensor(self.sums, self.partial)
        r = self.sums + self.residual
        x = torch.nn.functional.rms_norm(r, (WIDTH,), self.norm, 1e-5)
        dist.all_gather_into_tensor(self.gathered, x)
        torch.mm(self.gathered, self.gate_up.t(), out=self.both)
        inner = self.both.shape[1] // 2
        g = torch.nn.functional.silu(self.both[:, :inner]) * self.both[:, inner:]
        torch.mm(g, self.down.t(), out=self.partial)
        dist.reduce_scatter_tensor(self.sums, self.partial)
        self.made = self.sums + r
        return self.made

    def products(self):
        torch.mm(self.attention, self.projection.t(), out=self.partial)
        torch.mm(self.gathered, self.gate_up.t(), out=self.both)
        torch.mm(self.g, self.down.t(), out=self.partial)
        return self.partial

    def plan(self, ours, name, extents, **tensors):
        plan = ovgen.Plan(ours, name, shape(ovgen.BF16, **extents))
        self.plans.append(plan)
        plan.bind(buffers(**{name: t.data_ptr() for name, t in tensors.items()}))
        return plan

    def ways(self, ours):
        """The chains and the plans, each enqueued and replayed."""
        chains = {word: [self.plan(ours, name, dict(M=self.rows, K=WIDTH, N=WIDTH, F=INNER), Attention=self.attention,
            Projection=self.projection, Residual=self.residual, Norm=self.norm, Gate=self.gate, Up=self.up,
            Down=self.down, C=self.c)] for word, name in CHAINS.items()}
        stages = [
            self.plan(ours, "projection", dict(M=self.rows, K=WIDTH, N=WIDTH), Attention=self.attention,
                Weight=self.projection, Residual=self.residual, R=self.r),
            self.plan(ours, "gate", dict(M=self.rows, K=WIDTH, F=INNER), R=self.r, Norm=self.norm, Gate=self.gate,
                Up=self.up, G=self.g),
            self.plan(ours, "projection", dict(M=self.rows, K=INNER, N=WIDTH), Attention=self.g, Weight=self.down,
                Residual=self.r, R=self.c)]

        def way(plans, how):
            def run():
                stream = torch.cuda.current_stream().cuda_stream
                for p in plans:
                    getattr(p, how)(stream)
                return self.c
            return run
        return {f"{name} {word}": way(plans, how) for name, plans in {"plans": stages, **chains}.items()
                for word, how in (("enqueued", "enqueue"), ("replayed", "replay"))}

    def close(self):
        self.job.synchronize()
        for plan in reversed(self.plans):
            plan.close()


def arena(library, ranks, rows):
    """Bytes of the arena that all plans of a number of rows need."""
    sizes = [(name, dict(M=rows, K=WIDTH, N=WIDTH, F=INNER)) for name in CHAINS.values()] + [
             ("projection", dict(M=rows, K=WIDTH, N=WIDTH)),
             ("gate", dict(M=rows, K=WIDTH, F=INNER)), ("projection", dict(M=rows, K=INNER, N=WIDTH))]
    return sum(library.memory(name, shape(ovgen.BF16, **x), ranks).arena_bytes for name, x in sizes)


def measured(job, ours, rows, rounds):
    """Prints the times of each way with a number of rows."""
    block = Block(job, rows)
    job.warm(block.torch)
    ways = {"torch eager": block.torch, "torch captured": captured(block.torch)} | block.ways(ours)
    job.warm(block.products)
    ways[PRODUCTS] = captured(block.products)
    runs, want = {}, None
    for name, run in ways.items():
        block.c.zero_()  # else a way that does nothing leaves the right result of the way before
        host, out, wrong = job.warm(run)
        if want is None and not wrong:
            want = out.clone()
        if name != PRODUCTS:
            wrong = wrong or job.differs(want, out)
        if wrong:
            if job.rank == 0:
                print(f"{rows:>6}  {name:<16} {wrong}", flush=True)
            continue
        runs[name] = (run, 1.5 * host + 0.5)
    samples = {(name, gated): [] for name in runs for gated in (False, True)}
    for i in range(rounds):
        turns = list(samples.items())
        random.Random(i).shuffle(turns)  # the same on all ranks
        for (name, gated), list_ in turns:
            run, sleep_ms = runs[name]
            list_.append(job.measure(run, sleep_ms if gated else 0)[0])
    all_ = job.gather(samples)
    ours.check()
    block.close()
    for name in runs:
        line = f"{rows:>6}  {name:<16}"
        for gated in (False, True):
            slowest = [max(rank[name, gated][i] for rank in all_) for i in range(rounds)]
            line += f" {statistics.median(slowest):9.4f} {min(slowest):8.4f}..{max(slowest):8.4f}"
        if job.rank == 0:
            print(line, flush=True)


def main():
    f = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    f.add_argument("--library", required=True, help="the libblock.so of package bench/block")
    f.add_argument("--rows", default="128,256,512,1024,2048,4096",
                   help="of all ranks, with commas (128,256,512,1024,2048,4096)")
    f.add_argument("--rounds", type=int, default=15, help="measured rounds (15)")
    o = f.parse_args()
    if o.rounds < 1:
        sys.exit("block.py: --rounds must be positive")
    job = Job(alone=True)
    points = [int(x) for x in o.rows.split(",")]
    library = ovgen.Library(o.library)
    ours = ovgen.Group(library, device=local_rank(),
        arena_bytes=max(arena(library, job.ranks, rows) for rows in points) + (64 << 20))
    if job.rank == 0:
        print(f"# torch {torch.__version__}, {job.ranks} ranks; ms, median of the slowest rank over {o.rounds} rounds, "
              "and the range\n  rows  way                 eager                        gated", flush=True)
    for rows in points:
        measured(job, ours, rows, o.rounds)
    job.synchronize()
    ours.close()
    dist.destroy_process_group()
    return 0


if __name__ == "__main__":
    sys.exit(main())
