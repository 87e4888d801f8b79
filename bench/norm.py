#!/usr/bin/env python3
"""Measures partial results of every rank that meet, a residual and a norm, with both results, on the GPUs of one host:
by one kernel of ovgen and by two, in one shot and in two, there by the owners of rows where the ranks divide them and
by all ranks, by NCCL and by PyTorch's symmetric memory with a kernel of the norm behind them.

    torchrun --nproc-per-node 2 bench/norm.py --library libnorm.so [--points 6x6144,32x8192,128x6144] [--rounds 15]

The library is that of package bench/norm (make gpu-build). Without torchrun it is tried on one GPU. Variants are
captured, take turns and are timed as those of bench/small.py. The kernel of the norm is Triton's, one for the residual
and the norm; without Triton it is torch's two. H must be the sum, and both results of ovgen's one kernel must have the
bits of its two, and so must those of two shots.
"""
from job import Job, dist, local_rank, torch  # first: it sets variables that CUDA reads

import argparse
import ctypes

from ours import ovgen
from small import CALLS, WINDOW, Point, make, report, summed
from window import Window

EPSILON = 1e-5
POINTS = "1x6144,6x6144,16x8192,32x8192,128x6144,256x8192"


class Shape(ctypes.Structure):
    """struct ovgen_NAME_shape of schedules over M and N with a norm"""
    _fields_ = [("M", ctypes.c_int64), ("N", ctypes.c_int64), ("element", ctypes.c_int), ("epsilon", ctypes.c_double)]


try:
    import triton
    import triton.language as tl

    @triton.jit
    def add_and_norm(x, residual, weight, h, c, n, epsilon, WIDTH: tl.constexpr):
        row, at = tl.program_id(0), tl.arange(0, WIDTH)
        inside = at < n
        total = tl.load(x + row * n + at, inside, 0).to(tl.float32) + tl.load(residual + row * n + at, inside, 0).to(
            tl.float32)
        total = total.to(tl.bfloat16)
        tl.store(h + row * n + at, total, inside)
        total = total.to(tl.float32)
        scale = 1 / tl.sqrt(tl.sum(total * total) / n + epsilon)
        tl.store(c + row * n + at, total * scale * tl.load(weight + at, inside, 0).to(tl.float32), inside)

    def normed(x, residual, weight, h, c):
        m, n = h.shape
        add_and_norm[(m,)](x, residual, weight, h, c, n, EPSILON, WIDTH=triton.next_power_of_2(n), num_warps=16)
    KERNEL = "Triton's"
except ImportError:
    def normed(x, residual, weight, h, c):
        torch.add(x, residual, out=h)
        c.copy_(torch.nn.functional.rms_norm(h, weight.shape, weight, EPSILON))
    KERNEL = "torch's"


def measure(job, group, rounds, m, n):
    """A line of the table: m rows of n columns."""
    point, a, x = Point(job, group), make(job, m, n), job.symmetric(m, n)
    x.copy_(a)
    moved = torch.zeros_like(a)  # sums of sums overflow otherwise
    residual, weight = (make(job, *size) for size in ((m, n), (n,)))
    for whole in (residual, weight):
        dist.broadcast(whole, 0)
    both = torch.empty(2, m, n, dtype=a.dtype, device=a.device)
    h, c = both
    sums = (summed(a).float() + residual.float()).to(a.dtype)
    buffers = {"A": a, "Residual": residual, "Norm": weight, "H": h, "C": c}
    shape = Shape(m, n, ovgen.BF16, EPSILON)
    point.package("apart", shape, h, sums, **buffers)
    want = sums.float() * torch.rsqrt(sums.float().square().mean(1, keepdim=True) + EPSILON) * weight.float()
    if "apart" in point.graphs and not job.agree(torch.allclose(c.float(), want, rtol=2 ** -7, atol=2 ** -7)):
        point.wrong["apart"] = "its norm is not torch's"
    point.package("joined", shape, both, both.clone(), **buffers)
    point.package("spread", shape, both, both.clone(), **buffers)
    if m % job.ranks == 0:
        point.package("owners", shape, both, both.clone(), **buffers)
    behind = lambda reduced: normed(reduced, residual, weight, h, c)
    point.collective(lambda out, into: dist.all_reduce(out), moved, moved, after=behind)
    one_shot = lambda: torch.ops.symm_mem.one_shot_all_reduce(x, "sum", job.group.group_name)
    point.add("torch-one-shot", lambda: behind(one_shot()), h, sums)
    point.add("one-shot-alone", one_shot)
    point.add("norm-alone", lambda: behind(a))
    report(job, f"{m} x {n}", point, rounds)


def main():
    f = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    f.add_argument("--library", required=True, help="the libnorm.so of bench/norm")
    f.add_argument("--points", default=POINTS, help=f"rows x columns, with commas ({POINTS})")
    f.add_argument("--rounds", type=int, default=15, help="measured rounds (15)")
    o = f.parse_args()
    points = [tuple(map(int, p.split("x"))) for p in o.points.split(",")]
    job = Job(alone=True)
    job.window = Window(job, WINDOW)
    group = ovgen.Group(ovgen.Library(o.library), device=local_rank(), arena_bytes=1 << 29)
    if job.rank == 0:
        print(f"# torch {torch.__version__}, {job.ranks} ranks, {KERNEL} kernel of the norm; us a call in a graph of "
              f"{CALLS}, median of the slowest rank over {o.rounds} rounds", flush=True)
        print(f"# NCCL's symmetric window: {job.window}", flush=True)
    for m, n in points:
        measure(job, group, o.rounds, m, n)
    group.close()
    job.window.close()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
