"""Products out[m,n] = a[m,k] w[n,k]^T by the fastest of torch.mm and cuBLASLt's first eight choices.

torch.mm takes the first choice of cuBLAS, and its TunableOp has nothing else to choose from on CUDA. A package of ovgen
takes the fastest of cuBLASLt's first eight, so its peers do too.
"""
import ctypes
import functools
import random
import statistics

import torch

CHOICES = 8
WORKSPACE = 32 << 20
TIMED, CALLS = 5, 10  # measurements of each choice, and calls of each
SLEEP_CYCLES = 1_000_000  # in which the host queues the calls

# Numbers of cublasLt.h, as runtime/driver/cuda/blas.h has them.
COMPUTE_32F, R_32F, OP_T = 68, 0, 1
TYPES = {torch.bfloat16: 14, torch.float16: 2, torch.float32: R_32F}
DESC_TRANSA = 3
PREF_WORKSPACE, PREF_REDUCTIONS, PREF_ALIGNMENTS = 1, 3, (5, 6, 7, 8)
REDUCE_IN_PLACE, REDUCE_COMPUTE_TYPE = 1, 2


class Choice(ctypes.Structure):
    """cublasLtMatmulHeuristicResult_t, which begins with the algorithm."""
    _fields_ = [("algorithm", ctypes.c_uint64 * 8), ("workspace", ctypes.c_size_t), ("state", ctypes.c_int),
                ("waves", ctypes.c_float), ("reserved", ctypes.c_int * 4)]


@functools.cache
def library():
    """cuBLASLt as torch has loaded it, its handle and a workspace."""
    lt = ctypes.CDLL(f"libcublasLt.so.{torch.version.cuda.split('.')[0]}")
    handle = ctypes.c_void_p()
    check(lt.cublasLtCreate(ctypes.byref(handle)))
    return lt, handle, torch.empty(WORKSPACE, dtype=torch.uint8, device="cuda")


def check(status):
    if status:
        raise RuntimeError(f"cuBLASLt answers with status {status}")


def made(create, *args):
    """The handle that one of the library's functions makes."""
    handle = ctypes.c_void_p()
    check(create(ctypes.byref(handle), *args))
    return handle


class Product:
    """A product of one shape by cuBLASLt, which counts columns first: its A is our w, its B our a."""

    def __init__(self, m, k, n, dtype):
        self.lt, self.handle, self.workspace = library()
        self.one, self.zero = ctypes.c_float(1), ctypes.c_float(0)
        self.op = made(self.lt.cublasLtMatmulDescCreate, COMPUTE_32F, R_32F)
        transposed = ctypes.c_int32(OP_T)
        check(self.lt.cublasLtMatmulDescSetAttribute(self.op, DESC_TRANSA, ctypes.byref(transposed), 4))
        layout = lambda rows, columns: made(self.lt.cublasLtMatrixLayoutCreate, TYPES[dtype], ctypes.c_uint64(rows),
            ctypes.c_uint64(columns), ctypes.c_int64(rows))
        self.w, self.a, self.out = layout(k, n), layout(k, m), layout(n, m)
        self.choices = self.ask(dtype, (k, k, n, n))

    def ask(self, dtype, rows):
        """The first choices of the heuristic; rows has the elements of a row of each operand and of the result."""
        preference = made(self.lt.cublasLtMatmulPreferenceCreate)
        prefer = lambda attribute, value: check(self.lt.cublasLtMatmulPreferenceSetAttribute(preference, attribute,
            ctypes.byref(value), ctypes.sizeof(value)))
        prefer(PREF_WORKSPACE, ctypes.c_uint64(WORKSPACE))
        reductions = REDUCE_COMPUTE_TYPE | (REDUCE_IN_PLACE if dtype == torch.float32 else 0)
        prefer(PREF_REDUCTIONS, ctypes.c_uint32(reductions))
        for attribute, elements in zip(PREF_ALIGNMENTS, rows):
            size = elements * dtype.itemsize
            prefer(attribute, ctypes.c_uint32(min(16, size & -size)))
        found, count = (Choice * CHOICES)(), ctypes.c_int()
        check(self.lt.cublasLtMatmulAlgoGetHeuristic(self.handle, self.op, self.w, self.a, self.out, self.out,
            preference, CHOICES, found, ctypes.byref(count)))
        self.lt.cublasLtMatmulPreferenceDestroy(preference)
        return [c for c in found[:count.value] if not c.state]

    def by(self, choice):
        """The product by one of the choices."""
        def run(a, w, out):
            pointer = lambda t: ctypes.c_void_p(t.data_ptr())
            check(self.lt.cublasLtMatmul(self.handle, self.op, ctypes.byref(self.one), pointer(w), self.w, pointer(a),
                self.a, ctypes.byref(self.zero), pointer(out), self.out, pointer(out), self.out,
                ctypes.byref(choice.algorithm), pointer(self.workspace), ctypes.c_size_t(WORKSPACE),
                ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)))
        return run


def torch_mm(a, w, out):
    """The product by the choice of torch."""
    torch.mm(a, w.t(), out=out)


def by_choice(a, w, out):
    """cuBLASLt's first choices that run with these operands, by name."""
    product, ways = Product(a.shape[0], a.shape[1], w.shape[0], a.dtype), {}
    for i, choice in enumerate(product.choices):
        way = product.by(choice)
        try:
            way(a, w, out)
        except RuntimeError:
            continue  # refused with these operands
        ways[f"cuBLASLt {i + 1}"] = way
    torch.cuda.synchronize()
    return ways


def fastest(a, w, out):
    """The fastest product of these shapes on this device, a function of a, w and out; its name; and an error, or an
    empty text, that kept cuBLASLt's choices away."""
    ways, error = {"torch.mm": torch_mm}, ""
    if not a.is_cuda:
        return torch_mm, "torch.mm", error
    try:
        ways |= by_choice(a, w, out)
    except Exception as e:
        error = f"{type(e).__name__}: {e}"
    times = {name: [] for name in ways}
    for i in range(TIMED):
        turns = list(ways.items())
        random.Random(i).shuffle(turns)
        for name, way in turns:
            times[name].append(timed(lambda: way(a, w, out)))
    best = min(times, key=lambda name: statistics.median(times[name]))
    return ways[best], best, error


def timed(run):
    """ms of CALLS runs on the device."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda._sleep(SLEEP_CYCLES)
    start.record()
    for _ in range(CALLS):
        run()
    end.record()
    end.synchronize()
    return start.elapsed_time(end)
