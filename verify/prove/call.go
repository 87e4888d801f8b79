package prove

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"ovgen/schedule"
	"ovgen/verify/ops"
)

// A call is work of the caller. Each chunk of its result is an unknown function of the call's name, the chunk's place,
// and every chunk of each operand on the rank. Its place is the two fractions of all of the result between which it
// lies, as parts of uneven rows are no equal ones. An operand of no bytes is none.

// callOf is the chunk of a call's result from one index to another, of so many.
func (e *expressions) callOf(name string, from, to, of int64, operands []expr) expr {
	return e.applied(fmt.Sprintf("%s from %v to %v", name, big.NewRat(from, of), big.NewRat(to, of)), operands)
}

// call computes the result of a call, chunk by chunk.
func (s *symbols) call(n int32, o *ops.Op, reads []*chunks, to *chunks) ([]expr, *Counterexample) {
	var operands []expr
	for _, a := range reads {
		for i, c := range a.list {
			if c.expr == stale {
				return nil, s.misread(n, a, i)
			}
		}
		operands = append(operands, s.tuple(a.exprs()))
	}
	made, at := make([]expr, len(to.list)), int64(0)
	for i, size := range to.sizes {
		made[i] = s.callOf(o.Form, at, at+size, to.Bytes, operands)
		at += size
	}
	return made, nil
}

// called is the expression of a part of a call's result. The part is whole rows of the rank's columns, whole rows of
// the rank's own rows, or a piece of the rank's summand, which may be cut within a row.
func (x *expectation) called(op schedule.Op, rank int, part box) (expr, error) {
	c, err := x.Schedule.Contraction(op)
	if err != nil {
		return stale, err
	}
	own, all := x.Schedule.OfOwnRows(op), x.rowsOf(op.Out)
	owner, width := 0, int64(1)
	switch {
	case c.OfRanks():
		owner, width = int(part[0].lo), x.columns(op.Out, rank).len()
		all *= width
		at := part[1].lo*width + part[2].lo
		part = box{{at, at + part[1].len()*part[2].len()}}
	case own:
		for owner < x.ranks-1 && part[0].lo >= x.ownRows(op.Out, owner).hi {
			owner++
		}
		mine := x.ownRows(op.Out, owner)
		all = mine.len()
		part[0] = interval{part[0].lo - mine.lo, part[0].hi - mine.lo}
	default:
		owner, err = x.hasColumns(op, rank, part[1])
	}
	if err != nil {
		return stale, err
	}
	if part[0].len() == 0 || part[0].lo < 0 || part[0].hi > all {
		return stale, fmt.Errorf("rows %v of %s are none of its %d", part[0], op.Out, all)
	}
	var operands []expr
	for i, name := range op.In {
		list, err := x.all(name, owner, own && strings.IndexByte(c.In[i], c.Rows()) == 0)
		if err != nil {
			return stale, err
		}
		if len(list) > 0 { // else no operation takes it
			operands = append(operands, x.tuple(list))
		}
	}
	return x.callOf(op.Call, part[0].lo, part[0].hi, all, operands), nil
}

// ofSummands reports whether a call makes a summand on each rank.
func (x *expectation) ofSummands(tensor string) bool {
	op, _ := x.Schedule.Maker(tensor)
	c, err := x.Schedule.Contraction(op)
	return err == nil && op.Call != "" && c.OfRanks()
}

// hasColumns is the rank that has these columns of a call's result, or makes them where they are gathered later. Where
// all ranks do, it is the given rank.
func (x *expectation) hasColumns(op schedule.Op, rank int, columns interval) (int, error) {
	for i := range x.ranks {
		r := (rank + i) % x.ranks
		if x.columns(op.Out, r) == columns || x.columnsMade(op, r) == columns {
			return r, nil
		}
	}
	return 0, fmt.Errorf("no rank has just the columns %v of %s", columns, op.Out)
}

// handed names a tensor that a rank's call takes in a run. With own, only the rank's own rows are meant.
type handed struct {
	tensor string
	rank   int
	run    int32
	own    bool
}

