#!/usr/bin/env python3
"""Where the time goes in the kernels of tiles, on two GPUs of one host, by stamps of the clock.

    bench/tiles/trace.py FOLDER [--rounds 12]

FOLDER has the output of bench/tiles/stamps.py, as .cubin or .ptx. Each kernel runs 20 times in a row, on both GPUs at
the same time, and on one alone with all rows; a time is the median over rounds of the slower GPU's, over 20. Then the
launch of the stamped kernel with the median duration on the first GPU is drawn: of each kind of stamp, in us since
the launch's first one, the first, the median and the last block's, as a line with the median in it.
"""
import argparse
import ctypes
import pathlib
import statistics

import torch

from stamps import KINDS

CALLS, BLOCKS, TILES = 20, 132, 8
WORD = 32  # 4-byte words from a count word to the next
cuda = ctypes.CDLL("libcuda.so.1")

# Name, whether it scatters, kernel, columns, blocks of a cluster, bytes of shared memory; rows of all ranks, depth and
# columns of a rank.
POINTS = [
    ("8B fc1 256", False, "tiles2_bf16", 128, 1, 229472, 256, 4096, 7168),
    ("8B fc1 512", False, "tiles_bf16", 112, 2, 231536, 512, 4096, 7168),
    ("8B fc1 512", False, "tiles4_bf16", 224, 2, 213056, 512, 4096, 7168),
    ("8B fc1 1024", False, "tiles3_bf16", 176, 2, 227408, 1024, 4096, 7168),
    ("8B fc2 512", True, "scatter_bf16", 128, 1, 229472, 512, 7168, 4096),
    ("8B fc2 512", True, "scatter2_bf16", 144, 1, 225376, 512, 7168, 4096),
    ("8B fc2 1024", True, "scatter_bf16", 128, 1, 229472, 1024, 7168, 4096),
    ("8B fc2 1024", True, "scatter2_bf16", 144, 1, 225376, 1024, 7168, 4096),
    ("8B fc2 2048", True, "scatter_bf16", 128, 1, 229472, 2048, 7168, 4096),
    ("8B fc2 2048", True, "scatter3_bf16", 256, 1, 229440, 2048, 7168, 4096),
    ("8B fc2 4096", True, "scatter3_bf16", 256, 1, 229440, 4096, 7168, 4096),
]
MEANS = {
    "start": "blocks start", "operands": "first operands", "multiplied": "multiplied",
    "let in": "shard, or terms, there",
    "summed": "summed", "slot": "slot free", "stored": "stores under way", "written": "stores have written",
    "left": "counted, posted", "end": "blocks end", "pulled": "nothing left to pull", "shard": "shard posted",
}


def do(name, *args):
    if (e := getattr(cuda, name)(*args)) != 0:
        raise SystemExit(f"trace.py: {name}: error {e}")


