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
	// Local says that all ranks of the group are in this process: each has a device and is driven by a goroutine.
	// Instead of CUDA IPC, the ranks give each other's devices access to memory of the group's Driver, and to other
	// memory that is mapped (cuMemMap). JoinAll sets it.
	Local bool
	// Host names the host that this rank counts as, so that the ranks of one machine can play several hosts. Only ranks
	// with the same name reach each other's memory; NCCL carries data between hosts. Ranks are numbered host by host,
	// and every host has the same number of ranks. Empty reads OVGEN_HOST, and that being empty is the machine.
	Host string
	// Driver is an opened device, left open by Close; nil opens one of Backend.
	Driver driver.Driver
	// Decorate wraps the driver that Join opens, for tests that delay or fail its calls; nil leaves it as it is.
	Decorate func(driver.Driver) driver.Driver
	// Backend is "cuda", "sim" or "auto". Auto is cuda where there are enough devices with peer access, else sim if the
	// binary has it; Group.Choice says which and why. Empty reads OVGEN_DRIVER; where that is empty too, Backend is
	// cuda: a server that finds no GPUs then ends with an error instead of running a thousand times slower.
	Backend string
	// Devices are the ordinals of the ranks' devices, by rank. Where it is nil, rank r takes device r or, under a
	// launcher, the device whose ordinal is its local rank.
	Devices []int
	// Context is a CUcontext made elsewhere, used as it is; 0 means the device's primary context. Close leaves it open.
	Context uintptr
	// Arena is the device memory for words and staging in bytes, the same on all ranks; 0 means DefaultArena. All plans
	// share the staging. Each plan keeps a word for each of its semaphores and ranks. The arena has a word for each 256
	// of its bytes, and at least 65536 words. A plan by packets also keeps the memory in which its packets land.
	// ArenaBytes computes the size from the needs of the plans; plan.Memory computes the needs of one plan.
	Arena int64
	// Apart lets ranks join whose devices have no access to each other's memory. The group then makes plans of
	// schedules by NCCL only and, where each rank reaches the rank before it and the rank after it, by rings.
	// Group.Choice says so. It is the same on all ranks.
	Apart bool
	// FallBack lets operations of package tuned run by NCCL where the links or the arena rule out every other schedule.
	// It also lets plans by NCCL allocate memory outside the arena where the arena has no room. Group.Choice says so.
	// Ranks that are Apart fall back in any case. It is the same on all ranks.
	FallBack bool
	// Symmetric is the size of the memory of Group.Symmetric in bytes, the same on all ranks; 0 means that the group
	// has no symmetric memory. It needs NCCL 2.27 or newer and ranks of one host. Join makes NCCL's communicator then.
	Symmetric int64
	// Unabortable accepts symmetric memory also where an abort would not end its collectives, as with NCCL before
	// 2.29.7: if such a collective hangs, the process must end. Without it Join refuses such memory with an
	// *UnabortableError.
	Unabortable bool
	// Graphs is the number of graphs that each plan keeps, for the bindings that Replay or Run used last; 0 means
	// DefaultGraphs. Each layer that shares a plan needs one graph, unless the caller captures them in a graph itself.
	// CUDA takes device memory for every graph.
	Graphs int
	// Cache is the folder of the file in which the driver that Join opens keeps the tuned algorithms of products; "off"
	// keeps no file. Empty reads OVGEN_CACHE; where that is empty too, the folder is ovgen in the user's cache folder.
	Cache string
	// Dump lists, separated by commas, the descriptions that each plan writes when it is bound: host, the steps of a
	// run; ops, the calls that enqueue it, with addresses and sizes; plans, its buffers, semaphores, streams and tuned
	// products; and json, for a line of JSON in place of text. An address that the ranks exchange only during a run is
	// "-". Empty reads OVGEN_DUMP. Join refuses other words, and refuses all words where the program does not import
	// package dump.
	Dump string
	// DumpTo takes the descriptions of Dump, in one Write for each Bind of a rank; nil is the standard error.
	DumpTo io.Writer
	// Check makes the ranks compare, ahead of each run outside of captures, the operands that all ranks must hold
	// alike. The run is then collective, and no rank begins it where the operands differ. Check is the same on all
	// ranks. Join refuses it where the program does not import package alike. False reads OVGEN_CHECK: text is true.
	Check bool
	// Timeout is the default of the three bounds that follow; 0 means DefaultTimeout. A negative bound is refused.
	Timeout time.Duration
	// JoinTimeout bounds the rendezvous and each step that Join takes on all ranks.
	// Ranks that start unevenly need a long one.
	JoinTimeout time.Duration
	// CallTimeout bounds each collective call, such as the New, Bind and Close of a plan, counted from the first rank's
	// call. Rank 0's CallTimeout holds for all ranks. A rank that loads weights between two calls keeps its peers
	// waiting that long.
	CallTimeout time.Duration
	// RunTimeout bounds a run from its Begin until it has drained, and a Watch, unless the context has a deadline.
	RunTimeout time.Duration
	// Network connects the ranks. Nil means store.TCP where OVGEN_ADDR is set, with the token of OVGEN_TOKEN or
	// OVGEN_TOKEN_FILE, and otherwise store.Unix(), which joins ranks of one machine.
	Network store.Network

	dump  func(Tracer) error // writes about a bound plan, by Dump
	place *launcher.Place    // from the launcher, where Size was 0
}

// Defaults of Config.
const (
	DefaultArena   = 256 << 20
	DefaultTimeout = 30 * time.Second
	DefaultGraphs  = 128
)