// all lists the expressions of a rank's part of a tensor, one for each chunk of memory. The part is the rank's columns
// of all rows, or of its own rows alone.
func (x *expectation) all(tensor string, rank int, own bool) (list []expr, err error) {
	key := handed{tensor, rank, x.run, own}
	if list, known := x.handed[key]; known {
		return list, nil
	}
	defer func() {
		if err == nil {
			x.handed[key] = list
		}
	}()
	parts := []box{}
	cut := x.model.Columns[tensor] > 1
	if p, declared := x.tensors[tensor]; declared && cut {
		n, err := p.elements(rank)
		if err != nil {
			return nil, err
		}
		part, err := p.box(rank, 0, n)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	} else if declared {
		for _, part := range x.boxes[p.Name][rank] {
			if part != (box{}) {
				parts = append(parts, part)
			}
		}
	} else if parts, err = x.hidden(tensor, rank, own); err != nil {
		return nil, err
	}
	for _, part := range parts {
		e, err := x.chunk(tensor, rank, part)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

// hidden lists the chunks of a tensor of the plan that no caller sees, as the buffer of that name has them. They are of
// all rows, or of the rank's own rows.
func (x *expectation) hidden(tensor string, rank int, own bool) (list []box, err error) {
	i := x.model.index(tensor)
	if i < 0 {
		return nil, fmt.Errorf("the program has no memory for %s", tensor)
	}
	b, columns, first, end := &x.model.Buffers[i], x.columns(tensor, rank), int64(0), x.rowsOf(tensor)
	line := columns.len() * x.ElementBits / 8
	if own {
		mine := x.ownRows(tensor, rank)
		first, end = mine.lo, mine.hi
	}
	if x.model.Columns[tensor] > 1 && line > 0 { // as one
		_, all := b.chunk(rank, b.chunks(rank)-1)
		return []box{{interval{first, first + all/line}, columns}}, nil
	}
	for c := range b.chunks(rank) {
		from, to := b.chunk(rank, c)
		if from == to || first+from/max(line, 1) >= end { // it has room for more rows
			continue
		}
		if line == 0 || from%line != 0 || to%line != 0 {
			return nil, fmt.Errorf("chunk %d of %s is no whole rows", c, tensor)
		}
		list = append(list, box{interval{first + from/line, first + to/line}, columns})
	}
	return list, nil
}

// ownRows are a rank's own rows of a tensor: equal parts, or as many as Bind is told where the tensor is made of rows
// by counts.
func (x *expectation) ownRows(tensor string, rank int) interval {
	p, declared := x.tensors[tensor]
	for name := tensor; !declared; p, declared = x.tensors[name] {
		op, _ := x.Schedule.Maker(name) // what nothing declares an operation makes
		name = op.In[0]
	}
	if i, j, spread := p.Sharded(); spread && i == 0 && p.Axes[0].Outer[j].Uneven {
		a, _ := p.axis(0, rank) // cut has seen every axis
		return interval{a.global(0), a.global(a.local)}
	}
	all := x.rowsOf(tensor) / int64(x.ranks)
	return interval{int64(rank) * all, int64(rank+1) * all}
}

// rowsOf is the number of rows of a tensor. A tensor that is not declared has as many rows as its maker's first
// operand, or, where a call makes it, as the operand that has the call's rows.
func (x *expectation) rowsOf(tensor string) int64 {
	op, made := x.Schedule.Maker(tensor)
	c, _ := x.Schedule.Contraction(op) // of a maker axes has read it
	if p, declared := x.tensors[tensor]; declared {
		first := 0
		if p.Summands() {
			first = 1
		}
		n, _ := p.extent(p.Axes[first].Extent) // cut has seen every axis
		return n
	}
	if !made {
		return 0
	} else if op.Call == "" {
		return x.rowsOf(op.In[0])
	}
	for i, in := range c.In {
		at := strings.IndexByte(in, c.Rows())
		if p, declared := x.tensors[op.In[i]]; declared && at >= 0 {
			n, _ := p.extent(p.Axes[at].Extent)
			return n
		} else if at == 0 {
			return x.rowsOf(op.In[i])
		}
	}
	return 0
}

// columns is a rank's interval of a tensor's last axis.
func (x *expectation) columns(tensor string, rank int) interval {
	if p, declared := x.tensors[tensor]; declared {
		a, err := p.axis(len(p.Axes)-1, rank)
		if err != nil {
			return interval{}
		}
		return interval{a.global(0), a.global(a.local-1) + 1}
	}
	op, made := x.Schedule.Maker(tensor)
	if !made {
		return interval{}
	}
	return x.columnsMade(op, rank)
}

// columnsMade is a rank's interval of the last axis of the result that it makes: the columns of the weight, or of the
// operand with the same letter.
func (x *expectation) columnsMade(op schedule.Op, rank int) interval {
	in, out, err := x.axes(op)
	if err != nil {
		return interval{}
	}
	letter := out[len(out)-1]
	for j, letters := range in {
		switch at := slices.Index(letters, letter); {
		case at < 0:
		case at == len(letters)-1 && (j == 0 || op.Call != ""):
			return x.columns(op.In[j], rank)
		default: // the rows of a weight, or of an operand of a call
			p, declared := x.tensors[op.In[j]]
			if !declared {
				return interval{}
			}
			a, err := p.axis(at, rank)
			if err != nil {
				return interval{}
			}
			return interval{a.global(0), a.global(a.local-1) + 1}
		}
	}
	return interval{}
}
