"""A process of a measurement with torch: its rank and device, and how the ranks meet, time a run and share results."""
import os

# CUDA reads the first when it starts: streams that share a hardware queue with a waiting stream wait with it. NVLink
# multicast stays off, for the peers as for ovgen.
os.environ.setdefault("CUDA_DEVICE_MAX_CONNECTIONS", "32")
os.environ["NCCL_NVLS_ENABLE"] = "0"
os.environ["TORCH_SYMM_MEM_DISABLE_MULTICAST"] = "1"

import datetime
import sys
import time
import warnings

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symm_mem

WARM_UP = 3
SLEEP_CYCLES_PER_MS = 2_000_000  # at the highest clock: a sleep is never shorter than asked for
ALONE = {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29542"}


def message(error):
    """An error's first line."""
    return f"{type(error).__name__}: {error}".splitlines()[0][:200] if error else ""


def local_rank():
    return int(os.environ.get("LOCAL_RANK", os.environ["RANK"]))


class Job:
    """This process: its rank, device and groups. With alone it is the only rank, unless torchrun started it."""

    window = None  # where a program opens one

    def __init__(self, alone=False):
        if alone and "RANK" not in os.environ:
            os.environ.update(ALONE)
        if "RANK" not in os.environ:
            sys.exit(f"start it with torchrun: torchrun --nproc-per-node N {sys.argv[0]} ...")
        self.rank, self.ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
        self.cuda = torch.cuda.is_available()
        self.tried = []  # a pair for each form at each point: its name, and whether it ran
        torch.manual_seed(self.rank + 1)  # random tensors differ from rank to rank
        limit = datetime.timedelta(seconds=90)
        if not self.cuda:  # to try the programs themselves
            self.device = torch.device("cpu")
            dist.init_process_group("gloo", timeout=limit)
            self.group = self.control = dist.group.WORLD
            return
        torch.cuda.set_device(local_rank())
        self.device = torch.device("cuda", local_rank())
        dist.init_process_group("nccl", timeout=limit)
        self.group = dist.group.WORLD
        self.control = dist.new_group(backend="gloo", timeout=limit)
        self.small = torch.zeros(1, device=self.device)
        dist.all_reduce(self.small)  # makes NCCL's communicator
        self.open_meeting()
        self.meet()
        torch.cuda.synchronize()

    def open_meeting(self):
        """A barrier on the device: of symmetric memory, else a small all-reduce."""
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

    def gather(self, mine):
        """Each rank's object, on all ranks."""
        all_ = [None] * self.ranks
        dist.all_gather_object(all_, mine, group=self.control)
        return all_

    def agree(self, well):
        """Whether all is well on every rank."""
        return all(self.gather(bool(well)))

    def attempt(self, call):
        """Calls on all ranks. Returns the result, and the error of the first rank that failed or an empty text."""
        result, error = None, None
        try:
            result = call()
        except Exception as e:
            error = e
        return result, next((e for e in self.gather(message(error)) if e), "")

    def synchronize(self):
        if self.cuda:
            torch.cuda.synchronize()

    def measure(self, run, sleep_ms):
        """One run: ms on the device from the meeting of the ranks, and us of the host. Where sleep_ms is not 0, a
        kernel sleeps as long ahead of the meeting, so that the host has queued the run before the device reaches it."""
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

    def warm(self, run):
        """Runs a variant a few times. Returns its host time in ms, its result, and an error of some rank or an empty
        text."""
        host = [0.0]

        def runs():
            for _ in range(WARM_UP):
                began = time.perf_counter()
                out = run()
                host[0] = (time.perf_counter() - began) * 1e3
            self.synchronize()
            return out
        out, error = self.attempt(runs)
        return max(self.gather(host[0])), out, error

    def differs(self, one, other):
        """Whether two ways to compute the same are further apart than rounding explains, in words."""
        if one is None or other is None:
            return ""
        apart = (one.float() - other.float()).abs().max().item()
        size = one.float().abs().max().item()
        well = self.agree(apart <= 0.05 * size + 1e-3)
        return "" if well else f"differs from the first form by {apart:.3g} of {size:.3g}"

    def symmetric(self, *shape, dtype=torch.bfloat16):
        """A tensor in torch's symmetric memory."""
        t = symm_mem.empty(*shape, dtype=dtype, device=self.device)
        symm_mem.rendezvous(t, self.group.group_name)
        return t

    def communicator(self):
        """The address of NCCL's communicator of all ranks."""
        return self.group._get_backend(self.device)._comm_ptr()

    def reaches(self):
        """Whether this device reaches the memory of all others."""
        mine = local_rank()
        return all(torch.cuda.can_device_access_peer(mine, other) for other in range(self.ranks) if other != mine)

    def bytes_at(self, address, size):
        """Memory of the device as a tensor of bytes, which does not own it."""
        storage = torch._C._construct_storage_from_data_pointer(address, self.device, size)
        return torch.empty(0, dtype=torch.uint8, device=self.device).set_(storage).zero_()


def captured(run):
    """Captures a variant that has run before in a CUDA graph, and returns its replay."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = run()
    out.zero_()  # the result of the run before must not pass for that of a replay

    def replay():
        graph.replay()
        return out
    return replay
