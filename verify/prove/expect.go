package prove

import (
	"fmt"
	"slices"
	"strings"

	"ovgen/schedule"
)

// The expected outputs, from the schedule's operations and placements alone; the host program plays no part. An
// operation is read by its Index. With the letters of the result bound, the result is a sum over the letters that the
// result lacks; the terms are the products of the operands. Then the operation's functions are applied. The expression
// of an operand that an earlier operation makes is the expression of that operation.
//
// A sum goes over the parts into which the operands are cut. An axis that is spread over the ranks has one part a rank,
// in the order of ranks; an axis that no operand spreads has one part. Within a part the product sums. Each operand is
// a chunk of the rank that has it. Where every rank has the tensor, the chunk is of the rank of the sum's part if all
// operands are spread, and otherwise of the rank of the output.
type expectation struct {
	*Computation
	*expressions
	model   *Model
	ranks   int
	run     int32
	tensors map[string]placement
	boxes   map[string][][]box      // of each rank's chunks, zero for empty ones
	exact   map[string]map[box]held // of tensors that are spread
	found   map[request]held
	outputs map[ofRun]expr // that operations read, each of which has many readers
	handed  map[handed][]expr
	same    map[int32]bool // buffers that the callers of all ranks fill alike
	then    map[string]*functions

	ownOrder map[string]bool // as inOwnOrder says
}

func (s *symbols) expect() (*expectation, error) {
	x := &expectation{Computation: s.model.Computes, expressions: s.expressions, model: &s.model, ranks: len(s.lists),
		tensors: map[string]placement{}, boxes: map[string][][]box{}, exact: map[string]map[box]held{},
		found: map[request]held{}, outputs: map[ofRun]expr{}, same: map[int32]bool{}, then: map[string]*functions{},
		handed: map[handed][]expr{}, ownOrder: map[string]bool{}}
	for _, t := range x.Schedule.Tensors {
		p := placement{Tensor: t, Computation: x.Computation, ranks: x.ranks}
		x.tensors[t.Name] = p
		i, in := x.model.holder(t.Name)
		if i < 0 {
			return nil, fmt.Errorf("the program has no buffer %s", t.Name)
		}
		if err := x.cut(p, &x.model.Buffers[i], in); err != nil {
			return nil, err
		}
		if x.Schedule.MustAgree(t.Name) {
			x.same[int32(i)] = true
		}
	}
	return x, nil
}

// given is a chunk of an input. An input that is equal on all ranks is rank 0's.
func (x *expectation) given(buffer, rank, run, chunk int32) expr {
	if x.same[buffer] {
		rank = 0
	}
	return x.input(buffer, rank, run, chunk)
}

// cut lists a box of the tensor for each chunk of its buffer, or of the buffer that it lies within.
func (x *expectation) cut(p placement, b *Buffer, in *Inner) error {
	exact := map[box]held{}
	for r := range x.ranks {
		var boxes []box
		elements, err := p.elements(r)
		if err != nil {
			return err
		}
		end := int64(0)
		for i := range b.chunks(r) {
			from, to := b.chunk(r, i)
			if in != nil && !in.holds(r, from, to) {
				boxes = append(boxes, box{})
				continue
			}
			if in != nil {
				from, to = from-in.Offsets[r], to-in.Offsets[r]
			}
			element := x.element(p.Name)
			from, to = 8*from/element, 8*to/element
			if from >= elements && from < to || !p.has(r) {
				break // room for more chunks than exist
			}
			if from == to {
				boxes = append(boxes, box{})
				continue
			}
			part, err := p.boxIn(x.model.Columns[b.Name], r, from, to)
			if err != nil {
				return err
			}
			boxes, end = append(boxes, part), to
			exact[part] = held{r, []int32{int32(i)}}
		}
		if end != elements {
			return fmt.Errorf("%s@%d has %d elements, of which its chunks are %d", p.Name, r, elements, end)
		}
		x.boxes[p.Name] = append(x.boxes[p.Name], boxes)
	}
	if p.sharded() {
		x.exact[p.Name] = exact
	}
	return nil
}

