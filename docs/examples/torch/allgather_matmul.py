#!/usr/bin/env python3
"""An all-gather with a matrix product of torch tensors, by ovgen, one GPU a rank.

    torchrun --nproc-per-node 4 docs/examples/torch/allgather_matmul.py --library LIB [--shapes M,K,N;...]

A rank has M/D rows of A, and B [K, N]; it gets all of C = A B. Checked bit for bit against torch's
all_gather and matmul, on small integers: on the default stream, on one of the caller's, by ovgen's
own graph, and in a torch.cuda.graph that is replayed while A changes. Type e4m3 is AllGatherLinearFP8
of float8_e4m3fn with a scale for each row of A and of B [N, K], against torch._scaled_mm. Then the times are taken,
beside torch.ops.symm_mem.fused_all_gather_matmul and NCCL, in turn in each round; a time is the
device's, of the slowest rank, and its median over the rounds is given. --out appends them as JSON.
"""
import os

# CUDA reads the first when it starts: streams that share a hardware queue with a waiting one wait
# with it. NVLink multicast is left alone.
os.environ.setdefault("CUDA_DEVICE_MAX_CONNECTIONS", "32")
os.environ.setdefault("NCCL_NVLS_ENABLE", "0")
os.environ.setdefault("TORCH_SYMM_MEM_DISABLE_MULTICAST", "1")

import argparse
import ctypes
import datetime
import json
import statistics
import sys

import ovgen

SLEEP_CYCLES_PER_MS = 2_000_000


class Buffers(ctypes.Structure):
    """struct ovgen_allgathermatmul_buffers"""
    _fields_ = [("A", ctypes.c_uint64), ("B", ctypes.c_uint64), ("C", ctypes.c_uint64)]


class AllGatherMatmul:
    """C = all_gather(A) B over tensors that stay the same. It keeps them: the peers read A until
    close has returned on all ranks."""

    def __init__(self, group, a, b):
        (rows, k), n = a.shape, b.shape[1]
        element = {torch.bfloat16: ovgen.BF16, torch.float16: ovgen.FP16, torch.float32: ovgen.FP32}[a.dtype]
        assert a.is_contiguous() and b.is_contiguous() and a.dtype == b.dtype and b.shape[0] == k
        self.a, self.b = a, b
        self.c = torch.empty(group.size * rows, n, dtype=a.dtype, device=a.device)
        self.plan = ovgen.Plan(group, "allgathermatmul", ovgen.Shape(group.size * rows, k, n, element))
        torch.cuda.synchronize()  # what made the tensors is over
        self.plan.bind(Buffers(a.data_ptr(), b.data_ptr(), self.c.data_ptr()))

    def fill(self, seed):
        """New numbers of A."""
        self.a.copy_(integers(self.a.shape, self.a.dtype, self.a.device, seed))

    def reference(self, ranks):
        return torch.matmul(gathered(self.a, ranks), self.b)

    def __call__(self):
        """Enqueues a run on the current stream; in torch.cuda.graph it becomes part of the graph."""
        self.plan.enqueue(torch.cuda.current_stream().cuda_stream)
        return self.c

    def replay(self):
        """The same by one launch; not in torch.cuda.graph."""
        self.plan.replay(torch.cuda.current_stream().cuda_stream)
        return self.c

    def run(self):
        """The same on a stream of the plan's own, which knows nothing of torch's."""
        torch.cuda.current_stream().synchronize()
        self.plan.run(60000)
        return self.c

    def close(self):
        """Collective. Graphs that hold a run are dead afterwards."""
        torch.cuda.synchronize()
        self.plan.close()


class ScaledBuffers(ctypes.Structure):
    """struct ovgen_allgatherlinearfp8_buffers"""
    _fields_ = [(n, ctypes.c_uint64) for n in ("A", "ScaleA", "B", "ScaleB", "Bias", "C")]


