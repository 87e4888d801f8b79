#!/usr/bin/env python3
"""Measures small collectives, and products of few rows beside them, on the GPUs of one host: NCCL,
PyTorch's symmetric memory (torch 2.11) and ovgen's packages in the same rounds.

    torchrun --nproc-per-node 2 bench/small.py --library libovgen.so \\
        [--tables reduce,linear,gather,qkv,scatter] [--rounds 15]

Without torchrun it is tried on one GPU.

Each variant is captured in a CUDA graph of 20 calls, and in each round every variant's graph is launched
once, behind a meeting of all ranks on the device, in an order that differs from round to round. A time is that of the
slowest rank over 20, in us; the median over the rounds is given. Results of ovgen's packages are compared with NCCL's
before they are timed. nccl-symmetric is NCCL with its buffers in a symmetric window (bench/window.py). The product of
tables linear, gather and scatter, alone and with NCCL or PyTorch, is by the fastest of torch.mm and cuBLASLt's first
eight choices. The last lines say at how many points each variant ran.

    reduce   all-reduce of bf16, 16 KiB to 8 MiB
    linear   product and all-reduce at decoding: k = 28672 over the ranks, n = 8192
    gather   all-gather and product of few rows: 8B's and 70B's first layer; all-gather and
             reduce-scatter alone, 16 KiB to 4 MiB a rank
    qkv      all-gather and several products of few rows: query, key and value, and gate and up, of 8B and 70B;
             each call takes the weights of the next layer, as in a model, so that no cache keeps them
    scatter  product and reduce-scatter of few rows: 8B's second layer
"""
from job import Job, dist, local_rank, message, torch  # first: it sets variables that CUDA reads

import argparse
import ctypes
import itertools
import random
import statistics

import ours
import peers
import products
from ours import ovgen
from window import Window

CALLS = 20
WARM = 3  # calls of each variant before it is captured
LARGE = 256 << 20  # bytes of weights that take turns, so that no cache keeps one until its next turn
SLEEP = 400_000  # cycles, in which the host enqueues the graph
WINDOW = 64 << 20  # bytes, for the buffers of NCCL at one point


class Plain(ctypes.Structure):
    """struct ovgen_NAME_shape of the schedules over M and N"""
    _fields_ = [("M", ctypes.c_int64), ("N", ctypes.c_int64), ("element", ctypes.c_int)]


class Point:
    """The variants of one line of a table, each captured in a graph."""

    sleep = SLEEP

    def __init__(self, job, group):
        self.job, self.group, self.graphs, self.plans, self.wrong = job, group, {}, [], {}
        self.calls = []  # which keep the tensors that the graphs read

    def add(self, name, call, result=None, reference=None):
        """Captures calls of a variant, which makes result or returns it; on all ranks, or on none."""
        def warm():
            for _ in range(WARM):
                out = call()
            torch.cuda.synchronize()
            return out
        out, wrong = self.job.attempt(warm)
        if not wrong and reference is not None:
            wrong = self.differs(reference, out if result is None else result)
        if wrong:
            self.wrong[name] = wrong
            return
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(CALLS):
                call()
        self.graphs[name] = graph
        self.calls.append(call)

    def differs(self, reference, result):
        """How a result is wrong, or an empty text."""
        return "" if self.job.agree(torch.equal(result, reference)) else "it has other bits than the reference"

    def note(self, error):
        """Reports that cuBLASLt's choices are not among the products."""
        if error:
            self.wrong["product"] = error

    def package(self, name, shape, result, reference, layers=None, **buffers):
        """Captures runs of one of ovgen's packages, each with the buffers of the next of the layers."""
        turns = itertools.cycle(layers or [buffers])
        bind = lambda plan: plan.bind(ours.buffers(**{k: t.data_ptr() for k, t in next(turns).items()}))

        def bound():
            plan = ovgen.Plan(self.group, name, shape)
            self.plans.append(plan)
            for _ in layers or [buffers]:
                bind(plan)
            return plan
        plan, wrong = self.job.attempt(bound)
        if wrong:
            self.wrong[name] = wrong
            return
        result.zero_()
        torch.cuda.synchronize()
        self.add(name, lambda: (layers and bind(plan), plan.enqueue(torch.cuda.current_stream().cuda_stream)), result,
            reference)

    def collective(self, collective, out, into, before=lambda into: None, after=lambda out: None):
        """Captures NCCL's collective from into to out, as it is and between buffers in a symmetric window. before makes
        into, and after takes out."""
        def calls(out, into):
            return lambda: (before(into), collective(out, into), after(out))
        self.add("nccl", calls(out, into))

        def windows():
            tensors = (out,) if out is into else (out, into)
            parts = [self.job.window.tensor(*t.shape, dtype=t.dtype).copy_(t) for t in tensors]
            self.job.window.check(*parts)
            return parts
        placed, wrong = self.job.attempt(windows)
        if wrong:
            self.wrong["nccl-symmetric"] = wrong
        else:
            self.add("nccl-symmetric", calls(placed[0], placed[-1]))

    def measure(self, rounds):
        """Times each variant, in us a call."""
        times = {name: [] for name in self.graphs}
        for i in range(rounds + 2):
            turns = list(self.graphs.items())
            random.Random(i).shuffle(turns)  # the same on all ranks
            for name, graph in turns:
                start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                torch.cuda._sleep(self.sleep)
                self.job.meet()
                start.record()
                graph.replay()
                end.record()
                end.synchronize()
                if i >= 2:
                    times[name].append(start.elapsed_time(end) / CALLS * 1e3)
        gathered = self.job.gather(times)
        return {name: statistics.median(max(rank[name][i] for rank in gathered) for i in range(rounds))
            for name in times}

    def close(self):
        """Collective: until then peers read the memory that the plans are bound to."""
        torch.cuda.synchronize()
        self.graphs.clear()
        self.calls.clear()
        self.job.window.clear()
        for plan in self.plans:
            plan.close()