// output is the expected expression of a chunk of a result, by the rule above.
func (x *expectation) output(name string, rank int, part box) (expr, error) {
	op, made := x.Schedule.Maker(name)
	if of, scales := x.Schedule.ScaledBy(name); scales && !made {
		return x.scalesMade(of, rank, part)
	}
	if !made {
		return stale, fmt.Errorf("no operation makes %s", name)
	}
	if all := (interval{0, x.columns(name, x.ranks-1).hi}); part[1] != all && x.toColumns(name, all) {
		n := part[1].len()
		if n == 0 || all.hi%n != 0 || part[1].lo%n != 0 {
			return stale, fmt.Errorf("columns %v of %s are none of its equal parts", part[1], name)
		}
		whole, err := x.output(name, rank, box{part[0], all})
		return x.columnsOf(whole, int(part[1].lo/n), int(all.hi/n)), err
	}
	if op.Call != "" {
		return x.called(op, rank, part)
	}
	return x.contraction(op, rank, part)
}

// contraction is a chunk of the result of an operation by its index: a copy, or a sum of products over one letter.
func (x *expectation) contraction(op schedule.Op, rank int, part box) (expr, error) {
	in, out, err := x.axes(op)
	if err != nil {
		return stale, err
	}
	bound := map[rune]interval{}
	for i, l := range out {
		bound[l] = part[i]
	}
	var summed []rune
	for _, letters := range in {
		for _, l := range letters {
			if !slices.Contains(out, l) && !slices.Contains(summed, l) {
				summed = append(summed, l)
			}
		}
	}
	switch {
	case len(summed) > 1:
		return stale, fmt.Errorf("no rule for a sum over %d axes", len(summed))
	case len(op.In) > 2:
		return stale, fmt.Errorf("no rule for %s", op)
	case len(summed) == 0 && len(op.In) == 1:
		return x.copied(op, in, out, rank, part, bound)
	case len(summed) == 0:
		return stale, fmt.Errorf("no rule for a product without a sum, as %q", op.Index)
	case op.OfPartials():
		return x.ofRank(op, in, summed[0], rank, bound)
	}
	return x.multiplied(op, in, out, summed[0], rank, part, bound)
}

// copied is a chunk of a copy, with the operation's functions applied.
func (x *expectation) copied(op schedule.Op, in [][]rune, out []rune, rank int, part box,
	bound map[rune]interval) (expr, error) {
	e, err := stale, fmt.Errorf("no rank has all columns of %s", op.In[0])
	if len(x.functions(op).own) == 0 || !x.meets(op.In[0], part) {
		e, err = x.operandOf(op, in, 0, rank, bound)
	} else if columns, ok := x.sideBySideOf(op.In[0], part); ok {
		e, err = columns, nil
	}
	if err != nil {
		return stale, err
	}
	return x.formulas(op, e, out, rank, bound)
}

// multiplied is a chunk of a sum of products over a letter, with the operation's functions applied.
func (x *expectation) multiplied(op schedule.Op, in [][]rune, out []rune, summed rune, rank int, part box,
	bound map[rune]interval) (expr, error) {
	list, partial, err := x.products(op, in, summed, rank, bound)
	if err == nil && partial {
		list, err = x.joined(op, rank, part, list)
	}
	if err != nil {
		return stale, err
	}
	if partial || forms[op.Index] == "gradient" { // whose products add to a tensor
		sum, err := x.summed(op, list, out, rank, bound)
		if err != nil {
			return stale, err
		}
		if x.Schedule.InFP32(op) {
			sum = x.kept(sum)
		}
		return x.formulas(op, sum, out, rank, bound)
	}
	return x.formulas(op, x.sum(list), out, rank, bound)
}

