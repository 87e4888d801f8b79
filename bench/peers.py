#!/usr/bin/env python3
"""Measures what others do with torch 2.11, on the GPUs of one host, over the grid of ovgen; with
--library, ovgen's packages in the same rounds, so that all run as hot as each other.

    torchrun --nproc-per-node 4 bench/peers.py [--points '8B/*'] [--rounds 8] [--library libovgen.so] [--out FILE]
    python3 bench/peers.py --list [--ranks 4]

A point is MODEL/LAYER/M: fc1 is all-gather + matmul, C[m,n] = A[m,k] B, of which a rank has m/d
rows of A; fc2 is matmul + reduce-scatter, of which a rank has k/d columns of A and gets m/d rows
of C. Weights are [n,k]. The variants, each once a round, in an order that differs from round to round:

    pure      one product of the whole A, without communication
    nccl      all_gather_into_tensor, then matmul; or matmul, then reduce_scatter_tensor; outputs preallocated
    symm_mem  torch.ops.symm_mem.fused_all_gather_matmul or fused_matmul_reduce_scatter
    NAME      a package of ovgen, enqueued, and replayed from its own graph

each eager (the host enqueues when the ranks have met) and gated (all is queued after a sleeping
kernel before). A time is the device's, of the slowest rank; the median over the rounds is given.
Prints a line of JSON for each figure to --out, with the names that `run bench -json` has, and a table.
"""
import os

# CUDA reads the first when it starts: streams that share a hardware queue with a waiting one wait
# with it. NVLink multicast is left alone: these GPUs must not use it.
os.environ.setdefault("CUDA_DEVICE_MAX_CONNECTIONS", "32")
os.environ["NCCL_NVLS_ENABLE"] = "0"
os.environ["TORCH_SYMM_MEM_DISABLE_MULTICAST"] = "1"

import argparse
import datetime
import fnmatch
import json
import random
import statistics
import sys
import time
import warnings

WARM_UP = 3
ROWS = (128, 256, 512, 1024, 2048, 4096, 8192, 16384)
MODELS = {"8B": (4096, 14336), "70B": (8192, 28672), "405B": (16384, 53248), "GPT-3": (12288, 49152),
          "Gemma-27B": (4608, 36864), "Qwen-7B": (3584, 18944)}
DDLB = (32768, 16384, 8192)  # both layers
PROGRAMS = {"pure": "torch", "nccl": "nccl", "symm_mem": "symm_mem"}  # of each variant
FC1 = ("allgatherlinear,allgatherlinearkernels,allgatherlineargrouped,allgatherlinearput,allgatherlinearoneshot,"
       "allgatherlinearpackets,allgatherlineartiles")
FC2 = ("linearreducescatter,linearreducescatterinorder,linearreducescatterkernels,linearreducescatterputkernels,"
       "linearreducescatteroneshot,linearreducescatterpackets,linearreducescattertiles")
SLEEP_CYCLES_PER_MS = 2_000_000  # at the highest clock: a sleep is never shorter than asked for


