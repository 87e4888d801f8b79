"""Do calls for one device wait for another's stream, where one process has both?

A stream of device 1 waits for a word that device 0's host sets at the end. Meanwhile calls for device 0 are made:
without access of each context to all memory of the other, and with it (cuCtxEnablePeerAccess), asked for before the
first allocation or after it. Each of these is a process of its own, which is killed when it takes longer than LIMIT.

    python3 bench/access.py
"""
import ctypes
import multiprocessing
import time

LIMIT = 20  # seconds
CALLS = 100
MODES = ["no access", "peer access", "peer access late"]
RELAXED = 2  # CU_STREAM_CAPTURE_MODE_RELAXED
NON_BLOCKING = 1  # CU_STREAM_NON_BLOCKING


class CUDA:
    """The functions of libcuda by their names without cu. Each raises an error where it fails."""

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")

    def __getattr__(self, name):
        def call(*arguments):
            code = getattr(self.library, "cu" + name)(*arguments)
            if code:
                text = ctypes.c_char_p()
                self.library.cuGetErrorName(code, ctypes.byref(text))
                raise RuntimeError(f"cu{name}: {(text.value or str(code).encode()).decode()}")
        return call


def made(function, *arguments):
    """The handle or address that a function writes to its first argument."""
    to = ctypes.c_void_p()
    function(ctypes.byref(to), *arguments)
    return to


class Device:
    """A context on a device, with a stream and memory of which a word is 0."""

    def __init__(self, cuda, number):
        self.cuda = cuda
        self.context = made(cuda.DevicePrimaryCtxRetain, number)
        self.current()
        self.stream = made(cuda.StreamCreate, NON_BLOCKING)

    def current(self):
        self.cuda.CtxSetCurrent(self.context)

    def allocate(self):
        self.current()
        self.memory = made(self.cuda.MemAlloc_v2, ctypes.c_size_t(1 << 20))
        self.cuda.MemsetD32_v2(self.memory, 0, ctypes.c_size_t(1 << 18))

    def reach(self, other):
        self.current()
        self.cuda.CtxEnablePeerAccess(other.context, 0)

    def captured(self, nodes):
        """A graph that writes the memory so often."""
        self.current()
        self.cuda.StreamBeginCapture_v2(self.stream, RELAXED)
        for _ in range(nodes):
            self.cuda.MemsetD32Async(self.memory, 0, ctypes.c_size_t(1 << 10), self.stream)
        graph = ctypes.c_void_p()
        self.cuda.StreamEndCapture(self.stream, ctypes.byref(graph))
        return graph

    def instantiate(self, graph):
        return made(self.cuda.GraphInstantiateWithFlags, graph, ctypes.c_ulonglong(0))


def instantiations(device):
    graph = device.captured(8)
    return lambda: device.cuda.GraphExecDestroy(device.instantiate(graph))


def replays(device):
    executable = device.instantiate(device.captured(8))
    return lambda: (device.cuda.GraphLaunch(executable, device.stream),
                    device.cuda.StreamSynchronize(device.stream))


def allocations(device):
    return lambda: device.cuda.MemFree_v2(made(device.cuda.MemAlloc_v2, ctypes.c_size_t(1 << 22)))


def tried(mode, say):
    """Blocks device 1, and makes each kind of call for device 0."""
    cuda = CUDA()
    cuda.Init(0)
    own, other = Device(cuda, 0), Device(cuda, 1)
    steps = [own.allocate, other.allocate]
    reach = [lambda: own.reach(other), lambda: other.reach(own)]
    for step in {"no access": steps, "peer access": reach + steps, "peer access late": steps + reach}[mode]:
        step()
    own.current()
    kinds = [(f.__name__, f(own)) for f in (allocations, replays, instantiations)]
    other.current()
    cuda.StreamWaitValue32_v2(other.stream, other.memory, 1, 0)  # for a word of at least 1
    own.current()
    for name, call in kinds:
        began = time.monotonic()
        for _ in range(CALLS):
            call()
        say.put(f"{mode:18} {name:15} {CALLS} calls, {time.monotonic() - began:.2f} s: none waits")
    other.current()
    release = made(cuda.StreamCreate, NON_BLOCKING)
    cuda.StreamWriteValue32_v2(release, other.memory, 1, 0)
    cuda.StreamSynchronize(other.stream)
    say.put(f"{mode:18} ended")


def main():
    start = multiprocessing.get_context("spawn")
    for mode in MODES:
        lines = start.SimpleQueue()
        process = start.Process(target=tried, args=(mode, lines))
        process.start()
        process.join(LIMIT)
        while not lines.empty():
            print(lines.get(), flush=True)
        if process.is_alive():
            process.kill()
            process.join()
            print(f"{mode:18} did not end within {LIMIT} s", flush=True)
        elif process.exitcode:
            print(f"{mode:18} failed", flush=True)


if __name__ == "__main__":
    main()
