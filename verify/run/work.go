package run

import (
	"cmp"
	"errors"
	"slices"

	"ovgen/runtime/driver"
	"ovgen/schedule"
	"ovgen/verify/reading"
	"ovgen/verify/reference"
)

// task is one product of a rank's work. Where the ranks have parts of an operand that the product needs whole, its
// operands are gathered; where the ranks' products are partial, its operands are the rank's parts.
type task struct {
	reference.Product
	whole, chunk driver.Product // chunk: for a rank's share of the rows
	at           driver.Operands
}

// addTasks makes the rank's products, and the memory that they need beside the plan's tensors.
func (l *lab) addTasks(in map[string]reference.Input, s driver.Stream) error {
	made := map[string]driver.Ptr{}
	for _, step := range l.Problem.Steps() {
		if step.Does != reference.Multiplies {
			continue
		}
		p, ranks := step.Product, l.r.Size()
		if slices.Contains(l.Problem.Hidden(), step.C) && step.Ranks == 0 {
			p.N /= ranks
		}
		if p.Parts > 1 && l.Problem.Reduces() {
			p.K /= ranks
		}
		narrow := p.Narrow
		if narrow { // no library makes it: a weight of the rows' type takes its place
			p.Operand, p.OperandB, p.RowScales, p.BlockScales, p.Narrow = 0, 0, false, false, false
		}
		w := task{Product: p, at: driver.Operands{Workspace: l.r.Space}}
		scaleA, scaleB := driver.MatmulDesc{M: p.M, K: p.K, N: p.N, Type: p.Type, Of: p.Operand, RowScales: p.RowScales,
			BlockScales: p.BlockScales}.Scales()
		for _, x := range []struct {
			to       *driver.Ptr
			name     string
			elements int
		}{{&w.at.A, step.A, p.M * p.K}, {&w.at.B, step.B, p.K * p.N}, {&w.at.Bias, step.Bias, p.N},
			{&w.at.ScaleA, l.Problem.Tensor(step.A).Scale, scaleA},
			{&w.at.ScaleB, l.Problem.Tensor(step.B).Scale, scaleB}, {&w.at.C, step.C, p.M * p.N}} {
			if x.name == "" {
				continue
			}
			at, err := l.operand(x.name, x.elements, made, in, s)
			if err != nil {
				return err
			}
			*x.to = at
		}
		var err, wrong error
		if narrow {
			if w.at.B, err = l.AllocOf(step.C, p.K*p.N); err == nil {
				err = l.r.Kernels.Make(w.at.B, p.Type, in[step.B], reading.Whole(p.K*p.N), s)
			}
			if err != nil {
				return err
			}
		}
		w.whole, err = l.Product(p, w.at.Bias != 0)
		if p.M%ranks == 0 && !p.TransposedA {
			p.M /= ranks
			w.chunk, wrong = l.Product(p, w.at.Bias != 0)
		}
		if err := errors.Join(err, wrong); err != nil {
			return err
		}
		l.tasks = append(l.tasks, w)
	}
	return nil
}

// operand is the rank's part of a tensor if it has enough elements, or else a larger part, which is made once and
// filled.
func (l *lab) operand(name string, elements int, made map[string]driver.Ptr, in map[string]reference.Input,
	s driver.Stream) (driver.Ptr, error) {
	if l.Parts[name].Count == elements {
		return l.At[name], nil
	}
	if made[name] != 0 {
		return made[name], nil
	}
	at, err := l.AllocOf(name, elements)
	if err != nil {
		return 0, err
	}
	made[name] = at
	x := in[name]
	x.Real = true
	return at, l.r.Kernels.Make(at, l.Problem.TypeOf(name), x, reading.Whole(elements), s)
}

// pure enqueues the whole products.
func (l *lab) pure(s driver.Stream) error {
	for _, w := range l.tasks {
		if err := l.r.drv.Matmul(w.whole, w.at, s); err != nil {
			return err
		}
	}
	return nil
}

// chunked reports whether all products can be cut by rows.
func (l *lab) chunked() bool {
	for _, w := range l.tasks {
		if w.chunk == 0 {
			return false
		}
	}
	return len(l.tasks) > 0
}

