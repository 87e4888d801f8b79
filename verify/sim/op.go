package sim

import (
	"fmt"
	"time"

	"ovgen/runtime/driver"
)

// kind is the kind of an operation.
type kind uint8

const (
	copyMemory kind = iota
	copyIn          // from the host
	copyOut         // to the host
	copyRows        // of memory, a range of each row
	setMemory
	batch
	record
	waitEvent
	matmul
	launchKernel
	launchGraph
	upload
	collective
)

var kindNames = [...]string{
	"copy", "copy from host", "copy to host", "copy of rows", "memset", "batch", "record event",
	"wait for event", "matmul", "kernel", "graph", "upload graph", "collective",
}

// task is the work of an operation; a graph node has one task for all replays.
type task struct {
	kind     kind
	dst, src driver.Ptr
	bytes    int64
	rows     driver.Memcpy2D // of a copy of rows
	value    uint32          // of a memset
	host     []byte          // the host's side of a copy
	items    []driver.MemOp  // of a batch
	event    *event          // of an external record or wait in a graph
	desc     driver.MatmulDesc
	halves   bool            // the two halves of the depth are added separately
	operands driver.Operands // of a matmul
	function *function
	grid     [3]uint32
	block    [3]uint32
	params   []uint64
	exec     *exec
	comm     *communicator
	together driver.CollectiveDesc // of a collective, from src to dst
}

// op is an operation on its way: enqueued in a stream, or a node of a launched
// graph. Its moments are step 0, 1, ... up to steps; the last completes it.
type op struct {
	task
	ctx    *Context
	stream *stream
	number int // on its stream
	node   int // of a graph, from 1
	issue  uint64
	weight int            // of a stream's depth
	known  *clock         // the host's knowledge when it enqueued
	clock  *clock         // of the stream or the node
	strand int            // the strand of that clock
	rec    *eventRecord   // the record that it makes or waits for
	binds  []*eventRecord // of a graph's external events, for one launch
	parent *op            // the launch, of a node
	at     *execNode      // of a node
	turn   uint64         // the number of a graph launch of its exec, or of a collective of its communicator
	before clock          // for a collective: the knowledge before it

	started bool
	done    bool
	step    int
	steps   int
	began   time.Duration
	length  time.Duration
	due     time.Duration // of the next step

	scratch []byte       // a copy between its read and its write
	floats  [3][]float32 // a matmul's operands and product
	scales  [2][]float32 // of its operands
	running kernelRun
}

// who names the operation in traces and reports.
func (o *op) who() Op {
	k := kindNames[o.kind]
	switch o.kind {
	case launchKernel:
		k = o.function.name
	case collective:
		k = string(o.together.Kind)
	}
	return Op{Rank: o.ctx.ordinal, Stream: o.stream.number, Number: o.number, Node: o.node, Kind: k, Bytes: o.bytes}
}

// String is "rank 0 stream 2 op 5 (copy)".
func (o Op) String() string {
	if o.Stream < 0 {
		return fmt.Sprintf("rank %d host (%s)", o.Rank, o.Kind)
	}
	s := fmt.Sprintf("rank %d stream %d op %d", o.Rank, o.Stream, o.Number)
	if o.Node > 0 {
		s += fmt.Sprintf(" node %d", o.Node)
	}
	return s + " (" + o.Kind + ")"
}

// waits describes the operation's wait.
func (o *op) waits() string {
	text := o.who().String()
	switch {
	case o.kind == batch && o.started && o.items[o.step-1].Kind == driver.WaitEqual:
		text += ": " + o.ctx.describeWait(o.items[o.step-1].Address, o.items[o.step-1].Value)
	case o.kind == launchKernel && o.started:
		text += ": " + o.ctx.describeWait(o.running.word, o.running.value)
	case o.kind == collective && o.started:
		text += fmt.Sprintf(": collective %d of rank %d, for its peers", o.turn+1, o.comm.rank)
	case o.kind == waitEvent && o.rec != nil && !o.rec.done:
		text += ": waits for an event of " + o.rec.by.String()
	}
	return text
}

func (c *Context) describeWait(p driver.Ptr, value uint32) string {
	m, word := c.at(p), c.word(p)
	if m == nil || word == nil {
		return fmt.Sprintf("waits for a word at %#x, which is no memory", uint64(p))
	}
	owner := c.ordinal
	if m.block != nil {
		owner = m.block.owner
	}
	return fmt.Sprintf("waits for word %#x of rank %d to be %d, it is %d", uint64(p-m.base), owner, value, *word)
}

// pools keep objects for reuse, so that steady runs allocate nothing.
type pools struct {
	ops     []*op
	records []*eventRecord
	bytes   [][]byte
	floats  [][]float32
}

// slab is the number of operations and records that are made at once.
const slab = 64

func (p *pools) newOp() *op {
	if len(p.ops) == 0 {
		many, items := make([]op, slab), make([]driver.MemOp, 8*slab)
		for i := range many {
			many[i].items = items[8*i : 8*i : 8*i+8]
			p.ops = append(p.ops, &many[i])
		}
	}
	o := p.ops[len(p.ops)-1]
	p.ops = p.ops[:len(p.ops)-1]
	return o
}

// giveOp takes back an operation that is done, with its slices.
func (p *pools) giveOp(o *op) {
	items, params, binds, before := o.items[:0], o.params[:0], o.binds[:0], o.before[:0]
	kept := kernelRun{touches: o.running.touches[:0], counted: o.running.counted[:0]}
	*o = op{}
	o.items, o.params, o.binds, o.running, o.before = items, params, binds, kept, before
	p.ops = append(p.ops, o)
}

// take finds a slice of n elements in a pool, or makes one.
func take[T any](pool *[][]T, n int) []T {
	for i, s := range *pool {
		if cap(s) >= n && cap(s) <= 4*n+64 {
			last := len(*pool) - 1
			(*pool)[i] = (*pool)[last]
			*pool = (*pool)[:last]
			return s[:n]
		}
	}
	return make([]T, n)
}

func give[T any](pool *[][]T, s []T) {
	if cap(s) > 0 && len(*pool) < 64 {
		*pool = append(*pool, s)
	}
}
