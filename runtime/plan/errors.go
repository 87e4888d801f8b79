package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Errors of a plan that was used wrongly.
var (
	ErrClosed   = errors.New("the plan is closed")
	ErrNotBound = errors.New("the plan is not bound " +
		"(call Bind with its buffers first; after a Bind that failed, again)")
	ErrEager = errors.New("the program must not be captured into a graph " +
		"(use Enqueue on a stream that is not being captured)")
	ErrUnmade = errors.New("no New has made the plan (use the one that the package's New returns)")
	ErrBusy   = errors.New("another goroutine is using the plan " +
		"(the plans of a group run in one sequence: serialise their calls with a mutex)")
)

const plainWays = "schedule.Pull or schedule.Slots" // TestWaysInErrors of verify/harness holds ways against facts

// UnprovenError says that a program carries no proof, for any size of the group.
type UnprovenError struct{ Program string }

// Error names the command that proves programs.
func (e *UnprovenError) Error() string {
	return fmt.Sprintf("%s is not proven (emit it by ovgen gen PACKAGE, which proves it)", e.Program)
}

// LinkError says that a program needs NVLink between two ranks whose devices are not joined by it.
type LinkError struct {
	Program string
	Ranks   [2]int // the ranks whose devices are joined otherwise
}

// Error names the values to use instead.
func (e *LinkError) Error() string {
	return fmt.Sprintf("%s puts into peers' memory and signals that by stream memory operations, whose order CUDA "+
		"keeps over NVLink only, and the devices of ranks %d and %d are joined otherwise "+
		"(let kernels signal: By: schedule.KernelSignals; or let peers pull)", e.Program, e.Ranks[0], e.Ranks[1])
}

// ApartError says that a program uses peers' memory, and the group's ranks can't reach it.
type ApartError struct {
	Program string
	Ring    bool // the ranks reach their neighbours' memory
}

// Error names the values to use instead.
func (e *ApartError) Error() string {
	use := "a schedule by schedule.NCCL"
	if e.Ring {
		use += ", or by schedule.Ring or schedule.PushRing, which use neighbours' memory alone"
	}
	return fmt.Sprintf("%s uses peers' memory, and ranks of this group can't map each other's "+
		"(Group.Choice says which; use %s)", e.Program, use)
}

// HostsError says that a program is for ranks of one host, and the group has ranks on several hosts.
type HostsError struct {
	Program string
	Hosts   int
}

// Error names the values to use instead.
func (e *HostsError) Error() string {
	return fmt.Sprintf("%s is for ranks of one host, and this group's are on %d (use a schedule whose Mesh is "+
		"schedule.Hosts())", e.Program, e.Hosts)
}

// BlocksError says that the blocks of a kernel, which wait for the peers' blocks, may not all be on the device at once.
type BlocksError struct {
	Program string
	Blocks  int // of a launch, at most
	Have    int // multiprocessors of the device
}

// Error names the values to use instead.
func (e *BlocksError) Error() string {
	return fmt.Sprintf("%s has kernels of %d blocks that wait for peers side by side, and the device has %d "+
		"multiprocessors (use a schedule whose kernels signal as a whole, such as one by "+plainWays+")",
		e.Program, e.Blocks, e.Have)
}

// RoomError says that the device has no room for all blocks of a kernel at the same time, some of which wait.
type RoomError struct {
	Program, Kernel string
	Blocks          int // of a launch, at most
	Threads, Shared int // of a block: its threads, and bytes of dynamic shared memory
	Each            int // blocks that a multiprocessor has room for
	Multiprocessors int // of the device
}

// Error names the values to use instead.
func (e *RoomError) Error() string {
	return fmt.Sprintf("kernel %s of %s has up to %d blocks that must run at the same time, each of %d threads and %d "+
		"bytes of shared memory, and the device has room for %d (%d on each of %d multiprocessors): use a larger "+
		"slice of the GPU, or a schedule whose kernels wait for no blocks, such as one by "+plainWays,
		e.Kernel, e.Program, e.Blocks, e.Threads, e.Shared, e.Each*e.Multiprocessors, e.Each, e.Multiprocessors)
}

// CapabilityError says that a kernel of a program was made for other GPUs than this device.
type CapabilityError struct {
	Program, Kernel string
	Needs, Have     int  // compute capabilities: 90 for 9.0
	Later           bool // later capabilities do as well
}

// Error names the values to use instead.
func (e *CapabilityError) Error() string {
	which, instead := "alone", "use a schedule without tiles, such as one by "+plainWays
	if e.Later {
		which, instead = "or later", "use a schedule without Constant, and without Quantise to eight bits"
	}
	return fmt.Sprintf("kernel %s of %s runs on GPUs of compute capability %d.%d %s, and this one has %d.%d (%s)",
		e.Kernel, e.Program, e.Needs/10, e.Needs%10, which, e.Have/10, e.Have%10, instead)
}

// RanksError says that a program was not proven for the size of the group.
type RanksError struct {
	Program string
	Proven  []int
	Size    int
}

// Error names the command that proves the program for this size.
func (e *RanksError) Error() string {
	all := append([]int{e.Size}, e.Proven...) // a copy, so that Proven stays
	return fmt.Sprintf("%s is proven for groups of %s ranks, not of %d "+
		"(prove and emit it for them too: ovgen gen -ranks %d..%d PACKAGE)",
		e.Program, numbers(e.Proven), e.Size, slices.Min(all), slices.Max(all))
}

// DisagreementError says that ranks called New or Bind of one plan with different values.
type DisagreementError struct {
	What   string   // "program", "shape", "layout"
	Values []string // by rank
	Do     string   // the remedy
}

// Error names the ranks that have each value, and the remedy.
func (e *DisagreementError) Error() string {
	var parts []string
	for i, v := range e.Values {
		if slices.Index(e.Values, v) < i {
			continue
		}
		var who []int
		for r, w := range e.Values {
			if w == v {
				who = append(who, r)
			}
		}
		has := "has"
		if len(who) > 1 {
			has = "have"
		}
		parts = append(parts, fmt.Sprintf("%s %s %s", ranks(who), has, v))
	}
	return fmt.Sprintf("the ranks disagree on the %s: %s (%s)", e.What, strings.Join(parts, "; "), e.Do)
}

// RankError is a failure of another rank in a collective call. The call failed on all ranks, and the group goes on.
type RankError struct {
	Rank int
	Text string // that rank's error
}

// Error begins with the rank.
func (e *RankError) Error() string { return fmt.Sprintf("rank %d: %s", e.Rank, e.Text) }

func ranks(list []int) string {
	if len(list) == 1 {
		return fmt.Sprintf("rank %d", list[0])
	}
	return "ranks " + numbers(list)
}

func numbers(list []int) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(list), "[]"), " ", ", ")
}