// chunks enqueues the products cut by rows, one after the other on one stream.
func (l *lab) chunks(s driver.Stream) error {
	for _, w := range l.tasks {
		rows := w.M / l.r.Size()
		for i := range l.r.Size() {
			at := w.at
			at.A += driver.Ptr(cmp.Or(w.Operand, w.Type).Bytes(i * rows * w.K))
			if w.RowScales {
				at.ScaleA += driver.Ptr(driver.FP32.Bytes(i * rows))
			} else if w.BlockScales { // as if they were gathered from each rank
				at.ScaleA += driver.Ptr(driver.FP32.Bytes(i * rows * (w.K / driver.ScaleBlock)))
			}
			at.C += driver.Ptr(l.Bytes(i * rows * w.N))
			if err := l.r.drv.Matmul(w.chunk, at, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// pulls are the least numbers of bytes that a run gets from each peer: the peer's part of a gathered operand, and the
// partial results of this rank's share, which an all-reduce gathers again.
func (l *lab) pulls() (bytes []int64) {
	if l.Program.Bare() || l.r.Size() == 1 {
		return nil
	}
	s := l.Program.Schedule
	seen := map[string]bool{}
	for _, o := range s.Ops {
		partial, leaves := s.Partial(o), l.Problem.Elements(o.Out)/l.r.Size()
		for _, name := range o.In {
			_, _, sharded := l.Problem.Tensor(name).Sharded()
			if sharded && !seen[name] && !partial && !o.OfPartials() && !l.keeps(o, name) {
				bytes = append(bytes, l.BytesOf(name, l.Parts[name].Count))
			}
			seen[name] = true
		}
		if !partial {
			continue
		}
		share := l.Bytes(leaves)
		if len(o.In) == 1 { // of eight bits, maybe
			share = l.BytesOf(o.In[0], leaves)
		}
		bytes = append(bytes, share)
		if l.Parts[o.Out].Count == l.Problem.Elements(o.Out) {
			bytes = append(bytes, l.Bytes(leaves))
		}
	}
	return bytes
}

// keeps reports whether a rank needs only its part of an operand: the result is the rank's part of a later operand or
// of an output.
func (l *lab) keeps(o schedule.Op, name string) bool {
	return name != o.In[0] && slices.Contains(l.Problem.Hidden(), o.Out)
}

// copies enqueues the pulls of a run, from the peers' staging.
func (l *lab) copies(s driver.Stream) error {
	me := l.r.Rank()
	offset := l.staging - l.r.Arena().Base(me)
	for _, n := range l.traffic {
		for i := 1; i < l.r.Size(); i++ {
			from := (me + i) % l.r.Size()
			dst, src := l.pulled+driver.Ptr(int64(from)*n),
				l.r.Arena().Base(from)+offset+driver.Ptr(int64(me)*n)
			if err := l.r.drv.MemcpyDtoDAsync(dst, src, n, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// exchanges enqueues the exchanges of a run with the ranks that have the same number on other hosts.
func (l *lab) exchanges(s driver.Stream) error {
	hosts, host := l.r.Hosts(), l.r.Host()
	for _, n := range l.traffic {
		for phase := 1; phase < hosts; phase++ {
			to, from := (host+phase)%hosts, (host+hosts-phase)%hosts
			d := driver.CollectiveDesc{Kind: driver.Exchange, Bytes: n, Type: l.Shape.Type, To: to, From: from}
			err := l.r.Collective(d, l.pulled+driver.Ptr(int64(from)*n), l.staging+driver.Ptr(int64(to)*n), s)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// serial enqueues the exchanges and then the products. It leaves out sums, and copies within a host.
func (l *lab) serial(s driver.Stream) error {
	return errors.Join(l.exchanges(s), l.pure(s))
}

// flops is the number of a rank's floating point operations.
func (l *lab) flops() (n float64) {
	for _, w := range l.tasks {
		n += 2 * float64(w.M) * float64(w.N) * float64(w.K)
	}
	return n
}

// collective is the traffic of a bare communication, as nccl-tests counts it: the bytes of the whole on one rank, and
// the share of these bytes that passes a rank's link.
type collective struct {
	name  string
	bytes int64
	bus   float64
}

// collective is the collective of the program; false for a program that also computes.
func (l *lab) collective(ranks int) (collective, bool) {
	if !l.Program.Bare() {
		return collective{}, false
	}
	steps := l.Problem.Steps()
	step := steps[0]
	if l.Problem.Tensor(step.C).Scale != "" { // eight bits, and the result is made of the bits that arrive
		step.C = steps[len(steps)-1].C
	}
	a, c := l.Parts[step.A], l.Parts[step.C]
	d := float64(ranks)
	others := (d - 1) / d
	axisA, _, sharded := l.Problem.Tensor(step.A).Sharded()
	axisC, _, scattered := l.Problem.Tensor(step.C).Sharded()
	whole := l.BytesOf(step.C, l.Problem.Elements(step.C))
	switch {
	case step.Does == reference.AddsUp && scattered:
		return collective{"reduce-scatter", l.BytesOf(step.A, a.Count), others}, true
	case step.Does == reference.AddsUp:
		return collective{"all-reduce", l.BytesOf(step.A, a.Count), 2 * others}, true
	case l.Problem.Tensor(step.A).Root && scattered:
		return collective{"scatter", whole, others}, true
	case l.Problem.Tensor(step.A).Root:
		return collective{"broadcast", whole, 1}, true
	case sharded && scattered && axisA != axisC:
		return collective{"all-to-all", l.BytesOf(step.A, a.Count), others}, true
	case sharded && scattered:
		return collective{"send and receive", l.BytesOf(step.C, c.Count), 1}, true
	}
	return collective{"all-gather", whole, others}, true
}
