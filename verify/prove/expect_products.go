package prove

import (
	"fmt"
	"slices"

	"ovgen/schedule"
)

// products lists the products of the parts of the summed axis. partial: each product is of a different rank.
func (x *expectation) products(op schedule.Op, in [][]rune, summed rune, rank int,
	bound map[rune]interval) (list []expr, partial bool, err error) {
	parts, partial, err := x.parts(op, in, summed, rank)
	if err != nil {
		return nil, false, err
	}
	for _, p := range parts {
		var terms []expr
		for _, rows := range x.rowsOfChunks(op, p.interval) {
			bound[summed] = rows
			term, err := x.term(op, in, p.rank, bound, !partial)
			if err != nil {
				return nil, false, err
			}
			terms = append(terms, term)
		}
		list = append(list, x.sum(terms))
	}
	return list, partial, nil
}

// term is the product of the operands for one part of the summed axis, or the operand where there is one alone. The
// operation's functions apply to the term where it is the whole sum.
func (x *expectation) term(op schedule.Op, in [][]rune, rank int, bound map[rune]interval, whole bool) (expr, error) {
	a, err := x.operandOf(op, in, 0, rank, bound)
	if forms[op.Index] == "gradient" {
		a, err = x.columnsAt(op.In[0], rank, box{bound[in[0][0]], bound[in[0][1]]})
	}
	if err != nil {
		return stale, err
	}
	first, err := x.boxOf(in[0], bound)
	if err == nil {
		a, err = x.times(a, op.In[0], rank, first)
	}
	if err != nil || len(op.In) == 1 {
		return a, err
	}
	b, err := x.boxOf(in[1], bound)
	if err != nil {
		return stale, err
	}
	second, err := x.operand(op.In[1], rank, b)
	if err == nil {
		second, err = x.times(second, op.In[1], rank, b)
	}
	if err != nil {
		return stale, err
	}
	form, bias := forms[op.Index], stale
	then := x.functions(op).with
	if !whole || form == "gradient" {
		then = nil
	}
	for _, f := range then {
		switch row, epilogue := f.AddsRow(), f.Epilogue(); {
		case row != "" && biased(form):
			columns := slices.IndexFunc(in[1], func(l rune) bool { return !slices.Contains(in[0], l) }) // of the result
			if bias, err = x.operand(row, rank, box{bound[in[1][columns]]}); err != nil {
				return stale, err
			}
		case epilogue != "" && biased(form): // of each element; no two are the same
			form += " " + epilogue
		default:
			return stale, fmt.Errorf("no rule for %s", op)
		}
	}
	if form == "" {
		return stale, fmt.Errorf("no product has the index %q", op.Index)
	}
	return x.product(form, a, second, bias), nil
}

// forms are the known products, by the axes they contract.
var forms = map[string]string{"mk,nk->mn": "linear", "smk,nk->smn": "linear", "mk,nk->dmn": "linear",
	"mk,kn->mn": "matmul", "mn,mk->nk": "gradient"}

// biased says that the library adds a bias to each row of a product of that form, and applies functions to it.
func biased(form string) bool { return form == "linear" || form == "matmul" || nonlinear(form) }

// contracted is a part of a summed axis, and the rank that multiplies it.
type contracted struct {
	interval
	rank int
}

// parts lists the parts of a summed letter. Where an operand is spread along it, there is one part a rank, and the
// products of the parts are partial results. Otherwise there is one part, all of the axis, for the rank of the output.
func (x *expectation) parts(op schedule.Op, in [][]rune, letter rune, rank int) (list []contracted, partial bool,
	err error) {
	along, axis, spread, all := placement{}, -1, false, true
	for i, letters := range in {
		p, declared := x.tensors[op.In[i]]
		at := slices.Index(letters, letter)
		if !declared && at == 0 && x.ofSummands(op.In[i]) {
			for r := range x.ranks {
				list = append(list, contracted{interval{int64(r), int64(r) + 1}, r})
			}
			return list, true, nil
		}
		if !declared || at < 0 || at >= len(p.Axes) {
			continue
		}
		j, _, sharded := p.Sharded()
		here := sharded && j == at
		if axis < 0 || here && !spread {
			along, axis = p, at
		}
		spread, all = spread || here, all && here
	}
	if axis < 0 {
		return nil, false, fmt.Errorf("no tensor says how much %q sums over", op.Index)
	}
	if !spread || !all && forms[op.Index] == "linear" { // columns of one operand alone: each rank needs all
		n, err := along.extent(along.Axes[axis].Extent)
		return []contracted{{interval{0, n}, rank}}, false, err
	}
	for r := range x.ranks {
		a, err := along.axis(axis, r)
		if err != nil {
			return nil, false, err
		}
		of := rank
		if all {
			of = r
		}
		list = append(list, contracted{interval{a.global(0), a.global(a.local-1) + 1}, of})
	}
	return list, true, nil
}

// rowsOfChunks cuts the rows that a gradient sums over as its operands lie in memory: into their chunks of rows, or
// those in which they are made. The rows of other products are one part.
func (x *expectation) rowsOfChunks(op schedule.Op, rows interval) []interval {
	parts := []interval{rows}
	for _, name := range op.In {
		if made := x.rowsMade(name, rows); forms[op.Index] == "gradient" && len(made) > len(parts) {
			parts = made
		}
	}
	return parts
}