def report(job, name, point, rounds):
    """Measures a point and prints its line."""
    times = point.measure(rounds)
    job.tried += [(form, True) for form in times] + [(form, False) for form in point.wrong]
    group = job.gather("" if not point.group else dead(point.group))
    if job.rank == 0:
        cells = "  ".join(f"{form} {us:.1f}" for form, us in times.items())
        print(f"{name:<24} {cells}" + "".join(f"\n    {form}: {e}" for form, e in point.wrong.items()), flush=True)
        for e in filter(None, group):
            print(f"    the group is dead: {e}", flush=True)
    point.close()


def dead(group):
    try:
        group.check()
    except ovgen.Error as e:
        return message(e)
    return ""


def make(job, *shape):
    """Small integers: sums of them are exact, so every way to add them is right or wrong."""
    g = torch.Generator(device=job.device).manual_seed(job.rank + 1)
    return torch.randint(-1, 2, shape, generator=g, device=job.device).to(torch.bfloat16)


def summed(partial):
    """What the ranks' partial results add up to, rounded once. NCCL rounds at each of several hops."""
    total = partial.float()
    dist.all_reduce(total)
    return total.to(partial.dtype)


def reduce(job, group, rounds):
    n = 8192
    for m in (1, 4, 8, 16, 32, 64, 128, 256, 512):
        point, a = Point(job, group), make(job, m, n)
        x, moved, c = job.symmetric(m, n), a.clone(), torch.empty_like(a)
        x.copy_(a)
        reference = summed(a)
        moved.zero_()  # sums of sums overflow otherwise
        point.collective(lambda out, into: dist.all_reduce(out), moved, moved)
        point.add("torch-one-shot", lambda: torch.ops.symm_mem.one_shot_all_reduce(x, "sum", job.group.group_name))
        y = job.symmetric(m, n).zero_()
        point.add("torch-two-shot", lambda: torch.ops.symm_mem.two_shot_all_reduce_(y, "sum", job.group.group_name))
        for name in ("allreduceoneshot", "allreducepackets", "allreducepush", "allreducetwoshot",
                     "allreducetwoshotpackets"):
            if "twoshot" not in name or m * n % job.ranks == 0:
                point.package(name, Plain(m, n, ovgen.BF16), c, reference, A=a, C=c)
        report(job, f"all-reduce {m * n * 2 >> 10} KiB", point, rounds)