class AllGatherLinearFP8(AllGatherMatmul):
    """C = all_gather(A) B^T in bf16, of float8_e4m3fn with float32 scales of rows; B is [N, K]."""

    def __init__(self, group, a, b):
        (rows, k), n, on = a.shape, b.shape[0], a.device
        assert a.dtype == b.dtype == torch.float8_e4m3fn and a.is_contiguous() and b.is_contiguous() and b.shape[1] == k
        self.a, self.b = a, b
        self.scale_a, self.scale_b = (powers(x, on) for x in (rows, n))
        self.bias = torch.zeros(n, dtype=torch.bfloat16, device=on)
        self.c = torch.empty(group.size * rows, n, dtype=torch.bfloat16, device=on)
        self.plan = ovgen.Plan(group, "allgatherlinearfp8", ovgen.Shape(group.size * rows, k, n, ovgen.BF16))
        torch.cuda.synchronize()
        self.plan.bind(ScaledBuffers(*(x.data_ptr() for x in (a, self.scale_a, b, self.scale_b, self.bias, self.c))))

    def fill(self, seed):
        super().fill(seed)
        self.scale_a.copy_(powers(len(self.scale_a), self.a.device, seed))

    def reference(self, ranks):
        whole, scales = (gathered(x, ranks) for x in (self.a.view(torch.uint8), self.scale_a))
        return torch._scaled_mm(whole.view(torch.float8_e4m3fn), self.b.t(), scales[:, None], self.scale_b[None],
            out_dtype=torch.bfloat16)


class Job:
    """This process: its rank and device, torch's group and ovgen's."""

    def __init__(self, library, arena):
        local = int(os.environ["LOCAL_RANK"])
        torch.cuda.set_device(local)
        self.device = torch.device("cuda", local)
        limit = datetime.timedelta(seconds=90)
        dist.init_process_group("nccl", timeout=limit)
        self.control = dist.new_group(backend="gloo", timeout=limit)
        self.small = torch.zeros(1, device=self.device)
        dist.all_reduce(self.small)
        torch.cuda.synchronize()
        self.group = ovgen.Group(ovgen.Library(library), device=local, arena_bytes=arena)
        self.rank, self.ranks = self.group.rank, self.group.size
        assert (self.rank, self.ranks) == (dist.get_rank(), dist.get_world_size())

    def gather(self, mine):
        every = [None] * self.ranks
        dist.all_gather_object(every, mine, group=self.control)
        return every

    def say(self, *words):
        if self.rank == 0:
            print(*words, flush=True)

    def measure(self, run, sleep_ms):
        """Milliseconds on the device of a run that is queued after a sleeping kernel and the
        meeting of the ranks."""
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda._sleep(int(sleep_ms * SLEEP_CYCLES_PER_MS))
        dist.all_reduce(self.small)
        start.record()
        run()
        end.record()
        end.synchronize()
        return start.elapsed_time(end)


def integers(shape, dtype, device, seed):
    """-1, 0 and 1, mostly 0: no sum leaves what bf16 holds exactly."""
    g = torch.Generator(device=device).manual_seed(seed)
    x = torch.randint(-1, 2, shape, generator=g, device=device)
    return (x * (torch.rand(shape, generator=g, device=device) < 0.3)).to(dtype).contiguous()


def powers(n, device, seed=0):
    """Scales that lose nothing: 1, 2 and 4."""
    return 2.0 ** ((torch.arange(n, device=device) + seed) % 3)


def gathered(a, ranks):
    whole = torch.empty(ranks * a.shape[0], *a.shape[1:], dtype=a.dtype, device=a.device)
    dist.all_gather_into_tensor(whole, a)
    return whole


def check(job, layer, seed):
    """Names of the ways whose bits differ from torch's on some rank, and a graph that holds a run."""
    wrong = []

    def holds(way, run, fill):
        layer.fill(fill * job.ranks + job.rank)
        want = layer.reference(job.ranks)
        layer.c.fill_(float("nan"))
        run()
        torch.cuda.current_stream().synchronize()
        job.group.check()
        if not all(job.gather(torch.equal(layer.c, want))):
            wrong.append(way)

    holds("default stream", layer, seed)
    holds("own graph", layer.replay, seed + 1)
    holds("run", layer.run, seed + 2)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        holds("side stream", layer, seed + 3)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        layer()
    for i in range(3):
        holds(f"torch.cuda.graph, replay {i + 1}", graph.replay, seed + 4 + i)
    holds("default stream after the graph", layer, seed + 7)
    return wrong, graph


