"""The C library of ovgen (ovgen gen -c) by ctypes alone: group, plans, errors.

The header, ovgen.h, says what the calls do, who owns what and which thread may call. ctypes
lets go of Python's lock during a call, so other threads go on while one waits.
"""
import ctypes

BF16, FP16, FP32 = 1, 2, 3


class Error(Exception):
    """A call failed; the group goes on."""


class Dead(Error):
    """The group was aborted or is closed: close it, and join again as another job."""


class Shape(ctypes.Structure):
    """struct ovgen_NAME_shape of the schedules over M, K and N"""
    _fields_ = [("M", ctypes.c_int64), ("K", ctypes.c_int64), ("N", ctypes.c_int64), ("element", ctypes.c_int)]


class Config(ctypes.Structure):
    """struct ovgen_config; zeros leave the choice to the launcher's variables."""
    _fields_ = [("rank", ctypes.c_int), ("size", ctypes.c_int), ("job", ctypes.c_char_p), ("backend", ctypes.c_char_p),
                ("device", ctypes.POINTER(ctypes.c_int)), ("context", ctypes.c_void_p),
                ("arena_bytes", ctypes.c_int64), ("timeout_ms", ctypes.c_int64),
                ("join_timeout_ms", ctypes.c_int64), ("call_timeout_ms", ctypes.c_int64),
                ("run_timeout_ms", ctypes.c_int64), ("symmetric_bytes", ctypes.c_int64), ("unabortable", ctypes.c_int)]


class Memory(ctypes.Structure):
    """struct ovgen_memory: what a plan needs on a rank, in bytes but for words."""
    _fields_ = [(n, ctypes.c_int64) for n in ("caller_bytes", "arena_bytes", "staging_bytes", "words",
        "packets_bytes", "workspace_bytes", "tuning_bytes")]


HANDLE, ADDRESS, TIME, STREAM = ctypes.c_size_t, ctypes.c_uint64, ctypes.c_int64, ctypes.c_void_p
SIGNATURES = {
    "join": (ctypes.c_void_p, TIME, ctypes.c_void_p), "place": (HANDLE, ctypes.c_void_p, ctypes.c_void_p),
    "err": (HANDLE,),
    "abort": (HANDLE, ctypes.c_char_p), "watch": (HANDLE, STREAM, TIME), "close": (HANDLE, TIME),
    "enqueue": (HANDLE, STREAM), "replay": (HANDLE, STREAM), "run": (HANDLE, TIME), "plan_close": (HANDLE, TIME),
    "synchronize": (HANDLE, STREAM), "alloc": (HANDLE, ctypes.c_int64, ctypes.c_void_p),
    "free_device": (HANDLE, ADDRESS), "symmetric": (HANDLE, ctypes.c_int64, ctypes.c_void_p),
    "copy_to": (HANDLE, ADDRESS, ctypes.c_void_p, ctypes.c_int64),
    "copy_from": (HANDLE, ctypes.c_void_p, ADDRESS, ctypes.c_int64),
}
# Of each schedule: ovgen_NAME_new and so on.
SCHEDULE = {
    "new": (HANDLE, ctypes.c_void_p, TIME, ctypes.c_void_p), "bind": (HANDLE, ctypes.c_void_p, TIME),
    "memory": (ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p),
}


class Library:
    """The shared library. It stays loaded; load it after the last fork."""

    def __init__(self, path):
        self.c = ctypes.CDLL(path)
        self.c.ovgen_free.argtypes, self.c.ovgen_free.restype = [ctypes.c_void_p], None

    def call(self, name, *args):
        """Calls ovgen_NAME and raises its error."""
        f = getattr(self.c, "ovgen_" + name)
        signature = SIGNATURES.get(name) or SCHEDULE[name.rsplit("_", 1)[1]]
        f.argtypes, f.restype = [*signature, ctypes.c_void_p], ctypes.c_int
        err = ctypes.c_void_p()
        status = f(*args, ctypes.addressof(err))
        if status:
            text = ctypes.string_at(err.value).decode(errors="replace")
            self.c.ovgen_free(err)
            raise (Dead if status == 2 else Error)(text)

    def memory(self, schedule, shape, ranks):
        """Memory of a plan on each of so many ranks. It needs neither a group nor a GPU."""
        m = Memory()
        self.call(schedule + "_memory", ctypes.addressof(shape), ranks, ctypes.addressof(m))
        return m


class Group:
    """This process's membership in a group of ranks. Making and closing it is collective."""

    def __init__(self, library, device=None, timeout_ms=0, **config):
        """config has more fields of Config: rank, size, job, backend, context, arena_bytes."""
        self.library, self.handle = library, HANDLE()
        c = Config(timeout_ms=timeout_ms, **config)
        if device is not None:
            c.device = ctypes.pointer(ctypes.c_int(device))
        library.call("join", ctypes.addressof(c), 0, ctypes.addressof(self.handle))
        rank, size = ctypes.c_int(), ctypes.c_int()
        library.call("place", self.handle, ctypes.addressof(rank), ctypes.addressof(size))
        self.rank, self.size = rank.value, size.value

    def check(self):
        """Raises Dead if the group was aborted. After a synchronisation it means that results are right."""
        self.library.call("err", self.handle)

    def abort(self, reason):
        self.library.call("abort", self.handle, reason.encode())

    def watch(self, stream, timeout_ms=0):
        """Waits for the stream, whose graph may hold runs, and aborts the group when the time is up."""
        self.library.call("watch", self.handle, stream, timeout_ms)

    def close(self, timeout_ms=0):
        self.library.call("close", self.handle, timeout_ms)


class Plan:
    """A schedule made ready for one shape, both as the header has them. Collective, as close is, and bind where
    memory that peers use is new."""

    def __init__(self, group, schedule, shape, timeout_ms=0):
        self.library, self.schedule, self.handle = group.library, schedule, HANDLE()
        self.library.call(schedule + "_new", group.handle, ctypes.addressof(shape), timeout_ms,
            ctypes.addressof(self.handle))

    def bind(self, buffers, timeout_ms=0):
        self.library.call(self.schedule + "_bind", self.handle, ctypes.addressof(buffers), timeout_ms)

    def enqueue(self, stream):
        """One run after what the stream holds, also under capture; stream is a CUstream as a number."""
        self.library.call("enqueue", self.handle, stream)

    def replay(self, stream):
        """enqueue by one launch of the plan's own graph; not under capture."""
        self.library.call("replay", self.handle, stream)

    def run(self, timeout_ms=0):
        self.library.call("run", self.handle, timeout_ms)

    def close(self, timeout_ms=0):
        self.library.call("plan_close", self.handle, timeout_ms)
