package group

import (
	"time"

	"ovgen/runtime/driver"
	"ovgen/runtime/group/store"
)

// Config tells Join who this rank is and what it brings. The zero value takes
// everything from the environment that Launch, torchrun, mpirun or srun sets.
type Config struct {
	// Rank and Size of the group. Size 0 reads them from the launcher's variables
	// (see Placed) and, where Job is empty, the job's name and, where Devices is
	// nil, the device.
	Rank, Size int
	// Job names the group on this machine: all its ranks and no others use it.
	Job string
	// Driver is an opened device, left open by Close; nil opens one of Backend.
	Driver driver.Driver
	// Decorate wraps the driver that Join opens, for tests that delay or fail
	// its calls; nil leaves it as it is.
	Decorate func(driver.Driver) driver.Driver
	// Backend is "cuda", "sim" or "auto": cuda where there are enough devices
	// with peer access, else sim if the binary has it; Group.Choice says which
	// and why. Empty reads OVGEN_DRIVER, and is cuda without it: a server that
	// finds no GPUs ends with an error instead of running a thousand times slower.
	Backend string
	// Devices are the ordinals of the ranks' devices, by rank; nil means that
	// rank r takes device r, or the one of its local rank under a launcher.
	Devices []int
	// Context is a CUcontext made elsewhere, used as it is; 0 means the
	// device's primary context.
	Context uintptr
	// Arena is the device memory for words and staging in bytes, the same on
	// all ranks; 0 means DefaultArena.
	Arena int64
	// Timeout bounds the rendezvous, each collective call, and an eager run
	// from its Enqueue on; 0 means DefaultTimeout.
	Timeout time.Duration
	// Network connects the ranks; nil means store.Unix().
	Network store.Network

	place *Place // that the launcher gave, where Size was 0
}

// Defaults of Config.
const (
	DefaultArena   = 256 << 20
	DefaultTimeout = 30 * time.Second
)
