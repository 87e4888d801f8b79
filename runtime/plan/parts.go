package plan

import (
	"fmt"

	"ovgen/runtime/driver"
	"ovgen/runtime/ipc"
)

// Buffer is memory that a plan uses, on this rank and where peers use it too on theirs.
type Buffer struct {
	name   string
	bytes  int64
	shared bool
	inLoop bool // exchanged by Queue.Share, not by Bind
	root   bool // rank 0 alone has it
	// written says that runs write it, so that no other may share its memory.
	written bool
	alike   bool // all ranks must hold the same values
	rank    int
	at      []driver.Ptr // by rank, as mapped here; zero where it is not
	offset  int64        // of staging: in the arena, or in the plan's own memory
	uneven  *uneven      // its chunks differ; nil where they don't
	id      uint64       // BufferID of the memory that it was last bound to
	// imports by rank, as Share has exchanged them; of an InLoop buffer only.
	imports []*ipc.Import
}

// At is the address of this rank's buffer at an offset in bytes.
func (b *Buffer) At(off int64) driver.Ptr { return b.at[b.rank] + driver.Ptr(off) }

// Peer is the address of that rank's buffer at an offset in bytes, as mapped
// here; the buffer is a Shared or an Allocate one.
func (b *Buffer) Peer(rank int, off int64) driver.Ptr { return b.at[rank] + driver.Ptr(off) }

// exchanged says that Bind hands the buffer to the peers.
func (b *Buffer) exchanged() bool { return b.shared && !b.inLoop }

// present says whether a rank has anything of the buffer.
func (b *Buffer) present(rank int) bool { return b.size(rank) > 0 }

// Semaphore is one word for each peer in each rank's arena. The poster writes 1
// into the waiter's arena, the waiter waits for 1 and writes 0.
type Semaphore struct {
	set    *semaphores
	member int
}

// semaphores are the members of one name, their words one after the other.
type semaphores struct {
	name   string
	count  int
	blocks int          // of kernels that have these words each, 1 where words are not by blocks
	single bool         // made by Builder.Semaphore
	offset int64        // in the arena
	base   []driver.Ptr // by rank, as mapped here
}

// words are how many there are on a rank.
func (s *semaphores) words(ranks int) int { return s.count * ranks * s.blocks }

// stride is the distance between consecutive blocks' words.
func (s *semaphores) stride() int { return s.count * len(s.base) }

// String is "ready", or "ready[8]" of a set of eight.
func (s *semaphores) String() string {
	if s.single {
		return s.name
	}
	return fmt.Sprintf("%s[%d]", s.name, s.count)
}

// word is where from posts to holder.
func (s *Semaphore) word(holder, from int) driver.Ptr {
	return s.set.base[holder] + driver.Ptr(4*(s.member*len(s.set.base)+from))
}

// String is the semaphore's name in host programs: "ready", "ready[2]".
func (s *Semaphore) String() string {
	if s.set.single {
		return s.set.name
	}
	return fmt.Sprintf("%s[%d]", s.set.name, s.member)
}

// Stream is a stream of a plan; main is the one that a run is enqueued on.
type Stream struct {
	name      string
	index     int
	member    bool // of a set
	priority  driver.Priority
	handle    driver.Stream
	own       driver.Stream // the pooled stream: handle, but for main
	step      driver.Ptr    // the stream's step word
	multiply  bool          // a product runs on it
	workspace driver.Ptr
	mark      int // the event that marks all it holds of this run, or unmarked
}

const unmarked = -1

// String is the stream's name in host programs: "copy", "work[2]".
func (s *Stream) String() string {
	if !s.member {
		return s.name
	}
	return fmt.Sprintf("%s[%d]", s.name, s.index)
}

// Product is a matrix product of a plan. A queue skips a product without rows.
type Product struct {
	desc   driver.MatmulDesc
	handle driver.Product
	called bool // by a run: none calls it where a kernel makes the product
}

func (p *Product) empty() bool { return p.desc.M == 0 }

// Desc is the product.
func (p *Product) Desc() driver.MatmulDesc { return p.desc }

// Kernel is a kernel of a plan.
type Kernel struct {
	name   string
	code   *driver.Kernel
	most   launch   // the most blocks, and threads of a block, of its launches in a run
	params []uint64 // where Launch copies them, so that the caller's stay on its stack
	handle driver.Function
}
