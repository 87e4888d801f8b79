package kernels

import (
	"fmt"

	"ovgen/runtime/driver"
	"ovgen/runtime/plan"
)

// Summing is a set of kernels whose sums take more than the partial results of ranks: tensors that are added last, a
// function of each element of the sum, which is applied before it is rounded, and a function of its rows behind that.
// The sums of a Set itself take nothing else.
type Summing struct {
	set     *Set
	columns int64 // of a term for each scale; 0: terms have no scales
	added   tensors
	beside  tensors // that the function of each element reads
	finish  Making
	rows    string // name of the function of rows; "": none
	spread  uint   // as Kernel.Spread
}

// MostBeside is the largest number of tensors that a sum adds, and of tensors that its function reads.
const MostBeside = 8

// tensors are addresses, at most MostBeside.
type tensors struct {
	n  int
	at [MostBeside]driver.Ptr
}

// Scaled is the set with terms of eight bits. All terms of a sum are followed by their scales, one number for each
// group of that many columns.
func (s Summing) Scaled(columns int64) Summing {
	s.columns = columns
	return s
}

// Adding is the set whose sums of packets or of tiles add tensors, each as large as the sum.
func (s Summing) Adding(tensors ...driver.Ptr) Summing {
	s.added.n = copy(s.added.at[:], tensors)
	return s
}

// Finishing is the set whose sums apply a function to each element before they round it. operands are the tensors that
// the function reads beside the sum.
func (s Summing) Finishing(m Making, operands ...driver.Ptr) Summing {
	s.finish, s.beside.n = m, copy(s.beside.at[:], operands)
	return s
}

// Making is the set whose next sum of packets sets dst to the result of a function of rows of the sum and of operands.
// operands ends with the operands of further functions. Each block has whole rows of the sum.
func (s Summing) Making(m Making, dst driver.Ptr, operands ...driver.Ptr) Summing {
	s.rows = m.word + " of other operands" // a name that no kernel has
	for _, k := range s.set.kernels {
		if k.Lands() && k.Made.word() == m.word && len(operands) == k.Made.beside() && m.count == k.numbers() &&
			m.given[0] > 0 {
			s.rows, k.params[k.At.Lands.Made] = m.word, uint64(dst)
			for i, x := range operands {
				k.params[k.At.Lands.Beside+i] = uint64(x)
			}
			copy(k.params[k.At.Given:], m.given[:m.count])
		}
	}
	return s
}

// Reduce sets bytes of dst to the sum of the terms in their order.
func (s Summing) Reduce(q *plan.Queue, on *plan.Stream, dst driver.Ptr, bytes int64, terms ...driver.Ptr) {
	s.sum(q, on, s.kernel(q, Reduce, nil, false), dst, bytes, terms)
}

// Widen is Reduce that keeps the sum in fp32: bytes is the size of dst.
func (s Summing) Widen(q *plan.Queue, on *plan.Stream, dst driver.Ptr, bytes int64, terms ...driver.Ptr) {
	s.sum(q, on, s.kernel(q, Widen, nil, false), dst, bytes, terms)
}

// Shot is Reduce that posts to every peer and waits for all of them, before and after.
func (s Summing) Shot(q *plan.Queue, on *plan.Stream, x plan.Signals, dst driver.Ptr, bytes int64,
	terms ...driver.Ptr) {
	x.From, x.To = plan.EveryPeer, plan.EveryPeer
	s.sum(q, on, s.signal(q, on, Shot, x), dst, bytes, terms)
}

// Packets sends each rank its part, of the given bytes, as packets. It sets dst to the sum of this rank's part and of
// the parts that land, in the order of ranks. parts are by rank; this rank's part is not sent.
func (s Summing) Packets(q *plan.Queue, on *plan.Stream, landing *plan.Packets, dst driver.Ptr, bytes int64,
	parts ...driver.Ptr) {
	s.landed(q, on, Packets, dst, bytes, parts, landing)
}

// Push is Packets with plain data instead of packets.
func (s Summing) Push(q *plan.Queue, on *plan.Stream, landing *plan.Packets, dst driver.Ptr, bytes int64,
	parts ...driver.Ptr) {
	s.landed(q, on, Push, dst, bytes, parts, landing)
}

// PacketSpread sends each rank its part, of the given bytes, as packets. It sets dst to the sum of this rank's part and
// of the parts that land, in the order of ranks. It sends results to all ranks, where the results of all ranks lie one
// after another: the sum, and the functions of its rows. A result whose landing in spread is nil stays. Further
// operands are of this rank's part.
func (s Summing) PacketSpread(q *plan.Queue, on *plan.Stream, landing *plan.Packets, spread []*plan.Packets,
	dst driver.Ptr, bytes int64, parts ...driver.Ptr) {
	landings := append(make([]*plan.Packets, 0, 8), landing)
	for i, x := range spread {
		if x != nil {
			s.spread, landings = s.spread|1<<i, append(landings, x)
		}
	}
	s.landed(q, on, PacketSpread, dst, bytes, parts, landings...)
}

// landed launches a kernel that sums the parts that land.
func (s Summing) landed(q *plan.Queue, on *plan.Stream, kind Kind, dst driver.Ptr, bytes int64, parts []driver.Ptr,
	landings ...*plan.Packets) {
	k := s.set.send(q, on, s.kernel(q, kind, nil, false), landings...)
	if k == nil {
		return
	}
	for i, x := range s.added.at[:k.Added] {
		k.params[k.At.Lands.Added+i] = uint64(x)
	}
	k.terms(q, on, s.set.element.Size(), dst, bytes, parts)
}

// sum launches the sum of the terms.
func (s Summing) sum(q *plan.Queue, on *plan.Stream, k *kernel, dst driver.Ptr, bytes int64, terms []driver.Ptr) {
	if k == nil {
		return
	}
	if k.Coded != 0 {
		k.params[k.At.Scaled] = uint64(s.columns)
	}
	k.terms(q, on, k.To(s.set.element).Size(), dst, bytes, terms)
}

// kernel is the kernel of a kind that takes what the sum takes, with the parameters of the function of each element.
// Without such a kernel the run fails.
func (s Summing) kernel(q *plan.Queue, kind Kind, x *plan.Signals, bias bool) *kernel {
	k := s.find(kind, x, bias)
	if k == nil {
		q.Fail(fmt.Errorf("launch kernel %s: the package has none with these signals and functions", kind))
		return nil
	}
	s.tell(k)
	return k
}

// tell fills in the parameters of the function of each element, if the kernel has one.
func (s Summing) tell(k *kernel) {
	for i, x := range s.beside.at[:s.beside.n] {
		k.params[k.At.Finish+i] = uint64(x)
	}
	copy(k.params[k.At.Finish+s.beside.n:], s.finish.given[:s.finish.count])
}

// find returns the kernel of a kind with the given signals that takes what the sum takes, or nil.
func (s Summing) find(kind Kind, x *plan.Signals, bias bool) *kernel {
	for _, k := range s.set.kernels {
		if k.Kind == kind && k.Spread == s.spread && (x == nil || k.fits(x)) && k.Bias == bias &&
			k.Added == s.added.n && (k.Coded != 0) == (s.columns > 0) &&
			k.Finish.word() == s.finish.word && k.Made.word() == s.rows &&
			(k.Finish == nil || k.Finish.beside() == s.beside.n && k.Finish.counts(false) == s.finish.count) {
			return k
		}
	}
	return nil
}

// word is the name of a function; "" where there is none.
func (m *Made) word() string {
	if m == nil {
		return ""
	}
	return m.Word
}
