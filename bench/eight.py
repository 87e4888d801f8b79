#!/usr/bin/env python3
"""Measures layers of eight bits on the GPUs of one host: ovgen's packages, torch's products with NCCL, and PyTorch's
symmetric memory (torch 2.11), beside 16 bits, in the same rounds.

    torchrun --nproc-per-node 2 bench/eight.py --library libovgen.so [--tables first,second,gather] [--rounds 11]
    torchrun --nproc-per-node 2 bench/eight.py --library libblock.so --tables block-8B,block-70B-few [--rounds 11]

Without torchrun it is tried on one GPU. Forms are captured and timed as those of bench/small.py are. All have the same
numbers: codes of e4m3 whose scales are powers of two, so that 16 bits hold them exactly and quantising gives the codes
again. Results may differ by the order of their sums. Products of eight bits are torch._scaled_mm with scales of rows,
without fast accumulation, which ovgen does not ask for either; what quantises for NCCL is compiled by torch.compile.

    first    70B's first layer: all-gather and product, of rows that have 16 bits, by the ways that are the fastest
             somewhere, or eight, or are quantised first
    second   70B's second layer: product and reduce-scatter, likewise
    gather   an all-gather of 8192 and of 128 rows of 7168 columns, quantised ahead of it and widened behind
    block-8B, block-70B
             a layer of Llama behind attention, as in bench/block.py, by 16 bits, by scales of rows, and by scales of
             blocks and squares of 128, which ovgen has where each rank has all rows (the packages whole...)
"""
from job import dist, torch  # first: it sets variables that CUDA reads

import functools

import block
import peers
import products
import small
from ours import ovgen

ROWS = (128, 512, 1024, 2048, 4096, 8192)
SIZES = ((8192, 7168), (128, 7168))  # rows of all ranks, and columns, of table gather
SCALE = 2.0 ** -9
GREATEST = 448  # of e4m3
ARENA = 6 << 30
WINDOW = 2 << 30  # bytes, for the buffers of NCCL at one point
BLOCK = 128  # columns of a scale, and of a square
BLOCK_ROWS = (128, 512, 2048, 4096)
LONG = 4_000_000  # cycles, in which the host enqueues a graph of 20 blocks
EPSILON = 1e-5
E4M3 = torch.float8_e4m3fn


class Point(small.Point):
    """A point whose results may be rounded in another order than the reference."""

    def differs(self, reference, result):
        return self.job.differs(reference, result)


class Quantised(small.Point):
    """A point whose variants quantise what they make: where a sum is rounded the other way, so may its code be. That
    moves results by .04 of their root mean square, torch's as ours, and single ones by more than .05 of the
    greatest."""

    def differs(self, reference, result):
        apart, size = (t.float().square().mean().sqrt().item() for t in (result.float() - reference, reference))
        well = self.job.agree(apart <= 0.08 * size)
        return "" if well else f"differs from the reference by {apart:.3g} of {size:.3g}, root mean squares"


def codes(job, *shape):
    """Random codes, of which each row has one that is above half of the greatest."""
    return torch.empty(shape, device=job.device).uniform_(-GREATEST, GREATEST).to(E4M3)


def widened(c):
    """The numbers in 16 bits that codes stand for."""
    return (c.float() * SCALE).bfloat16()


def scales(job, n):
    return torch.full((n,), SCALE, device=job.device)


def quantise(x, least):
    """Codes of rows, and their scales: the least powers of two that are no less than the greatest size over 448."""
    greatest = x.float().abs().amax(1, keepdim=True) / GREATEST
    scale = torch.exp2(torch.ceil(torch.log2(torch.maximum(greatest, least))))
    return (x.float() / scale).to(E4M3), scale


def scaled(a, scale_a, w, scale_w, out):
    torch._scaled_mm(a, w.t(), scale_a.view(-1, 1), scale_w.view(1, -1), out_dtype=out.dtype, out=out)


def all_gather(out, part):
    """NCCL's all-gather of bytes: it knows no e4m3."""
    dist.all_gather_into_tensor(out.view(torch.uint8).flatten(), part.view(torch.uint8).flatten())