def linear(job, group, rounds):
    k, n = 28672, 8192
    for m in (1, 8, 32, 64, 128, 256):
        point, a, w = Point(job, group), make(job, m, k // job.ranks), make(job, n, k // job.ranks)
        x, c, partial = job.symmetric(m, n), torch.empty(m, n, dtype=a.dtype, device=a.device), torch.empty(m, n,
            dtype=a.dtype, device=a.device)
        torch.mm(a, w.t(), out=partial)
        reference = summed(partial)
        product, _, without = products.fastest(a, w, partial)
        point.note(without)
        point.add("product", lambda: product(a, w, partial))
        point.collective(lambda out, into: dist.all_reduce(out), partial, partial, lambda into: product(a, w, into))
        name = job.group.group_name
        point.add("torch-one-shot", lambda: (product(a, w, x),
            torch.ops.symm_mem.one_shot_all_reduce(x, "sum", name)))
        point.add("torch-two-shot", lambda: (product(a, w, x),
            torch.ops.symm_mem.two_shot_all_reduce_(x, "sum", name)))
        for name in ("linearallreduceoneshot", "linearallreducepackets", "linearallreducepush"):
            point.package(name, ovgen.Shape(m, k, n, ovgen.BF16), c, reference, A=a, B=w, C=c)
        report(job, f"linear + all-reduce {m}", point, rounds)


def gather(job, group, rounds):
    for model in ("8B", "70B"):
        h, f = peers.MODELS[model]
        for m in (64, 128, 256, 512):
            k, n = h, f // job.ranks
            point, a, w = Point(job, group), make(job, m // job.ranks, k), make(job, n, k)
            bias = torch.zeros(n, dtype=a.dtype, device=a.device)
            whole, c = torch.empty(m, k, dtype=a.dtype, device=a.device), torch.empty(m, n, dtype=a.dtype,
                device=a.device)
            dist.all_gather_into_tensor(whole, a)
            reference = torch.mm(whole, w.t())
            product, _, without = products.fastest(whole, w, c)
            point.note(without)
            point.add("product", lambda: product(whole, w, c))
            point.collective(dist.all_gather_into_tensor, whole, a, after=lambda out: product(out, w, c))
            for name in ("allgatherlinearoneshot", "allgatherlinearpackets", "allgatherlinearkernels",
                "allgatherlinear", "allgatherlineartiles"):
                point.package(name, ovgen.Shape(m, k, n, ovgen.BF16), c, reference, A=a, B=w, Bias=bias, C=c)
            report(job, f"{model} fc1 {m}", point, rounds)
    for kb in (16, 64, 256, 1024, 4096):
        m, n = kb << 10 >> 14, 8192  # rows of each rank
        point, a = Point(job, group), make(job, m, n)
        c = torch.empty(m * job.ranks, n, dtype=a.dtype, device=a.device)
        reference = torch.empty_like(c)
        dist.all_gather_into_tensor(reference, a)
        point.collective(dist.all_gather_into_tensor, c, a)
        for name in ("allgatheroneshot", "allgatherpackets", "allgather"):
            point.package(name, Plain(m * job.ranks, n, ovgen.BF16), c, reference, A=a, C=c)
        report(job, f"all-gather {kb} KiB a rank", point, rounds)
        point, whole = Point(job, group), make(job, m * job.ranks, n)
        c, reference = torch.empty_like(a), torch.empty_like(a)
        dist.reduce_scatter_tensor(reference, whole)
        point.collective(dist.reduce_scatter_tensor, c, whole)
        for name in ("reducescatteroneshot", "reducescatterpackets", "reducescatter"):
            point.package(name, Plain(m * job.ranks, n, ovgen.BF16), c, reference, A=whole, C=c)
        report(job, f"reduce-scatter {kb} KiB a rank", point, rounds)


def qkv(job, group, rounds):
    heads = 1024  # columns of keys, and of values
    for model in ("8B", "70B"):
        h, f = peers.MODELS[model]
        for name, outputs in (("qkv", (h, heads, heads)), ("gateup", (f, f))):
            for m in (64, 128, 256, 512):
                several(job, group, rounds, f"{model} {name} {m}", name, m, h, [n // job.ranks for n in outputs])


def several(job, group, rounds, line, name, m, k, columns):
    """A line of the table: one all-gather, and a product for each number of columns."""
    point, a, x = Point(job, group), make(job, m // job.ranks, k), job.symmetric(m // job.ranks, k)
    x.copy_(a)
    names = [str(i + 1) if i else "" for i in range(len(columns))]
    layers = [[make(job, n, k) for n in columns] for _ in range(max(1, min(CALLS, LARGE // (2 * k * sum(columns)))))]
    whole, result, reference = (torch.empty(size, dtype=a.dtype, device=a.device)
        for size in ((m, k), m * sum(columns), m * sum(columns)))
    c = [part.view(m, -1) for part in result.split([m * n for n in columns])]
    dist.all_gather_into_tensor(whole, a)
    for w, part in zip(layers[(WARM - 1) % len(layers)], reference.split([m * n for n in columns])):
        torch.mm(whole, w.t(), out=part.view(m, -1))

    def products(turns):
        for w, out in zip(next(turns), c):
            torch.mm(whole, w.t(), out=out)

    def fused(turns):
        return torch.ops.symm_mem.fused_all_gather_matmul(x, [w.t() for w in next(turns)], 0,
            job.group.group_name, return_A=False)

    alone, behind, others = (itertools.cycle(layers) for _ in range(3))
    point.add("products", lambda: products(alone), result, reference)
    point.add("nccl", lambda: (dist.all_gather_into_tensor(whole, a), products(behind)), result, reference)
    gathered = {"Gathered": whole} if name == "gateup" else {}
    buffers = [{"A": a} | {f"B{i}": t for i, t in zip(names, w)} | {f"C{i}": t for i, t in zip(names, c)} | gathered
        for w in layers]
    extents = ["M", "K", *(f"N{i}" for i in names)]
    shape = type("Shape", (ctypes.Structure,), {"_fields_": [(e, ctypes.c_int64) for e in extents] + [
        ("element", ctypes.c_int)]})(m, k, *columns, ovgen.BF16)
    for package in (f"allgather{name}", f"allgather{name}packets"):
        point.package(package, shape, result, reference, buffers)
    point.add("torch", lambda: fused(others))
    report(job, line, point, rounds)


def scatter(job, group, rounds):
    n, f = peers.MODELS["8B"]
    for m in (64, 128, 256, 512, 1024):
        point, a, w = Point(job, group), make(job, m, f // job.ranks), make(job, n, f // job.ranks)
        partial = torch.empty(m, n, dtype=a.dtype, device=a.device)
        c = torch.empty(m // job.ranks, n, dtype=a.dtype, device=a.device)
        torch.mm(a, w.t(), out=partial)
        reference = summed(partial).chunk(job.ranks)[job.rank].contiguous()
        product, _, without = products.fastest(a, w, partial)
        point.note(without)
        point.add("product", lambda: product(a, w, partial))
        point.collective(dist.reduce_scatter_tensor, c, partial, lambda into: product(a, w, into))
        for name in ("linearreducescatteroneshot", "linearreducescatterpackets", "linearreducescattertiles"):
            point.package(name, ovgen.Shape(m, f, n, ovgen.BF16), c, reference, A=a, B=w, C=c)
        report(job, f"8B fc2 {m}", point, rounds)


def main(doc, tables, rounds, arena, window, others={}):
    """Measures tables, functions by their names, with an arena of ovgen and a window of NCCL of so many bytes; others
    are of another library, and measured where they are named."""
    f = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    f.add_argument("--library", required=True, help="the libovgen.so of the catalog, or the one that a table names")
    f.add_argument("--tables", default=",".join(tables), help=f"with commas, of {', '.join(tables | others)}")
    f.add_argument("--rounds", type=int, default=rounds, help=f"measured rounds ({rounds})")
    o = f.parse_args()
    chosen, tables = o.tables.split(","), tables | others
    if set(chosen) - set(tables) or o.rounds < 1:
        f.error(f"--tables has {', '.join(tables)}, and --rounds is positive")
    job = Job(alone=True)
    job.window = Window(job, window)
    group = ovgen.Group(ovgen.Library(o.library), device=local_rank(), arena_bytes=arena)
    if job.rank == 0:
        print(f"# torch {torch.__version__}, {job.ranks} ranks, NVLink multicast off; us a call in a graph of {CALLS}, "
              f"median of the slowest rank over {o.rounds} rounds", flush=True)
        print(f"# NCCL's symmetric window: {job.window}", flush=True)
    for table in chosen:
        tables[table](job, group, o.rounds)
    if job.rank == 0:
        print(peers.tally(job.tried))
    group.close()
    job.window.close()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(__doc__, {"reduce": reduce, "linear": linear, "gather": gather, "qkv": qkv, "scatter": scatter}, 15, 1 << 29,
        WINDOW)
