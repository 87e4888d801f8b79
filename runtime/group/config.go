package group

import (
	"io"
	"time"

	"ovgen/runtime/driver"
	"ovgen/runtime/group/store"
	"ovgen/runtime/launcher"
)

// Config describes this rank and its resources to Join. The zero value takes everything from the environment that
// launch.Command, torchrun, mpirun or srun sets.
type Config struct {
	// Rank and Size of the group. Size 0 reads them from the launcher's variables (see launcher.FindPlace) and, where
	// Job is empty, the job's name and, where Devices is nil, the device.
	Rank, Size int
	// Job names the group on this machine: all its ranks and no others use it.
	Job string
	// Local says that all ranks of the group are in this process, each on a device of its own and driven by
	// its own goroutine. Instead of CUDA IPC they give each other's devices access to memory of the group's
	// Driver, and to other memory that is mapped (cuMemMap). JoinAll sets it.
	Local bool
	// Host names the host that this rank counts as, so that ranks of one machine can play several hosts:
	// only ranks of one name reach each other's memory, and between hosts NCCL carries. Ranks are numbered host
	// by host, as many on each. Empty reads OVGEN_HOST, and is the machine without it.
	Host string
	// Driver is an opened device, left open by Close; nil opens one of Backend.
	Driver driver.Driver
	// Decorate wraps the driver that Join opens, for tests that delay or fail its calls; nil leaves it as it is.
	Decorate func(driver.Driver) driver.Driver
	// Backend is "cuda", "sim" or "auto": cuda where there are enough devices with peer access, else sim if the binary
	// has it; Group.Choice says which and why. Empty reads OVGEN_DRIVER, and is cuda without it: a server that finds no
	// GPUs ends with an error instead of running a thousand times slower.
	Backend string
	// Devices are the ordinals of the ranks' devices, by rank; nil means that
	// rank r takes device r, or the one of its local rank under a launcher.
	Devices []int
	// Context is a CUcontext made elsewhere, used as it is; 0 means the device's primary context. Close leaves it open.
	Context uintptr
	// Arena is the device memory for words and staging in bytes, the same on all ranks; 0 means DefaultArena. Plans
	// share the staging, and each keeps a word for each of its semaphores and ranks. The arena has a word for each 256
	// of its bytes, and at least 65536 words. A plan by packets also keeps the memory in which its packets land.
	// ArenaBytes computes the size from the needs of the plans, and plan.Memory the needs of one plan.
	Arena int64
	// Apart lets ranks join whose devices have no access to each other's memory. The group then makes plans of
	// schedules by NCCL only and, where each rank reaches the rank before it and the rank after it, by rings.
	// Group.Choice says so. It is the same on all ranks.
	Apart bool
	// FallBack lets operations of package tuned run by NCCL where the links or the arena rule out every other schedule,
	// and lets plans by NCCL allocate memory of their own where the arena has no room. Choice says so. Ranks that are
	// Apart fall back in any case. It is the same on all ranks.
	FallBack bool
	// Symmetric is how much memory Group.Symmetric has, in bytes, the same on all ranks; 0 means none, and nothing of
	// it is made. It needs NCCL 2.27 or newer and ranks of one host. Join makes NCCL's communicator then.
	Symmetric int64
	// Unabortable takes symmetric memory also where an abort would not end its collectives, as by NCCL before 2.29.7:
	// where one hangs, the process must end. Else Join refuses it with an *UnabortableError.
	Unabortable bool
	// Graphs is how many graphs of its own each plan keeps, for the bindings that Replay or Run used
	// last; 0 means DefaultGraphs. The layers that share a plan need one each, unless the caller captures
	// them in a graph of its own: CUDA takes device memory for every one.
	Graphs int
	// Cache is the folder of the file in which the driver that Join opens keeps the algorithms that products were
	// tuned to; "off" keeps none. Empty reads OVGEN_CACHE, and is ovgen in the user's cache folder without it.
	Cache string
	// Dump lists, in words with commas, the descriptions that each plan writes when it is bound: host, the steps of a
	// run; ops, the calls that enqueue it, with addresses and sizes; plans, its buffers, semaphores, streams and tuned
	// products; and json, for a line of JSON in place of text. An address that a run exchanges itself is "-". Empty
	// reads OVGEN_DUMP. Other words are refused, and all words where the program does not import package dump.
	Dump string
	// DumpTo takes that, a Write for each Bind of a rank; nil is the standard error.
	DumpTo io.Writer
	// Check has ranks compare the operands that all must hold alike, ahead of each run outside of captures, which is
	// collective then; where they differ no rank begins it. It is the same on all ranks, and refused where the program
	// does not import package alike. False reads OVGEN_CHECK, of which any text says true.
	Check bool
	// Timeout is the default of the three bounds that follow; 0 means DefaultTimeout. A negative bound is refused.
	Timeout time.Duration
	// JoinTimeout bounds the rendezvous and each step that Join takes on all ranks.
	// Ranks that start unevenly need a long one.
	JoinTimeout time.Duration
	// CallTimeout bounds each collective call, such as the New, Bind and Close of a plan,
	// counted from the first rank's call. Rank 0's counts for all ranks. A rank that loads
	// weights between two calls keeps its peers waiting that long.
	CallTimeout time.Duration
	// RunTimeout bounds a run from its Begin until it has drained, and a Watch,
	// unless its context has a deadline of its own.
	RunTimeout time.Duration
	// Network connects the ranks. Nil means store.TCP where OVGEN_ADDR is set, with the token of OVGEN_TOKEN or
	// OVGEN_TOKEN_FILE, and else store.Unix(), of one machine.
	Network store.Network

	dump  func(Tracer) error // of Dump
	place *launcher.Place    // that the launcher gave, where Size was 0
}

// Defaults of Config.
const (
	DefaultArena   = 256 << 20
	DefaultTimeout = 30 * time.Second
	DefaultGraphs  = 128
)
