#!/usr/bin/env python3
"""Measures NCCL with a product, and PyTorch's symmetric-memory operations (torch 2.11), on the GPUs of one host; with
--library, ovgen's packages in the same rounds, so that all run as hot as each other.

    torchrun --nproc-per-node 4 bench/peers.py [--points '8B/*'] [--rounds 8] [--library libovgen.so] [--out FILE]
    python3 bench/peers.py --smoke [--library libovgen.so]
    python3 bench/peers.py --list [--ranks 4]

A point is MODEL/LAYER/M. C[m,n] = A[m,k] B, and weights are [n,k]. fc1 is all-gather + matmul: a rank has m/d rows of
A. fc2 is matmul + reduce-scatter: a rank has k/d columns of A and gets m/d rows of C. Each form of bench/forms.py runs
once a round, in an order that differs from round to round: eager (the host enqueues when the ranks have met) and gated
(all is queued behind a sleeping kernel). A time is the device's, of the slowest rank; the median over the rounds
counts. Prints a table, and to --out a line of JSON for each figure, with the names that `run bench
-json` has; bench/headline.py reads these. --smoke runs every form of a few points on one GPU, without torchrun, says
at how many points each ran, and fails if one of them does.
"""
import argparse
import fnmatch
import json
import sys

ROWS = (128, 256, 512, 1024, 2048, 4096, 8192, 16384)
MODELS = {"8B": (4096, 14336), "70B": (8192, 28672), "405B": (16384, 53248), "GPT-3": (12288, 49152),
          "Gemma-27B": (4608, 36864), "Qwen-7B": (3584, 18944)}
DDLB = (32768, 16384, 8192)  # both layers
PEERS = ("nccl", "symm_mem")
FC1 = ("allgatherlinear,allgatherlinearkernels,allgatherlineargrouped,allgatherlinearput,allgatherlinearoneshot,"
       "allgatherlinearpackets,allgatherlineartiles")
FC2 = ("linearreducescatter,linearreducescatterinorder,linearreducescatterkernels,linearreducescatterputkernels,"
       "linearreducescatteroneshot,linearreducescatterpackets,linearreducescattertiles")
SMOKE = "8B/*/512,8B/*/4096"  # of all models, the smallest; the second has a kernel of torch's for the gather


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


def fastest(rows):
    """The row of the fastest form."""
    return min(rows, key=lambda row: row["ms"], default=None)


def table(rows):
    """A line for one point: ms of the product, and of the fastest form of each peer and of ovgen, eager and gated."""
    timed, first = [r for r in rows if "ms" in r], rows[0]
    line = f"{first['point'] + ' ' + first['type']:<22} {first['m']},{first['k']},{first['n']}".ljust(44)
    forms = []
    for names in (("torch",), *((p,) for p in PEERS), {r["program"] for r in timed} - {"torch", *PEERS}):
        for gated in (False, True):
            r = fastest([r for r in timed if r["program"] in names and r["gated"] == gated])
            line += f"{r['ms']:9.4f} ({r.get('efficiency', 0):.2f})" if r else f"{'-':>9} {'':6}"
        if r:
            forms.append(r["product"] if r["variant"] == "pure" else f"{r['program']} {r['variant']}")
    return "\n".join([line + "  " + ", ".join(forms)] +
                     [f"    {r['program']} {r['variant']}: {r['error']}" for r in rows if "error" in r])


def tally(forms):
    """A line for each form, of pairs of its name and whether it ran: at how many points it did."""
    counts = {}
    for name, well in forms:
        counts.setdefault(name, []).append(well)
    return "\n".join(f"    {name}: ran at {sum(wells)} of {len(wells)} points" for name, wells in counts.items())


def window_bytes(points, ranks):
    """Bytes that NCCL's buffers at a point take at most, in fp32."""
    return 4096 + 4 * max(m * (k if layer == "fc1" else n) * (ranks + 1) // ranks for _, layer, m, k, n in points)


def options():
    f = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    f.add_argument("--points", default="", help="patterns of points with commas, such as '8B/fc1/*'; all by default")
    f.add_argument("--rounds", type=int, default=8, help="measured rounds (8)")
    f.add_argument("--types", default="bf16", help="bf16, fp16, fp32, with commas (bf16)")
    f.add_argument("--out", default="", help="file that lines of JSON are appended to")
    f.add_argument("--library", default="",
        help="the libovgen.so of the catalog: measure its packages in the same rounds")
    f.add_argument("--fc1", default=FC1, help=f"packages for fc1, with commas ({FC1})")
    f.add_argument("--fc2", default=FC2, help=f"packages for fc2 ({FC2})")
    f.add_argument("--smoke", action="store_true", help=f"try all forms on one GPU: points {SMOKE}, 2 rounds")
    f.add_argument("--list", action="store_true", help="print the points: name m,k,n")
    f.add_argument("--ranks", type=int, default=4, help="of --list (4)")
    o = f.parse_args()
    if o.smoke:
        o.points, o.rounds = o.points or SMOKE, 2
    if o.rounds < 1:
        f.error("--rounds must be positive")
    if set(o.types.split(",")) - {"bf16", "fp16", "fp32"}:
        f.error(f"--types {o.types}: bf16, fp16 or fp32")
    return o


def main():
    o = options()
    if o.list:
        for name, _, m, k, n in chosen(grid(o.ranks), o.points):
            print(f"{name} {m},{k},{n}")
        return 0
    from job import Job, dist, local_rank, torch  # first: it sets variables that CUDA and NCCL read
    import forms
    from window import Window
    kinds = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}
    torch.backends.cuda.matmul.allow_tf32 = False
    job = Job(alone=o.smoke)
    points = chosen(grid(job.ranks), o.points)
    job.window = Window(job, window_bytes(points, job.ranks)) if job.cuda else None
    job.ours = None
    if o.library:
        from ours import Ours
        job.ours = Ours(o.library, local_rank(), points)
    programs = {"fc1": o.fc1.split(","), "fc2": o.fc2.split(",")}
    out = open(o.out, "a", encoding="utf-8") if o.out and job.rank == 0 else None
    if job.rank == 0:
        print(f"# torch {torch.__version__}, {job.ranks} ranks, NVLink multicast off; ms (efficiency), median of the "
              f"slowest rank over {o.rounds} rounds, eager and gated: product, nccl, symm_mem"
              + (", ovgen" if job.ours else "") + "; each by its fastest form, of gated ones named", flush=True)
        print(f"# NCCL's symmetric window: {job.window or 'none'}", flush=True)
    failed = 0
    for point in points:
        for t in o.types.split(","):
            rows = forms.measure_point(job, point, kinds[t], o.rounds, programs[point[1]] if job.ours else [])
            failed += sum("error" in row for row in rows)
            job.tried += [(f"{row['program']} {row['variant']}", "ms" in row) for row in rows if row.get("gated", True)]
            if job.rank == 0:
                print(table(rows), flush=True)
                for row in rows if out else ():
                    out.write(json.dumps(row) + "\n")
                    out.flush()
    job.synchronize()
    if job.ours:
        job.ours.close()
    if job.window:
        job.window.close()
    dist.destroy_process_group()
    if o.smoke:
        print(tally(job.tried))
        print(f"smoke: {failed} forms failed" if failed else "smoke: every form ran")
    return 1 if o.smoke and failed else 0


if __name__ == "__main__":
    sys.exit(main())