// toColumns reports whether a copy takes the rows of a result to the ranks that have its columns: a rank makes all
// columns of its rows, as the placements of both say.
func (x *expectation) toColumns(tensor string, all interval) bool {
	maker, _ := x.Schedule.Maker(tensor)
	if maker.Name() == "copy" && len(maker.Then) == 0 || x.columns(tensor, 0) != all {
		return false
	}
	return slices.ContainsFunc(x.Schedule.Ops, func(o schedule.Op) bool {
		t, declared := x.tensors[o.Out]
		axis, _, spread := t.Sharded()
		return declared && spread && axis == 1 && len(t.Axes) == 2 && o.In[0] == tensor && o.Name() == "copy"
	})
}

// operandOf is the chunk of operand i at the bound letters.
func (x *expectation) operandOf(op schedule.Op, in [][]rune, i, rank int, bound map[rune]interval) (expr, error) {
	part, err := x.boxOf(in[i], bound)
	if err != nil {
		return stale, err
	}
	return x.chunk(op.In[i], rank, part)
}

// columnsAt is the chunk of a matrix at a box, or a cut of a wider chunk that has all columns.
func (x *expectation) columnsAt(tensor string, rank int, part box) (expr, error) {
	all, n := x.columns(tensor, rank), part[1].len()
	p, declared := x.tensors[tensor]
	axis, _, sharded := p.Sharded()
	if declared && (len(p.Axes) != 2 || sharded && axis == 1) || all.lo != 0 || n == 0 || n == all.hi ||
		all.hi%n != 0 || part[1].lo%n != 0 {
		return x.chunk(tensor, rank, part)
	}
	whole, err := x.chunk(tensor, rank, box{part[0], all})
	return x.columnsOf(whole, int(part[1].lo/n), int(all.hi/n)), err
}

// boxOf is the part of a tensor at the bound letters of its axes.
func (x *expectation) boxOf(letters []rune, bound map[rune]interval) (b box, err error) {
	if len(letters) > len(b) {
		return b, fmt.Errorf("a tensor of %d axes", len(letters))
	}
	for i, l := range letters {
		b[i] = bound[l]
	}
	return b, nil
}

// axes reads an Index: a letter for each axis of the operands and of the result. Axes of a
// "..." are numbered.
func (x *expectation) axes(op schedule.Op) (in [][]rune, out []rune, err error) {
	operands, result, ok := strings.Cut(op.Index, "->")
	texts := strings.Split(operands, ",")
	if !ok || len(texts) != len(op.In) {
		return nil, nil, fmt.Errorf("%q is no index of %d operands", op.Index, len(op.In))
	}
	rest := ""
	for i, text := range texts {
		named := strings.TrimSuffix(text, "...")
		if named != text {
			rest = ""
			for n := len(named); n < x.axesOf(op.In[i]); n++ {
				rest += string(rune('0' + n - len(named)))
			}
		}
		in = append(in, []rune(strings.Replace(text, "...", rest, 1)))
	}
	return in, []rune(strings.Replace(result, "...", rest, 1)), nil
}

// axesOf is the number of axes of a tensor, as it is declared or as its maker's Index says.
func (x *expectation) axesOf(tensor string) int {
	if p, declared := x.tensors[tensor]; declared {
		return len(p.Axes)
	}
	op, made := x.Schedule.Maker(tensor)
	if !made {
		return 0
	}
	_, out, err := x.axes(op)
	if err != nil {
		return 0
	}
	return len(out)
}

// ordered reports whether the schedule promises to add in the order of ranks.
func (x *expectation) ordered(tensor string) bool {
	return x.Schedule.Reduces() && x.Schedule.Ordered() && !x.inOwnOrder(tensor)
}

// inOwnOrder reports whether each rank adds up a result in its own order, or an operand of its maker: the gradient of
// rows that the rank gathers, where it begins with its own rows.
func (x *expectation) inOwnOrder(tensor string) bool {
	own, known := x.ownOrder[tensor]
	if op, made := x.Schedule.Maker(tensor); made && !known {
		own = forms[op.Index] == "gradient" && !x.Schedule.Partial(op) ||
			slices.ContainsFunc(op.Operands(), x.inOwnOrder)
		x.ownOrder[tensor] = own
	}
	return own
}
