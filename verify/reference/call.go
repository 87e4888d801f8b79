package reference

import (
	"slices"
	"strconv"
	"strings"

	"ovgen/runtime/driver"
	"ovgen/schedule"
	"ovgen/verify/formula"
	"ovgen/verify/reading"
)

// The harness stands in for the caller's work. It takes a rank's part of each operand: the first block of the result is
// the end of the first operand, the next block is the end of the second operand, and so on. A block that is longer than
// its operand repeats the operand's end.

// called is the result that the stand-in makes for a call, on every rank.
func (p *Problem) called(s Step, v map[string]Values) Values {
	made, f := newValues(p.Elements(s.C)), formatOf(p.TypeOf(s.C))
	for rank := range p.Extents[schedule.D] {
		to := p.held(s.C, rank, s.Own)
		if p.columnsMade(s.C) && !p.columnsSpread(s.C) {
			to = p.ownColumns(s.C, rank, false) // all columns are gathered behind the call
		}
		if to.Count == 0 {
			continue // it has no rows, and calls nothing
		}
		for i, name := range s.In {
			from := p.held(name, rank, s.Own && p.hasRows(s.C, name))
			first, end := to.Count*i/len(s.In), to.Count*(i+1)/len(s.In)
			last := (end - first) % from.Count // of the elements that are not a whole operand
			for at := first; at < end; at++ {
				x := from.At((at - first) % from.Count)
				if end-at <= last {
					x = from.At(from.Count - (end - at))
				}
				made.set(to.At(at), p.coded(s.C, v[name].At(x)), f)
			}
		}
	}
	if scale := p.Tensor(s.C).Scale; scale != "" {
		v[scale] = p.scalesCalled(s)
	}
	return made
}

// coded is an element as a call makes it from an element of its operand. For a result of eight bits, it is the code in
// the last byte of the operand's element, which grows with the element.
func (p *Problem) coded(result string, x formula.Value) formula.Value {
	if p.Tensor(result).Scale == "" {
		return x
	}
	code := func(x float64) float64 {
		return float64(decode(driver.E4M3, encode(p.Type, float32(x))>>(p.Type.Bits()-8)))
	}
	return formula.Value{Want: code(x.Want), Lo: code(x.Lo), Hi: code(x.Hi)}
}

// scalesCalled are the scales of a call's result: for the first half of a rank's rows they are 1, for the others 2.
func (p *Problem) scalesCalled(s Step) Values {
	scale := p.Tensor(s.C).Scale
	made, f := newValues(p.Elements(scale)), formatOf(driver.FP32)
	for rank := range p.Extents[schedule.D] {
		to := p.held(scale, rank, s.Own)
		for at := range to.Count {
			x := 1.0
			if at >= to.Count/2 {
				x = 2
			}
			made.set(to.At(at), formula.Value{Want: x, Lo: x, Hi: x}, f)
		}
	}
	return made
}

// hasRows reports whether the first axis of an operand of a call is the rows of the result.
func (p *Problem) hasRows(made, operand string) bool {
	o, _ := p.schedule().Maker(made)
	x := p.sized().Index(o)
	return x.In[slices.Index(o.In, operand)][0] == x.Out[0]
}

// held returns the part of a tensor that a rank has before a call. A tensor that is not declared has all rows, or the
// rank's rows, and its columns lie like the columns of its operand.
func (p *Problem) held(name string, rank int, own bool) reading.Part {
	if p.has(name) {
		part, _ := p.Part(name, rank) // Check has placed every tensor
		return part
	}
	return p.ownColumns(name, rank, own)
}

// ownColumns is the part of a tensor that a rank makes: all rows, or the rank's rows, of its columns where the ranks
// share the columns out, or a summand.
func (p *Problem) ownColumns(name string, rank int, own bool) reading.Part {
	var t schedule.Tensor
	for _, n := range p.sized().Sizes(name) {
		t.Axes = append(t.Axes, schedule.Dim(schedule.Extent(strconv.Itoa(n))))
	}
	if p.columnsMade(name) {
		t.Axes[len(t.Axes)-1].Outer = []schedule.Split{schedule.DIDx(schedule.D)}
	}
	if o, _ := p.schedule().Maker(name); own || p.sized().Index(o).Out[0] == 'd' {
		t.Axes[0].Outer = []schedule.Split{schedule.DIDx(schedule.D)}
		t.Axes[0].Outer[0].Uneven = own && p.byCounts(name)
	}
	part, _ := reading.PartOf(t, p.Extents, rank, p.Counts)
	return part
}

// byCounts reports whether a tensor has the rows of one whose rows are by counts.
func (p *Problem) byCounts(name string) bool {
	for !p.has(name) {
		o, _ := p.schedule().Maker(name)
		name = o.In[0]
	}
	t := p.Tensor(name)
	axis, k, spread := t.Sharded()
	return spread && axis == 0 && t.Axes[0].Outer[k].Uneven
}

// columnsSpread reports whether the ranks share the columns of a tensor out.
func (p *Problem) columnsSpread(name string) bool {
	if t := p.Tensor(name); t.Name != "" {
		axis, _, ok := t.Sharded()
		return ok && axis == len(t.Axes)-1
	}
	return p.columnsMade(name)
}

// columnsMade reports whether each rank makes different columns of a tensor: the columns of the operand with their
// letter.
func (p *Problem) columnsMade(name string) bool {
	o, _ := p.schedule().Maker(name)
	x := p.sized().Index(o)
	for i, in := range x.In {
		switch at := strings.Index(in, x.Out[len(x.Out)-1:]); at {
		case -1:
		case len(in) - 1:
			return p.columnsSpread(o.In[i])
		default: // the rows of a weight
			axis, _, ok := p.Tensor(o.In[i]).Sharded()
			return ok && axis == at
		}
	}
	return false
}