def times(job, layer, graph, rounds):
    """Milliseconds of each way to compute the layer."""
    a, b, c = layer.a, layer.b, layer.c
    a.uniform_(-1, 1), b.uniform_(-1, 1)  # zeros would draw less power and so run faster
    whole = torch.empty(job.ranks * a.shape[0], a.shape[1], dtype=a.dtype, device=a.device).uniform_(-1, 1)

    def nccl():
        dist.all_gather_into_tensor(whole, a)
        torch.mm(whole, b, out=c)

    runs = {"pure": lambda: torch.mm(whole, b, out=c), "nccl": nccl, "ovgen": layer, "ovgen replay": layer.replay,
        "ovgen in torch.cuda.graph": graph.replay}
    try:
        import torch.distributed._symmetric_memory as symm_mem
        shard = symm_mem.empty(*a.shape, dtype=a.dtype, device=a.device)
        team = dist.group.WORLD.group_name
        symm_mem.rendezvous(shard, team)
        shard.copy_(a)
        runs["symm_mem"] = lambda: torch.ops.symm_mem.fused_all_gather_matmul(shard, [b], 0, team, return_A=False)
    except Exception as e:
        job.say(f"# no symm_mem: {e}")
    if not all(job.gather("symm_mem" in runs)):
        runs.pop("symm_mem", None)
    samples, failed = {}, {}
    for name, run in list(runs.items()):
        error = ""
        try:
            for _ in range(3):
                run()
            torch.cuda.synchronize()
        except Exception as e:
            error = f"{type(e).__name__}: {e}".splitlines()[0]
        errors = [e for e in job.gather(error) if e]
        if errors:
            failed[name] = errors[0]
            del runs[name]
    for _ in range(rounds):
        for name, run in runs.items():
            samples.setdefault(name, []).append(job.measure(run, 3.0))
    job.group.check()
    every = job.gather(samples)
    return {name: statistics.median(max(rank[name][i] for rank in every) for i in range(rounds))
        for name in runs}, failed


def main():
    f = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    f.add_argument("--library", required=True,
        help="the libovgen.so of a package of schedules that has AllGatherMatmul")
    f.add_argument("--shapes", default="1024,4096,3584;4096,4096,3584;8192,8192,7168",
        help="M,K,N of the whole operation, with semicolons")
    f.add_argument("--types", default="bf16,fp16,fp32",
        help="to check, with commas, e4m3 too; the first is timed, unless it is e4m3")
    f.add_argument("--rounds", type=int, default=20, help="measured rounds (20); 0 only checks")
    f.add_argument("--out", default="", help="file that lines of JSON are appended to")
    o = f.parse_args()
    if "LOCAL_RANK" not in os.environ:
        sys.exit("allgather_matmul.py: start it with torchrun --nproc-per-node N")
    global torch, dist
    import torch
    import torch.distributed as dist
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    dtypes = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32, "e4m3": torch.float8_e4m3fn}
    shapes = [tuple(int(x) for x in s.split(",")) for s in o.shapes.split(";")]
    arena = max(m * k for m, k, _ in shapes) * 4 + (64 << 20)  # what is gathered lies in it, at most 4 bytes an element
    job, bad = Job(o.library, arena), 0
    job.say(f"# torch {torch.__version__}, {job.ranks} ranks, {torch.cuda.get_device_name()}")
    for m, k, n in shapes:
        for i, t in enumerate(o.types.split(",")):
            a = integers((m // job.ranks, k), dtypes[t], job.device, job.rank)
            b = integers((n, k) if t == "e4m3" else (k, n), dtypes[t], job.device, 1000)
            layer = (AllGatherLinearFP8 if t == "e4m3" else AllGatherMatmul)(job.group, a, b)
            wrong, graph = check(job, layer, 1)
            bad += len(wrong)
            job.say(f"{m},{k},{n} {t}: " +
                    (f"WRONG: {'; '.join(wrong)}" if wrong else "bit-exact, in torch.cuda.graph too"))
            if i == 0 and o.rounds > 0 and t != "e4m3":
                ms, failed = times(job, layer, graph, o.rounds)
                for name, x in ms.items():
                    row = dict(program=name, ms=round(x, 5), m=m, k=k, n=n, type=t, ranks=job.ranks, rounds=o.rounds,
                        efficiency=round(ms["pure"] / x, 4) if "pure" in ms else None)
                    job.say(f"    {name:<26} {x:9.4f} ms  {row['efficiency']}")
                    if o.out and job.rank == 0:
                        with open(o.out, "a") as out:
                            out.write(json.dumps(row) + "\n")
                for name, e in failed.items():
                    job.say(f"    {name:<26} {e}")
            del graph
            layer.close()
    job.group.close()
    dist.destroy_process_group()
    return 1 if bad else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ovgen.Error as e:
        print(f"allgather_matmul.py: rank {os.environ.get('RANK')}: {e}", file=sys.stderr, flush=True)
        os._exit(1)  # the other ranks learn it from the group; torch's own exit could wait for them
