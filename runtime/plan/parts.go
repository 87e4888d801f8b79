package plan

import (
	"fmt"

	"ovgen/runtime/driver"
	"ovgen/runtime/ipc"
)

// Buffer is memory that a plan uses: this rank's memory and, where peers use theirs too, the peers' memory.
type Buffer struct {
	name   string
	bytes  int64
	shared bool
	inLoop bool // exchanged by Queue.Share, not by Bind
	root   bool // only rank 0 has it
	// written says that runs write the buffer, so that no other buffer may share its memory.
	written bool
	alike   bool // all ranks must hold the same values
	rank    int
	at      []driver.Ptr // by rank, as mapped here; zero where it is not mapped
	offset  int64        // of staging: in the arena, or in memory of the plan
	uneven  *uneven      // of a buffer whose chunks differ in size; nil where they don't
	id      uint64       // BufferID of the memory that it was last bound to
	// imports by rank, as Share has exchanged them; only of an InLoop buffer.
	imports []*ipc.Import
}

// At is the address of this rank's buffer at an offset in bytes.
func (b *Buffer) At(off int64) driver.Ptr { return b.at[b.rank] + driver.Ptr(off) }

// Peer is the address of the given rank's buffer at an offset in bytes, as mapped here, of Shared or Allocate.
func (b *Buffer) Peer(rank int, off int64) driver.Ptr { return b.at[rank] + driver.Ptr(off) }

// exchanged reports whether Bind exchanges the buffer with the peers.
func (b *Buffer) exchanged() bool { return b.shared && !b.inLoop }

// present reports whether a rank has a part of the buffer.
func (b *Buffer) present(rank int) bool { return b.size(rank) > 0 }

// Semaphore is one word for each peer in each rank's arena. The poster writes 1
// into the waiter's arena, the waiter waits for 1 and writes 0.
type Semaphore struct {
	set    *semaphores
	member int
}

// semaphores are all semaphores of one name; their words lie one after the other.
type semaphores struct {
	name   string
	count  int
	blocks int          // blocks of a kernel that have separate words; 1 where words are not by blocks
	single bool         // made by Builder.Semaphore
	offset int64        // in the arena
	base   []driver.Ptr // by rank, as mapped here
}

// words is the number of words on a rank.
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

// word is the address of the word in holder's arena that rank from posts.
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

// Stream is a stream of a plan; a run is enqueued on the stream main.
type Stream struct {
	name      string
	index     int
	member    bool // of a set
	priority  driver.Priority
	handle    driver.Stream
	own       driver.Stream // the pooled stream: equal to handle, except for main
	step      driver.Ptr    // the stream's step word
	multiply  bool          // a product runs on it
	workspace driver.Ptr
	mark      int // the event that marks all work of this run on the stream, or unmarked
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
	called bool // a run calls it; no run does where a kernel makes the product
}

func (p *Product) empty() bool { return p.desc.M == 0 }

// Desc describes the product.
func (p *Product) Desc() driver.MatmulDesc { return p.desc }

// Kernel is a kernel of a plan.
type Kernel struct {
	name   string
	code   *driver.Kernel
	most   launch   // the largest number of blocks, and of threads of a block, among its launches in a run
	params []uint64 // Launch copies the parameters here, so that the caller's copy stays on its stack
	handle driver.Function
}