class Device:
    """One GPU: its tensors, its words and its kernels."""

    def __init__(self, number, folder):
        self.number = number
        self.words = torch.zeros(128 * WORD, dtype=torch.int32, device=f"cuda:{number}")
        self.context = ctypes.c_void_p()
        do("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), number)
        self.enter()
        self.modules, self.seed = {}, number
        for name in ("gather", "gather-plain", "scatter", "scatter-plain"):
            file = folder / f"{name}.cubin"
            text = file.read_bytes() if file.exists() else (folder / f"{name}.ptx").read_bytes() + b"\0"
            self.modules[name] = ctypes.c_void_p()
            do("cuModuleLoadData", ctypes.byref(self.modules[name]), text)

    def enter(self):
        torch.cuda.set_device(self.number)
        do("cuCtxSetCurrent", self.context)

    def word(self, i):
        return self.words.data_ptr() + 4 * WORD * i

    def group_word(self, i, peer, ranks):
        """The word of the first group of tiles, as in an arena: the words of the next groups lie behind it."""
        return self.word(96 + 16 * i) + 4 * peer

    def stamps(self, module):
        """The stamps since the last call."""
        self.enter()
        at, size = ctypes.c_uint64(), ctypes.c_size_t()
        do("cuModuleGetGlobal_v2", ctypes.byref(at), ctypes.byref(size), self.modules[module], b"stamps")
        host = torch.empty(size.value // 8, dtype=torch.int64)
        do("cuMemcpyDtoH_v2", ctypes.c_void_p(host.data_ptr()), at, size)
        do("cuMemsetD8_v2", at, 0, size)
        return host.view(-1, BLOCKS, TILES, len(KINDS))

    def tensor(self, *shape):
        self.seed += 2
        g = torch.Generator(device=f"cuda:{self.number}").manual_seed(self.seed)
        return torch.randint(-1, 2, shape, generator=g, device=f"cuda:{self.number}").to(torch.bfloat16)


def tensor_map(at, shards, rows, columns, box):
    """A CUtensorMap of [shards, rows, columns] as 16 words."""
    out = (ctypes.c_uint64 * 24)()
    to = (ctypes.addressof(out) + 63) // 64 * 64
    do("cuTensorMapEncodeTiled", ctypes.c_void_p(to), 9, 3, ctypes.c_void_p(at),  # 9: bf16
       (ctypes.c_uint64 * 3)(columns, rows, shards), (ctypes.c_uint64 * 2)(2 * columns, 2 * columns * rows),
       (ctypes.c_uint32 * 3)(64, box, 1), (ctypes.c_uint32 * 3)(1, 1, 1), 0, 3, 3, 0)
    return list((ctypes.c_uint64 * 16).from_address(to))


def seven(*words):
    return list(words) + [0] * (7 - len(words))


def groups_of(rows, n, ranks, wide, most=64):
    """How many groups of tiles a rank's rows have, their rows and their columns, as package kernels cuts them."""
    def ceil(x, by):
        return -(-x // by)
    most, tiles = min(most, 64 // max(ranks - 1, 1)), ceil(rows, 128)
    high = ceil(tiles, most)
    broad = ceil(ceil(n, wide), most // ceil(tiles, high)) * wide
    return [ceil(rows, high * 128) * ceil(n, broad), high * 128, broad]


class Run:
    """A kernel's launches on some devices, with the parameters of the package's struct."""

    def __init__(self, devices, scatters, kernel, wide, cluster, shared, m, k, n, most=64):
        self.most = most
        self.devices, self.kernel, self.cluster, self.shared = devices, kernel, cluster, shared
        self.scatters, ranks = scatters, len(devices)
        rows = m // ranks
        self.a = [d.tensor(m if scatters else rows, k) for d in devices]
        self.b = [d.tensor(n, k) for d in devices]
        self.c = [torch.zeros(rows if scatters else m, n, dtype=torch.bfloat16, device=d.words.device) for d in devices]
        self.staging = [torch.zeros(m, n if scatters else k, dtype=torch.bfloat16, device=d.words.device)
                        for d in devices]
        self.bias = [torch.zeros(n, dtype=torch.bfloat16, device=d.words.device) for d in devices]
        clusters = ranks * -(-rows // (128 * cluster)) * -(-n // wide)
        if not scatters:
            clusters = max(clusters, -(-((ranks - 1) * rows * k * 2 // (4 * 16 * 96)) // cluster))
        self.grid = min(clusters, BLOCKS // cluster) * cluster
        self.params = [self.of(r, m, k, n, wide) for r in range(ranks)]

    def of(self, r, m, k, n, wide):
        ranks, d = len(self.devices), self.devices[r]
        rows, peers = m // ranks, [(r + 1 + i) % ranks for i in range(ranks - 1)]
        own, all_ = self.a[r].data_ptr(), self.staging[r].data_ptr()
        b = tensor_map(self.b[r].data_ptr(), 1, n, k, wide // self.cluster)
        def word(of, i, peer):
            return of.group_word(i, peer, ranks) if self.scatters else of.word(8 * i + peer)
        lists = (seven(*(word(self.devices[p], 0, r) for p in peers)), seven(*(word(d, 0, p) for p in peers)),
                 seven(*(word(self.devices[p], 1, r) for p in peers)), seven(*(word(d, 1, p) for p in peers)))
        words = [w for one in lists for w in one] + [ranks - 1, d.word(16), 0]
        words += [ranks] * self.scatters + [d.word(24), WORD]
        if self.scatters:
            maps = (tensor_map(all_, ranks, rows, n, 128) + tensor_map(own, ranks, rows, k, 128) + b +
                    tensor_map(self.c[r].data_ptr(), 1, rows, n, 64))
            slots = [tensor_map(self.staging[p].data_ptr() + r * rows * n * 2, 1, rows, n, 64) for p in peers]
            maps += [w for s in slots for w in s] + [0] * (16 * (7 - len(slots)))
            list_ = maps + words + groups_of(rows, n, ranks, wide, self.most) + [ranks, r, rows, k, n, 0]
        else:
            maps = (tensor_map(own, 1, rows, k, 128) + tensor_map(all_ if ranks > 1 else own, ranks, rows, k, 128) + b +
                    tensor_map(self.c[r].data_ptr(), ranks, rows, n, 64))
            list_ = maps + words + [all_, ranks, r, rows, k, n] + seven(*(self.a[p].data_ptr() for p in peers))
            list_ += [self.bias[r].data_ptr()]
        self.value = len(maps) + 28 + 2
        list_ += [0] * (-len(list_) % 8)
        return (ctypes.c_uint64 * len(list_))(*list_)

    def launch(self, module):
        """Launches in a row on each device; returns the slower one's us a launch. In the first one they meet."""
        functions, times = [], []
        for d in self.devices:
            d.enter()
            d.words.zero_()
            torch.cuda.synchronize()
        for d in self.devices:
            d.enter()
            f = ctypes.c_void_p()
            do("cuModuleGetFunction", ctypes.byref(f), d.modules[module], self.kernel.encode())
            do("cuFuncSetAttribute", f, 8, self.shared)
            functions.append(f)
            torch.cuda._sleep(4_000_000)
            times.append([torch.cuda.Event(enable_timing=True) for _ in range(2)])
        for i in range(CALLS + 1):
            for d, f, p, t in zip(self.devices, functions, self.params, times):
                d.enter()
                p[self.value] = i
                do("cuLaunchKernel", f, self.grid, 1, 1, 384, 1, 1, self.shared,
                   ctypes.c_void_p(torch.cuda.current_stream().cuda_stream),
                   (ctypes.c_void_p * 1)(ctypes.addressof(p)), None)
                if i == 0:
                    t[0].record()
        for d, t in zip(self.devices, times):
            d.enter()
            t[1].record()
        for t in times:
            t[1].synchronize()
        return max(a.elapsed_time(b) for a, b in times) / CALLS * 1e3

    def check(self):
        """The elements of the first rank's result that differ from torch's."""
        a, b = [t.to("cuda:0").float() for t in self.a], [t.to("cuda:0").float() for t in self.b]
        if not self.scatters:
            return int((torch.cat(a) @ b[0].t()).to(torch.bfloat16).ne(self.c[0]).sum())
        rows, want = self.c[0].shape[0], 0.0
        for x, y in zip(a, b):
            want = want + (x[:rows] @ y.t()).to(torch.bfloat16).float()
        return int(want.to(torch.bfloat16).ne(self.c[0]).sum())


def draw(stamps):
    """Prints the stamps of one launch: [block, tile, kind]."""
    first = int(stamps[stamps > 0].min())
    us = (stamps - first).double() / 1e3
    scale = (us[stamps > 0].max().item() + 1) / 72
    print(f"    {'':<34}{'first':>6} {'median':>6} {'last':>6}  |{'us, ' + format(scale, '.2f') + ' a column'}")
    rows = []
    for tile in range(TILES):
        for kind, name in enumerate(KINDS):
            there = us[:, tile, kind][stamps[:, tile, kind] > 0]
            if len(there):
                rows.append((there.median().item(), tile, name, there))
    for median, tile, name, there in sorted(rows, key=lambda r: r[0]):
        low, high = there.min().item(), there.max().item()
        what = MEANS[name]
        if name == "shard":
            what += f" of rank + {tile}"
        elif name not in ("start", "end", "pulled"):
            what = f"tile {tile}: {what}"
        line = [" "] * 74
        line[int(low / scale):int(high / scale) + 1] = "-" * (int(high / scale) - int(low / scale) + 1)
        line[int(median / scale)] = "|"
        print(f"    {what:<27}{len(there):>4} x {low:6.1f} {median:6.1f} {high:6.1f}  |{''.join(line).rstrip()}")


def main():
    f = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    f.add_argument("folder", type=pathlib.Path, help="the output of stamps.py")
    f.add_argument("--rounds", type=int, default=12, help="measured rounds (12)")
    o = f.parse_args()
    torch.zeros(1, device="cuda:0").to("cuda:1"), torch.zeros(1, device="cuda:1").to("cuda:0")
    devices = [Device(i, o.folder) for i in range(2)]
    for d, other in ((devices[0], devices[1]), (devices[1], devices[0])):
        d.enter()
        if (e := cuda.cuCtxEnablePeerAccess(other.context, 0)) not in (0, 704):  # 704: it is
            raise SystemExit(f"trace.py: cuCtxEnablePeerAccess: error {e}")
    for name, scatters, kernel, wide, cluster, shared, m, k, n in POINTS:
        both = Run(devices, scatters, kernel, wide, cluster, shared, m, k, n)
        alone = Run(devices[:1], scatters, kernel, wide, cluster, shared, m, k, n)
        module = "scatter" if scatters else "gather"
        times = {"two": [], "stamped": [], "alone": [], "product": []}
        drawn = []
        devices[0].stamps(module)
        for i in range(o.rounds + 2):
            one = {"two": both.launch(module + "-plain"), "alone": alone.launch(module + "-plain"),
                   "stamped": both.launch(module), "product": product(alone)}
            if i >= 2:
                for key, t in one.items():
                    times[key].append(t)
                last = devices[0].stamps(module)[2:CALLS]
                drawn += [(int(s[s > 0].max() - s[s > 0].min()), s.clone()) for s in last]
        us = {key: statistics.median(t) for key, t in times.items()}
        wrong = both.check() + alone.check()
        print(f"== {name} rows, {kernel}, {both.grid} blocks: {us['two']:.1f} us, {us['product'] / us['two']:.2f} of "
              f"torch's product of all rows ({us['product']:.1f}); alone with all rows {us['alone']:.1f}; with stamps "
              f"{us['stamped']:.1f}; {wrong} elements differ", flush=True)
        drawn.sort(key=lambda x: x[0])
        draw(drawn[len(drawn) // 2][1])


def product(alone):
    """torch's product of all rows in a row, in us."""
    alone.devices[0].enter()
    a, b = alone.a[0], alone.b[0].t()
    times = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
    torch.cuda._sleep(2_000_000)
    times[0].record()
    for _ in range(CALLS):
        torch.mm(a, b)
    times[1].record()
    times[1].synchronize()
    return times[0].elapsed_time(times[1]) / CALLS * 1e3


if __name__ == "__main__":
    main()