def grid(ranks):
    """All points: name, layer, m, k, n."""
    points = []
    for model, (h, f) in MODELS.items():
        for layer, k, n in (("fc1", h, f // ranks), ("fc2", f, h)):
            points += [(f"{model}/{layer}/{m}", layer, m, k, n) for m in ROWS]
    m, k, n = DDLB
    return points + [(f"DDLB/{layer}/{m}", layer, m, k, n) for layer in ("fc1", "fc2")]


def chosen(points, patterns):
    """The points whose name fits one of the patterns."""
    wanted = [p for p in patterns.replace(";", ",").split(",") if p]
    some = [p for p in points if not wanted or any(fnmatch.fnmatchcase(p[0], w) for w in wanted)]
    if not some:
        sys.exit(f"peers.py: no point is {patterns!r} (such as {points[0][0]}; --list has all)")
    return some


class Job:
    """This process: its rank, device and groups."""

    ours = None  # ovgen's group, where its packages are measured as well

    def __init__(self):
        if "RANK" not in os.environ:
            sys.exit("peers.py: start it with torchrun --nproc-per-node N bench/peers.py")
        self.rank, self.ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
        self.cuda = torch.cuda.is_available()
        limit = datetime.timedelta(seconds=90)
        if not self.cuda:  # to try the script itself
            self.device = torch.device("cpu")
            dist.init_process_group("gloo", timeout=limit)
            self.group = self.control = dist.group.WORLD
            return
        local = int(os.environ.get("LOCAL_RANK", self.rank))
        torch.cuda.set_device(local)
        self.device = torch.device("cuda", local)
        dist.init_process_group("nccl", timeout=limit)
        self.group = dist.group.WORLD
        self.control = dist.new_group(backend="gloo", timeout=limit)
        self.open_meeting()
        self.meet()
        torch.cuda.synchronize()

    def join(self, library, points):
        """Opens ovgen's group, which then measures as well."""
        import ours
        self.ours = ours.Ours(library, int(os.environ.get("LOCAL_RANK", self.rank)), points)

    def open_meeting(self):
        """A barrier on the device: of symmetric memory, else a small all-reduce."""
        self.small = torch.zeros(1, device=self.device)
        self.meet = lambda: dist.all_reduce(self.small)
        error = None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:  # older releases need it, newer ones warn
                    symm_mem.enable_symm_mem_for_group(self.group.group_name)
                except Exception:
                    pass
            self.pad = symm_mem.empty(1024, dtype=torch.float32, device=self.device)
            self.handle = symm_mem.rendezvous(self.pad, self.group.group_name)
        except Exception as e:
            error = e
        if self.agree(error is None):
            self.meet = lambda: self.handle.barrier(channel=0)
        elif self.rank == 0:
            print(f"# ranks meet by all_reduce: {message(error)}", file=sys.stderr)

    def broken(self):
        """Why ovgen's group is dead, if it is on some rank."""
        error = ""
        if self.ours:
            try:
                self.ours.group.check()
            except Exception as e:
                error = message(e)
        return next((e for e in self.gather(error) if e), "")

    def agree(self, well):
        """Whether all is well on every rank."""
        return all(self.gather(bool(well)))

    def gather(self, mine):
        all_ = [None] * self.ranks
        dist.all_gather_object(all_, mine, group=self.control)
        return all_

    def synchronize(self):
        if self.cuda:
            torch.cuda.synchronize()

    def measure(self, run, sleep_ms):
        """One run: ms on the device from the meeting of the ranks, us of the host. It is gated by
        a sleeping kernel where sleep_ms is not 0."""
        if not self.cuda:
            dist.barrier(group=self.control)
            began = time.perf_counter()
            run()
            took = time.perf_counter() - began
            return took * 1e3, took * 1e6
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        if sleep_ms:
            torch.cuda._sleep(int(sleep_ms * SLEEP_CYCLES_PER_MS))
        self.meet()
        if not sleep_ms:
            torch.cuda.current_stream().synchronize()
        start.record()
        began = time.perf_counter()
        run()
        host = time.perf_counter() - began
        end.record()
        end.synchronize()
        return start.elapsed_time(end), host * 1e6


class Layer:
    """The tensors of a point and the ways to compute it."""

    def __init__(self, job, layer, m, k, n, dtype):
        d = job.ranks
        if m % d or (layer == "fc2" and k % d):
            raise ValueError(f"{m},{k},{n} can't be cut for {d} ranks")
        rows, inner = (m // d, k) if layer == "fc1" else (m, k // d)
        make = lambda *shape: torch.empty(shape, dtype=dtype, device=job.device).uniform_(-1, 1)
        self.job, self.fc1 = job, layer == "fc1"
        self.b = make(n, inner).t()
        self.a = self.symmetric((rows, inner), dtype)
        self.shape, self.plans = (m, k, n), []
        empty = lambda *shape: torch.empty(shape, dtype=dtype, device=job.device)
        if self.fc1:
            self.whole, self.c = make(m, k), empty(m, n)
        else:
            self.partial, self.c = empty(m, n), empty(m // d, n)

    def symmetric(self, shape, dtype):
        """A in symmetric memory where there is any; equal on no two ranks."""
        a = None
        if self.job.cuda:
            try:
                a = symm_mem.empty(*shape, dtype=dtype, device=self.job.device)
            except Exception:
                a = None
        if not self.job.agree(a is not None):
            a = torch.empty(shape, dtype=dtype, device=self.job.device)
        elif self.job.cuda:
            symm_mem.rendezvous(a, self.job.group.group_name)
        return a.uniform_(-1, 1)

    def pure(self):
        if self.fc1:
            torch.mm(self.whole, self.b, out=self.c)
        else:
            torch.mm(self.a, self.b, out=self.partial)
        return None

    def nccl(self):
        if self.fc1:
            dist.all_gather_into_tensor(self.whole, self.a)
            torch.mm(self.whole, self.b, out=self.c)
        else:
            torch.mm(self.a, self.b, out=self.partial)
            dist.reduce_scatter_tensor(self.c, self.partial)
        return self.c

    def ovgen(self, program, element):
        """The ways to run a package: enqueued, and replayed."""
        if not hasattr(self, "own"):
            self.own = self.a.clone()  # memory that CUDA IPC can export
            self.bias = torch.zeros(self.shape[2], dtype=self.a.dtype, device=self.a.device)
        bias = {"Bias": self.bias.data_ptr()} if self.fc1 else {}
        torch.cuda.synchronize()
        plan = self.job.ours.plan(program, self.shape, element, A=self.own.data_ptr(), B=self.b.data_ptr(), **bias,
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

    def symm_mem(self):
        name = self.job.group.group_name
        if self.fc1:
            _, (c,) = torch.ops.symm_mem.fused_all_gather_matmul(self.a, [self.b], 0, name, return_A=False)
            return c
        return torch.ops.symm_mem.fused_matmul_reduce_scatter(self.a, self.b, "sum", 0, name)


def message(error):
    """An error's first line."""
    return f"{type(error).__name__}: {error}".splitlines()[0][:200] if error else ""


def warm(job, run):
    """Runs a variant a few times. Its host time in ms and what it computed, or what went wrong on
    some rank."""
    error, out, host = None, None, 0.0
    try:
        for _ in range(WARM_UP):
            began = time.perf_counter()
            out = run()
            host = (time.perf_counter() - began) * 1e3
        job.synchronize()
    except Exception as e:
        error = e
    errors = [e for e in job.gather(message(error)) if e]
    return max(job.gather(host)), out, errors[0] if errors else ""


def differs(job, one, other):
    """Whether two ways to compute the same are further apart than rounding explains."""
    if one is None or other is None:
        return ""
    apart = (one.float() - other.float()).abs().max().item()
    size = one.float().abs().max().item()
    return "" if all(job.gather(apart <= 0.05 * size + 1e-3)) else f"differs from nccl by {apart:.3g} of {size:.3g}"


def measure_point(job, point, dtype, rounds, programs):
    """The rows of one point; programs are ovgen's for its layer."""
    name, layer, m, k, n = point
    base = dict(driver="torch " + torch.__version__,
        type=str(dtype).removeprefix("torch.").replace("bfloat", "bf").replace("float", "fp"),
                m=m, k=k, n=n, ranks=job.ranks, point=name)
    error, state = None, None
    try:
        state = Layer(job, layer, m, k, n, dtype)
    except Exception as e:
        error = e
    failed = [e for e in job.gather(message(error)) if e]
    if failed:
        return [dict(base, program="peers", variant="all", error=failed[0])]
    rows, runs, reference = [], {}, None
    ways = {(PROGRAMS[v], "pure" if v == "pure" else "eager"): getattr(state, v) for v in PROGRAMS}
    for program in programs:
        try:
            ways |= {(program, way): run for way, run in state.ovgen(program, base["type"]).items()}
        except Exception as e:
            rows.append(dict(base, program=program, variant="eager", error=message(e)))
    for variant, run in ways.items():
        host, out, wrong = warm(job, run)
        if not wrong and variant[0] not in ("torch", "nccl"):
            wrong = differs(job, reference, out)
        if variant[0] == "nccl" and out is not None:
            reference = out.clone()
        if wrong:
            rows.append(dict(base, program=variant[0], variant=variant[1], error=wrong))
            continue
        runs[variant] = (run, 1.5 * host + 0.5)
    del reference, out
    samples = {(v, gated): [] for v in runs for gated in (False, True)}
    for i in range(rounds):
        turns = list(samples.items())
        random.Random(i).shuffle(turns)  # the same on all ranks; what runs behind the hottest differs
        for (variant, gated), list_ in turns:
            run, sleep_ms = runs[variant]
            list_.append(job.measure(run, sleep_ms if gated else 0))
    gathered = job.gather({key: list_ for key, list_ in samples.items()})
    broken = job.broken()
    if broken:  # its figures mean nothing, and it can't go on
        samples = {key: list_ for key, list_ in samples.items() if key[0][0] in PROGRAMS.values()}
        rows += [dict(base, program=p, variant="eager", error=broken) for p in programs]
        job.ours = None
    else:
        state.close()
    pure = {}
    for variant, gated in samples:
        slowest = [max(rank[variant, gated][i][0] for rank in gathered) for i in range(rounds)]
        host = [max(rank[variant, gated][i][1] for rank in gathered) for i in range(rounds)]
        ms = statistics.median(slowest)
        program, way = variant
        if way == "pure":
            pure[gated] = ms
        flop = 2 * m * n * k / (1 if layer == "fc1" else job.ranks)
        row = dict(base, program=program, variant=way, gated=gated, ms=round(ms, 5),
                   min=round(min(slowest), 5), max=round(max(slowest), 5), tflops=round(flop / ms / 1e9, 1),
                   total=round(job.ranks * flop / ms / 1e9, 1),
                   host_us=round(statistics.median(host), 1), rounds=rounds)
        if gated in pure:
            row["efficiency"] = round(pure[gated] / ms, 4)
        rows.append(row)
    return rows


def table(rows):
    """A line of the table for one point: ms of each variant, eager and gated, and the fastest of ovgen's."""
    ms = {(r["program"], r.get("gated")): r for r in rows if "ms" in r}
    for gated in (False, True):
        own = [r for r in rows if "ms" in r and r["gated"] == gated and r["program"] not in PROGRAMS.values()]
        if own:
            ms["ovgen", gated] = min(own, key=lambda r: r["ms"])
    first = rows[0]
    cells = [f"{first['point']:<16} {first['m']},{first['k']},{first['n']} {first['type']}"]
    for program in [*PROGRAMS.values(), "ovgen"]:
        for gated in (False, True):
            r = ms.get((program, gated))
            cells.append(f"{r['ms']:9.4f} ({r.get('efficiency', 0):.2f})" if r else f"{'-':>9} {'':6}")
    line = f"{cells[0]:<44}" + "".join(cells[1:])
    line += "".join(f"  {r['program']} {r['variant']}" for key, r in ms.items() if key[0] == "ovgen" and key[1])
    return "\n".join([line] + [f"    {r['program']}: {r['error']}" for r in rows if "error" in r])


def main():
    f = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    f.add_argument("--points", default="", help="patterns of points with commas, such as '8B/fc1/*'; all by default")
    f.add_argument("--rounds", type=int, default=8, help="measured rounds (8)")
    f.add_argument("--types", default="bf16", help="bf16, fp16, fp32, with commas (bf16)")
    f.add_argument("--out", default="", help="file that lines of JSON are appended to")
    f.add_argument("--library", default="",
        help="the libovgen.so of the catalog: measure its packages in the same rounds")
    f.add_argument("--fc1", default=FC1, help=f"those for fc1, with commas ({FC1})")
    f.add_argument("--fc2", default=FC2, help=f"those for fc2 ({FC2})")
    f.add_argument("--list", action="store_true", help="print the points: name m,k,n")
    f.add_argument("--ranks", type=int, default=4, help="of --list (4)")
    o = f.parse_args()
    if o.list:
        for name, _, m, k, n in chosen(grid(o.ranks), o.points):
            print(f"{name} {m},{k},{n}")
        return 0
    if o.rounds < 1:
        sys.exit("peers.py: --rounds must be positive")
    global torch, dist, symm_mem
    import torch
    import torch.distributed as dist
    try:
        import torch.distributed._symmetric_memory as symm_mem
    except Exception:
        symm_mem = None
    kinds = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}
    types = [t for t in o.types.split(",") if t]
    if set(types) - set(kinds):
        sys.exit(f"peers.py: --types {o.types}: bf16, fp16 or fp32")
    torch.backends.cuda.matmul.allow_tf32 = False
    job = Job()
    points = chosen(grid(job.ranks), o.points)
    if o.library:
        job.join(o.library, points)
    programs = {"fc1": o.fc1.split(","), "fc2": o.fc2.split(",")}
    out = open(o.out, "a") if o.out and job.rank == 0 else None
    if job.rank == 0:
        print(f"# torch {torch.__version__}, {job.ranks} ranks; ms (efficiency), median of the slowest rank "
              f"over {o.rounds} rounds: "
              "pure, pure gated, nccl, nccl gated, symm_mem, symm_mem gated" +
              (", fastest of ovgen, gated" if job.ours else ""), flush=True)
    for point in points:
        for t in types:
            rows = measure_point(job, point, kinds[t], o.rounds, programs[point[1]] if job.ours else [])
            if job.rank == 0:
                print(table(rows), flush=True)
                for row in rows if out else ():
                    out.write(json.dumps(row) + "\n")
                    out.flush()
    job.synchronize()
    if job.ours:
        job.ours.close()
    dist.destroy_process_group()
    return 0


if __name__ == "__main__":
    sys.exit(main())