def first(job, group, rounds):
    k, n = peers.MODELS["70B"][0], peers.MODELS["70B"][1] // job.ranks
    w8, scale_w, squares = codes(job, n, k), scales(job, n), scales(job, n // 128 * (k // 128))
    w, bias, least = widened(w8), torch.zeros(n, dtype=torch.bfloat16, device=job.device), scales(job, 1) / 2**20
    for m in ROWS:
        rows, point = m // job.ranks, Point(job, group)
        a8, scale_a = codes(job, rows, k), scales(job, rows)
        a, own, own_scales = widened(a8), torch.empty_like(a8), torch.empty(k // 128 * rows, device=job.device)
        whole8, whole_scales = torch.empty(m, k, dtype=E4M3, device=job.device), torch.empty(m, device=job.device)
        whole, c = (torch.empty(m, columns, dtype=a.dtype, device=job.device) for columns in (k, n))
        dist.all_gather_into_tensor(whole, a)
        all_gather(whole8, a8), all_gather(whole_scales, scale_a)
        reference = torch.mm(whole, w.t())
        product, _, without = products.fastest(whole, w, c)
        point.note(without)
        point.add("product", lambda: product(whole, w, c))
        point.add("product-e4m3", lambda: scaled(whole8, whole_scales, w8, scale_w, c), c, reference)
        point.collective(dist.all_gather_into_tensor, whole, a, after=lambda out: product(out, w, c))

        def eight(part, part_scales):
            all_gather(whole8, part), all_gather(whole_scales, part_scales)
            scaled(whole8, whole_scales, w8, scale_w, c)
        point.add("nccl-e4m3", lambda: eight(a8, scale_a), c, reference)
        made = torch.compile(quantise, dynamic=False)
        point.add("nccl-quantised", lambda: eight(*made(a, least)), c, reference)
        torch_first(job, point, a, w, (a8, scale_a, w8, scale_w), reference)
        shape = ovgen.Shape(m, k, n, ovgen.BF16)
        for package in ("allgatherlinear", "allgatherlineartiles", "allgatherlinearpackets"):
            point.package(package, shape, c, reference, A=a, B=w, Bias=bias, C=c)
        for package in ("allgatherlinearfp8", "allgatherlinearpacketsfp8"):
            point.package(package, shape, c, reference, A=a8, ScaleA=scale_a, B=w8, ScaleB=scale_w, Bias=bias, C=c)
        for package in ("allgatherlinearquantised", "allgatherlinearquantisedpackets"):
            point.package(package, shape, c, reference, A=a, Codes=own, Scales=own_scales, B=w8, ScaleB=scale_w,
                Bias=bias, C=c)
        point.package("allgatherlinearblocksfp8", shape, c, reference, A=a, Codes=own, Scales=own_scales, B=w8,
            ScaleB=squares, Bias=bias, C=c)
        small.report(job, f"70B fc1 {m}", point, rounds)


def torch_first(job, point, a, w, eight, reference):
    """PyTorch's fused all-gather and product, of 16 bits and of eight."""
    (a8, scale_a, w8, scale_w), name = eight, job.group.group_name
    shared, shared8 = job.symmetric(*a.shape).copy_(a), job.symmetric(*a8.shape, dtype=E4M3).copy_(a8)
    point.add("torch", lambda: torch.ops.symm_mem.fused_all_gather_matmul(shared, [w.t()], 0, name,
        return_A=False)[1][0], None, reference)
    point.add("torch-e4m3", lambda: torch.ops.symm_mem.fused_all_gather_scaled_matmul(shared8, [w8.t()],
        scale_a.view(-1, 1), [scale_w.view(1, -1)], 0, name, [None], [None], [a.dtype], [False])[1][0], None, reference)


def second(job, group, rounds):
    n, k = peers.MODELS["70B"][0], peers.MODELS["70B"][1] // job.ranks
    w8, scale_w, name = codes(job, n, k), scales(job, n), job.group.group_name
    w = widened(w8)
    for m in ROWS:
        point, a8, scale_a = Point(job, group), codes(job, m, k), scales(job, m)
        a, partial = widened(a8), torch.empty(m, n, dtype=torch.bfloat16, device=job.device)
        shared, shared8 = job.symmetric(*a.shape).copy_(a), job.symmetric(*a8.shape, dtype=E4M3).copy_(a8)
        c = torch.empty(m // job.ranks, n, dtype=a.dtype, device=job.device)
        torch.mm(a, w.t(), out=partial)
        reference = small.summed(partial).chunk(job.ranks)[job.rank].contiguous()
        product, _, without = products.fastest(a, w, partial)
        point.note(without)
        point.add("product", lambda: product(a, w, partial))
        point.add("product-e4m3", lambda: scaled(a8, scale_a, w8, scale_w, partial))
        point.collective(dist.reduce_scatter_tensor, c, partial, lambda into: product(a, w, into))

        def eight():
            scaled(a8, scale_a, w8, scale_w, partial)
            dist.reduce_scatter_tensor(c, partial)
        point.add("nccl-e4m3", eight, c, reference)
        point.add("torch", lambda: torch.ops.symm_mem.fused_matmul_reduce_scatter(shared, w.t(), "sum", 0, name), None,
            reference)
        point.add("torch-e4m3", lambda: torch.ops.symm_mem.fused_scaled_matmul_reduce_scatter(shared8, w8.t(),
            scale_a.view(-1, 1), scale_w.view(1, -1), "sum", 0, 0, name, [m, n], None, None, a.dtype, False), None,
            reference)
        shape = ovgen.Shape(m, k * job.ranks, n, ovgen.BF16)
        for package in ("linearreducescatter", "linearreducescattertiles", "linearreducescatterpackets"):
            point.package(package, shape, c, reference, A=a, B=w, C=c)
        for package in ("linearreducescatterfp8", "linearreducescatterpacketsfp8"):
            point.package(package, shape, c, reference, A=a8, ScaleA=scale_a, B=w8, ScaleB=scale_w, C=c)
        small.report(job, f"70B fc2 {m}", point, rounds)


def gather(job, group, rounds):
    for m, n in SIZES:
        rows, point, least = m // job.ranks, Point(job, group), scales(job, 1) / 2**20
        a, own, own_scales = widened(codes(job, rows, n)), codes(job, rows, n), torch.empty(rows, device=job.device)
        fours, four_scales = (torch.empty(rows, n // part, dtype=torch.uint8, device=job.device) for part in (2, 16))
        whole8, whole_scales = torch.empty(m, n, dtype=E4M3, device=job.device), torch.empty(m, 1, device=job.device)
        c, reference = (torch.empty(m, n, dtype=a.dtype, device=job.device) for _ in range(2))
        dist.all_gather_into_tensor(reference, a)
        point.collective(dist.all_gather_into_tensor, c, a)
        made = torch.compile(quantise, dynamic=False)
        read = torch.compile(lambda codes, scale: (codes.float() * scale).bfloat16(), dynamic=False)

        def eight():
            part, scale = made(a, least)
            all_gather(whole8, part), all_gather(whole_scales, scale)
            return read(whole8, whole_scales)
        point.add("nccl-quantised", eight, None, reference)
        shape = small.Plain(m, n, ovgen.BF16)
        point.package("allgather", shape, c, reference, A=a, C=c)
        point.package("allgatheroneshot", shape, c, reference, A=a, C=c)
        point.package("allgatherpackets", shape, c, reference, A=a, C=c)
        point.package("allgatherquantised", shape, c, reference, A=a, Codes=own, Scales=own_scales, C=c)
        point.package("allgatherquantisedpackets", shape, c, reference, A=a, Codes=own, Scales=own_scales, C=c)
        point.package("allgatherfp4", shape, c, None, A=a, Codes=fours, Scales=four_scales, C=c)
        small.report(job, f"all-gather {m} x {n}", point, rounds)


class Operands:
    """How torch makes what products read, of 16 bits, and multiplies it."""
    name = "nccl"

    def __init__(self, layer):
        compiled = lambda f: torch.compile(f, dynamic=False)
        split = self.split

        def behind_norm(sums, residual, weight, least):
            r, x = normed(sums, residual, weight)
            return r, split(x, least)
        self.layer, self.made, self.normed = layer, compiled(split), compiled(behind_norm)
        self.gated = compiled(lambda both, least: split(gated(both), least))

    @staticmethod
    def split(x, least):
        """The tensors of an operand with these numbers."""
        return (x,)

    def seen(self, x):
        """The numbers of such an operand, in 16 bits."""
        return x

    def gathered(self, part):
        """A tensor of an operand of which each rank has rows: of all rows."""
        return self.stacked(part).flatten(0, 1)

    def stacked(self, part):
        out = torch.empty(self.layer.job.ranks, *part.shape, dtype=part.dtype, device=part.device)
        all_gather(out, part)
        return out

    def multiply(self, operand, weight, out):
        self.layer.products[weight](*operand, self.layer.sixteen[weight], out)


class ByRows(Operands):
    """Of e4m3 with a scale for each row."""
    name = "nccl-e4m3"

    @staticmethod
    def split(x, least):
        return quantise(x, least)

    def seen(self, x):
        c, scale = self.split(x, self.layer.least)
        return (c.float() * scale).bfloat16()

    def multiply(self, operand, weight, out):
        scaled(*operand, self.layer.eight[weight], self.layer.scale_rows[weight], out)


class ByBlocks(Operands):
    """Of e4m3 with a scale for each block of a row: those of all rows' first block come first."""
    name = "nccl-blocks"

    @staticmethod
    def split(x, least):
        c, scale = quantise(x.reshape(-1, BLOCK), least)
        return c.view(x.shape), scale.view(x.shape[0], -1).t().contiguous()

    def seen(self, x):
        c, scale = self.split(x, self.layer.least)
        return (c.float() * scale.t().repeat_interleave(BLOCK, 1)).bfloat16()

    def gathered(self, part):
        return super().gathered(part) if part.dtype == E4M3 else self.stacked(part).transpose(0, 1).flatten(1)

    def multiply(self, operand, weight, out):
        (c, scale), w, squares = operand, self.layer.eight[weight], self.layer.squares[weight]
        torch._scaled_mm(c, w.t(), scale.t(), squares.t(), out_dtype=out.dtype, out=out)


def normed(sums, residual, weight):
    r = sums + residual
    return r, torch.nn.functional.rms_norm(r, weight.shape, weight, EPSILON)


def gated(both):
    gate, up = both.chunk(2, 1)
    return torch.nn.functional.silu(gate) * up


class Layer:
    """The tensors of a layer of a model, of so many rows. A rank has its columns of attention's output, its share of
    each weight, and all rows of the residual."""

    def __init__(self, job, model, m):
        self.job, (self.k, self.f) = job, peers.MODELS[model]
        k, f = self.k // job.ranks, self.f // job.ranks
        make = lambda *shape: torch.empty(shape, dtype=torch.bfloat16, device=job.device).uniform_(-1, 1)
        self.attention, self.residual, self.norm = make(m, k), make(m, self.k), make(self.k)
        dist.broadcast(self.residual, 0), dist.broadcast(self.norm, 0)
        self.least, self.c = scales(job, 1) / 2**20, make(m, self.k)
        self.eight = {name: codes(job, *shape) for name, shape in {"Projection": (self.k, k), "GateUp": (2 * f, self.k),
            "Down": (self.k, f)}.items()}
        self.sixteen = {name: widened(w) for name, w in self.eight.items()}
        self.scale_rows = {name: scales(job, len(w)) for name, w in self.eight.items()}
        self.squares = {name: scales(job, w.numel() // BLOCK**2).view(len(w) // BLOCK, -1)
            for name, w in self.eight.items()}
        self.partial, self.both, self.sums = make(m, self.k), make(m, 2 * f), make(m // job.ranks, self.k)
        self.weights = {Operands: (self.sixteen, {}), ByRows: (self.eight, self.scale_rows),
            ByBlocks: (self.eight, self.squares)}
        self.products, self.without = {}, ""
        for name, a, out in (("Projection", self.attention, self.partial), ("GateUp", self.residual, self.both),
                ("Down", make(m, f), self.partial)):
            self.products[name], _, error = products.fastest(a, self.sixteen[name], out)
            self.without = self.without or error
        self.made = {}  # codes and scales of ovgen's packages
        for name, columns in (("Attention8", k), ("X8", self.k), ("G8", f)):
            self.made[name] = torch.empty(m, columns, dtype=E4M3, device=job.device)
            self.made["Scale" + name] = torch.empty(m * columns // BLOCK, device=job.device)

    def rows(self, whole):
        """This rank's rows."""
        return whole.chunk(self.job.ranks)[self.job.rank]

    def reference(self, seen):
        """All rows of the result, where a product reads the numbers that seen makes of its operand."""
        torch.mm(seen(self.attention), self.sixteen["Projection"].t(), out=self.partial)
        r, x = normed(small.summed(self.partial), self.residual, self.norm)
        torch.mm(seen(x), self.sixteen["GateUp"].t(), out=self.both)
        torch.mm(seen(gated(self.both)), self.sixteen["Down"].t(), out=self.partial)
        return small.summed(self.partial) + r

    def by_torch(self, operands):
        """This rank's rows of the result, by torch and NCCL."""
        operands.multiply(operands.made(self.attention, self.least), "Projection", self.partial)
        dist.reduce_scatter_tensor(self.sums, self.partial)
        r, x = operands.normed(self.sums, self.rows(self.residual), self.norm, self.least)
        operands.multiply([operands.gathered(part) for part in x], "GateUp", self.both)
        operands.multiply(operands.gated(self.both, self.least), "Down", self.partial)
        dist.reduce_scatter_tensor(self.sums, self.partial)
        return self.sums + r

    def buffers(self, kind, rows):
        """Those of a package of bench/block, in their order."""
        weights, scales = ({**of, **dict(zip(("Gate", "Up"), of["GateUp"].chunk(2)))} if of else of
            for of in self.weights[kind])
        tensors = {"Attention": self.attention, "Projection": weights["Projection"], "Residual": rows(self.residual),
            "Norm": self.norm, "Gate": weights["Gate"], "Up": weights["Up"], "Down": weights["Down"],
            "C": rows(self.c)}
        all_ = {}
        for name, tensor in tensors.items():
            all_[name] = tensor
            if name in scales:
                all_["Scale" + name] = scales[name]
        return all_ | (self.made if scales else {})


# Packages of bench/block: their operands, whether each rank has all rows, and the numbers of rows they are measured at.
PACKAGES = {"chain": (Operands, False, BLOCK_ROWS), "chainbypackets": (Operands, False, BLOCK_ROWS[:2]),
    "chainbytiles": (Operands, False, BLOCK_ROWS[1:]), "whole": (Operands, True, BLOCK_ROWS),
    "chainfp8": (ByRows, False, BLOCK_ROWS), "chainpacketsfp8": (ByRows, False, BLOCK_ROWS[:2]),
    "chainrowsfp8": (ByRows, False, BLOCK_ROWS[:2]),
    "wholefp8": (ByRows, True, BLOCK_ROWS), "wholeblocksfp8": (ByBlocks, True, BLOCK_ROWS)}


def layer(model, rows_of, job, group, rounds):
    for m in rows_of:
        torch.compiler.reset()  # a function is compiled for a few sizes, and then for no more
        made, point, wants = Layer(job, model, m), Quantised(job, group), {}
        point.sleep = LONG
        point.note(made.without)
        for kind in (Operands, ByRows, ByBlocks):
            operands = kind(made)
            wants[kind] = made.reference(operands.seen)
            point.add(kind.name, lambda o=operands: o.layer.by_torch(o), None, made.rows(wants[kind]))
        shape = block.shape(ovgen.BF16, M=m, K=made.k, N=made.k, F=made.f)
        for name, (kind, whole, of) in PACKAGES.items():
            rows = (lambda t: t) if whole else made.rows
            if m in of:
                point.package(name, shape, rows(made.c), rows(wants[kind]), **made.buffers(kind, rows))
        small.report(job, f"{model} block {m}", point, rounds)


if __name__ == "__main__":
    small.main(__doc__, {"first": first, "second": second, "gather": gather}, 11, ARENA, WINDOW,
        {f"block-{model}{few}": functools.partial(layer, model, rows)
            for model in ("8B", "70B") for few, rows in (("", BLOCK_ROWS), ("-few", BLOCK_ROWS[:2]))})
