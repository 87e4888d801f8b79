"""A part of each rank's memory that NCCL's symmetric kernels reach, for the buffers of torch's collectives.

Torch makes such memory by its NCCL allocator and register_mem_pool(symm=True). But its allocator refuses where NVLink
multicast is off ("NCCL mem allocator is not supported in this NCCL version"), and multicast is off for all that is
measured here. NCCL itself needs no multicast for it. So this calls the library that torch has loaded: ncclMemAlloc, and
ncclCommWindowRegister for the communicator of torch's group.
"""
import ctypes
import math
import os

SYMMETRIC = 1  # NCCL_WIN_COLL_SYMMETRIC


def loaded(maps):
    """The path of NCCL's library in the lines of /proc/self/maps."""
    for line in maps:
        path = line.rstrip("\n").split(maxsplit=5)[5:]
        if path and os.path.basename(path[0]).startswith("libnccl.so"):
            return path[0]
    raise RuntimeError("torch has loaded no libnccl.so")


class NCCL:
    """NCCL's functions, by their names without nccl. Each raises an error where it fails."""

    def __init__(self, library):
        self.library = library
        library.ncclGetErrorString.restype = ctypes.c_char_p

    def __getattr__(self, name):
        def call(*arguments):
            code = getattr(self.library, "nccl" + name)(*arguments)
            if code:
                raise RuntimeError(f"nccl{name}: {self.library.ncclGetErrorString(code).decode()}")
        return call


class Window:
    """Memory that NCCL allocates and registers as a symmetric window. A collective between buffers in it runs by NCCL's
    symmetric kernels. Opening one is collective. Where that fails, error says why."""

    def __init__(self, job, size, library=None):
        self.job, self.size, self.used, self.memory = job, size, 0, None
        self.address, self.window = ctypes.c_void_p(), ctypes.c_void_p()
        _, self.error = job.attempt(lambda: self.allocate(library))
        if not self.error:  # on all ranks: the next step waits for them
            _, self.error = job.attempt(self.register)

    def allocate(self, library):
        off = [v for v in ("NCCL_CUMEM_ENABLE", "NCCL_WIN_ENABLE") if os.environ.get(v) == "0"]
        if off:
            raise RuntimeError(f"NCCL makes no symmetric window where {off[0]} is 0")
        if not self.job.reaches():
            raise RuntimeError("NCCL makes no symmetric window where the GPUs do not reach each other's memory")
        if library is None:
            with open("/proc/self/maps", encoding="utf-8") as maps:
                library = ctypes.CDLL(loaded(maps))
        self.nccl = NCCL(library)
        self.comm = ctypes.c_void_p(self.job.communicator())
        if not self.comm:
            raise RuntimeError("torch has made no communicator of NCCL")
        self.nccl.MemAlloc(ctypes.byref(self.address), ctypes.c_size_t(self.size))
        self.memory = self.job.bytes_at(self.address.value, self.size)

    def register(self):
        self.nccl.CommWindowRegister(self.comm, self.address, ctypes.c_size_t(self.size), ctypes.byref(self.window),
            ctypes.c_int(SYMMETRIC))
        if not self.window:
            raise RuntimeError("ncclCommWindowRegister made no window")

    def __str__(self):
        if self.error:
            return f"none: {self.error}"
        version = ctypes.c_int()
        self.nccl.GetVersion(ctypes.byref(version))
        return f"{self.size} bytes at {self.address.value:#x}, by NCCL {version.value}"

    def tensor(self, *shape, dtype):
        """The next part of the window, at the same place on all ranks."""
        if self.error:
            raise RuntimeError(self.error)
        size = math.prod(shape) * dtype.itemsize
        if self.used + size > self.size:
            raise RuntimeError(f"the window has {self.size} bytes, {self.used + size} are needed")
        part = self.memory[self.used:self.used + size].view(dtype).view(shape)
        self.used += -(-size // 256) * 256
        return part

    def check(self, *tensors):
        """Raises an error unless each tensor lies in the window."""
        for t in tensors:
            offset, size = t.data_ptr() - self.address.value, t.numel() * t.element_size()
            if not 0 <= offset <= self.size - size:
                raise RuntimeError(f"a buffer of {size} bytes at {t.data_ptr():#x} is outside the window: {self}")

    def clear(self):
        """Gives all parts back."""
        self.used = 0

    def close(self):
        """Collective. No tensor in the window may be used after."""
        self.memory = None
        self.job.synchronize()
        if self.window:
            self.nccl.CommWindowDeregister(self.comm, self.window)
        if self.address:
            self.nccl.MemFree(self.address)
        self.window = self.address = ctypes.c_void_p()
