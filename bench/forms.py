"""The forms in which a point of bench/peers.py is computed, and their measurement.

Each form has a program and a name:

    torch     pure       the product of the whole A alone, by the fastest of torch.mm and cuBLASLt's first eight choices
    nccl      eager      that product and NCCL's collective, outputs preallocated
              symmetric  the same with the collective's buffers in NCCL's symmetric memory
    symm_mem  eager      torch.ops.symm_mem.fused_all_gather_matmul or fused_matmul_reduce_scatter
              cublaslt   the same, products by torch's choice of cuBLASLt
              native     the all-gather by torch's kernel for 2049 to 4096 rows
    PACKAGE   eager      a package of ovgen, enqueued
              replayed   from the graph of its plan

Each form of nccl and symm_mem is also captured in a CUDA graph of one run, as "captured" or "NAME captured".
"""
import os
import random
import statistics

import torch
import torch.distributed as dist

import job as jobs
import products

OTHERS = ("torch", "nccl", "symm_mem")  # programs that are not ovgen's
NATIVE = "TORCH_SYMM_MEM_ENABLE_NATIVE_ASYNC_TP"


class Layer:
    """The tensors of a point and the ways to compute it."""

    def __init__(self, job, layer, m, k, n, dtype):
        d = job.ranks
        if m % d or (layer == "fc2" and k % d):
            raise ValueError(f"{m},{k},{n} can't be cut for {d} ranks")
        rows, inner = (m // d, k) if layer == "fc1" else (m, k // d)
        make = lambda *shape: torch.empty(shape, dtype=dtype, device=job.device).uniform_(-1, 1)
        empty = lambda *shape: torch.empty(shape, dtype=dtype, device=job.device)
        self.job, self.fc1, self.shape, self.plans = job, layer == "fc1", (m, k, n), []
        self.shared = None  # A in torch's symmetric memory
        self.a, self.w = make(rows, inner), make(n, inner)
        if self.fc1:
            self.whole, self.c = make(m, k), empty(m, n)
            self.product, self.by, self.without = products.fastest(self.whole, self.w, self.c)
        else:
            self.partial, self.c = empty(m, n), empty(m // d, n)
            self.product, self.by, self.without = products.fastest(self.a, self.w, self.partial)

    def pure(self):
        if self.fc1:
            self.product(self.whole, self.w, self.c)
        else:
            self.product(self.a, self.w, self.partial)

    def nccl(self, a, between, c):
        """Product and collective; between is A of all ranks, or the partial result of this one."""
        def run():
            if self.fc1:
                dist.all_gather_into_tensor(between, a)
                self.product(between, self.w, c)
            else:
                self.product(a, self.w, between)
                dist.reduce_scatter_tensor(c, between)
            return c
        return run

    def nccl_eager(self):
        return self.nccl(self.a, self.whole if self.fc1 else self.partial, self.c)

    def nccl_symmetric(self):
        window, place = self.job.window, lambda t: self.job.window.tensor(*t.shape, dtype=t.dtype)
        if self.fc1:
            a, whole = place(self.a).copy_(self.a), place(self.whole)
            window.check(a, whole)
            return self.nccl(a, whole, self.c)
        partial, c = place(self.partial), place(self.c)
        window.check(partial, c)
        return self.nccl(self.a, partial, c)

    def fused(self, library="cublas"):
        """torch's fused operation, by one of its libraries of products."""
        if self.shared is None:
            self.shared = self.job.symmetric(*self.a.shape, dtype=self.a.dtype).copy_(self.a)
        a, w, name = self.shared, self.w.t(), self.job.group.group_name

        def run():
            before = torch.backends.cuda.preferred_blas_library()
            torch.backends.cuda.preferred_blas_library(library)
            try:
                if self.fc1:
                    return torch.ops.symm_mem.fused_all_gather_matmul(a, [w], 0, name, return_A=False)[1][0]
                return torch.ops.symm_mem.fused_matmul_reduce_scatter(a, w, "sum", 0, name)
            finally:
                torch.backends.cuda.preferred_blas_library(before)
        return run

    def native(self):
        fused = self.fused()

        def run():
            os.environ[NATIVE] = "1"
            try:
                return fused()
            finally:
                del os.environ[NATIVE]
        return run

    def peers(self):
        """A maker of each form of the peers, by program and name. All others are compared with the first."""
        if not self.job.cuda:
            return {("nccl", "eager"): self.nccl_eager}
        forms = {("nccl", "eager"): self.nccl_eager, ("nccl", "symmetric"): self.nccl_symmetric,
                 ("symm_mem", "eager"): self.fused, ("symm_mem", "cublaslt"): lambda: self.fused("cublaslt")}
        if self.fc1 and 2048 < self.shape[0] <= 4096:
            forms["symm_mem", "native"] = self.native
        return forms

    def ovgen(self, program, element):
        """The ways to run a package: enqueued, and replayed."""
        bias = {}
        if self.fc1:
            self.bias = torch.zeros(self.shape[2], dtype=self.a.dtype, device=self.a.device)
            bias = {"Bias": self.bias.data_ptr()}
        torch.cuda.synchronize()
        plan = self.job.ours.plan(program, self.shape, element, A=self.a.data_ptr(), B=self.w.data_ptr(), **bias,
            C=self.c.data_ptr())
        self.plans.append(plan)

        def way(enqueue):
            def run():
                enqueue(torch.cuda.current_stream().cuda_stream)
                return self.c
            return run
        return {"eager": way(plan.enqueue), "replayed": way(plan.replay)}

    def close(self):
        """Collective, where there are plans: peers read A until then."""
        self.job.synchronize()
        for plan in self.plans:
            plan.close()
        if self.job.window:
            self.job.window.clear()


class Point:
    """The forms of one point that work, and the rows of its figures and errors."""

    def __init__(self, job, point, dtype):
        self.name, self.layer, self.m, self.k, self.n = point
        element = str(dtype).removeprefix("torch.").replace("bfloat", "bf").replace("float", "fp")
        self.base = dict(driver="torch " + torch.__version__, type=element, m=self.m, k=self.k, n=self.n,
                         ranks=job.ranks, point=self.name)
        self.job, self.rows, self.runs, self.reference = job, [], {}, None
        self.state, wrong = job.attempt(lambda: Layer(job, self.layer, self.m, self.k, self.n, dtype))
        if wrong:
            self.fail("peers", "all", wrong)

    def fail(self, program, form, error):
        self.rows.append(dict(self.base, program=program, variant=form, error=error))

    def add(self, program, form, make):
        """Makes a form, runs it and compares its result. Returns it, or None."""
        run, wrong = self.job.attempt(make)
        self.state.c.zero_()  # else a form that does nothing leaves the right result of the form before
        if not wrong:
            host, out, wrong = self.job.warm(run)
        if not wrong and out is not None:
            if self.reference is None:
                self.reference = out.clone()
            wrong = self.job.differs(self.reference, out)
        if wrong:
            self.fail(program, form, wrong)
            return None
        self.runs[program, form] = (run, 1.5 * host + 0.5)
        return run

    def add_all(self, programs):
        """All forms of the peers, and programs of ovgen."""
        for (program, form), make in self.state.peers().items():
            run = self.add(program, form, make)
            if run and self.job.cuda:
                name = "captured" if form == "eager" else form + " captured"
                self.add(program, name, lambda: jobs.captured(run))
        self.add("torch", "pure", lambda: self.state.pure)
        if self.state.without:
            self.fail("torch", "cuBLASLt", self.state.without)
        for program in programs:
            ways, wrong = self.job.attempt(lambda: self.state.ovgen(program, self.base["type"]))
            if wrong:
                self.fail(program, "eager", wrong)
                continue
            for form, run in ways.items():
                self.add(program, form, lambda: run)
        self.reference = None

    def measure(self, rounds):
        """Runs each form once a round, eager and gated, in an order that differs from round to round. Returns ms and us
        of the host of each rank, by form."""
        samples = {(v, gated): [] for v in self.runs for gated in (False, True)}
        for i in range(rounds):
            turns = list(samples.items())
            random.Random(i).shuffle(turns)  # the same on all ranks
            for (form, gated), list_ in turns:
                run, sleep_ms = self.runs[form]
                list_.append(self.job.measure(run, sleep_ms if gated else 0))
        return self.job.gather(samples)

    def report(self, gathered, rounds):
        """Adds a row for each form: of the slowest rank, the median of all rounds."""
        pure = {}
        for (program, form), gated in sorted(gathered[0], key=lambda key: key[0] != ("torch", "pure")):
            key = (program, form), gated
            slowest, host = ([max(rank[key][i][j] for rank in gathered) for i in range(rounds)] for j in (0, 1))
            ms = statistics.median(slowest)
            if form == "pure":
                pure[gated] = ms
            flop = 2 * self.m * self.n * self.k / (1 if self.layer == "fc1" else self.job.ranks)
            row = dict(self.base, program=program, variant=form, gated=gated, ms=round(ms, 5),
                       min=round(min(slowest), 5), max=round(max(slowest), 5), tflops=round(flop / ms / 1e9, 1),
                       total=round(self.job.ranks * flop / ms / 1e9, 1), host_us=round(statistics.median(host), 1),
                       rounds=rounds)
            if gated in pure:
                row["efficiency"] = round(pure[gated] / ms, 4)
            if program in OTHERS[:2]:
                row["product"] = self.state.by
            self.rows.append(row)


def measure_point(job, point, dtype, rounds, programs):
    """The rows of one point; programs are ovgen's for its layer."""
    p = Point(job, point, dtype)
    if p.rows:
        return p.rows
    p.add_all(programs)
    gathered = p.measure(rounds)
    broken = job.ours.broken() if job.ours else ""
    if broken := next((e for e in job.gather(broken) if e), ""):  # its figures mean nothing, and it can't go on
        gathered = [{key: list_ for key, list_ in rank.items() if key[0][0] in OTHERS} for rank in gathered]
        for program in programs:
            p.fail(program, "eager", broken)
        job.ours = None
    else:
        p.state.close()
    p.report(gathered, rounds)
    p.runs.clear()
    return p.rows
