package prove

import (
	"fmt"

	"ovgen/schedule"
)

// What each output has to be, from the schedule's operation and placements alone; the
// host program has no say. By operation, x being any index:
//
//	Copy      C[x]   = A[x]
//	Sum       C[m,n] = Σd A[d,m,n]
//	Matmul    C[m,n] = Σk A[m,k] B[k,n]              C2 of B2, C3 of B3 likewise
//	Linear    C[m,n] = Σk A[m,k] B[n,k] + Bias[n]    C2 of B2 and Bias2, ...
//	Gradient  C[n,k] = Σm A[m,n] B[m,k]
//	MLP       C[m,n] = Σf GELU(Σk A[m,k] B[f,k] + Bias[f]) B2[n,f] + Bias2[n]
//	any       Gathered[x] = A[x], or B[x] where B is the operand that is spread
//
// A sum is over the parts that the operands are cut in: of an axis that is spread over
// the ranks, a part a rank, in their order; of m, the chunks of A. Within a part the
// product sums. Each operand is a chunk of the rank that has it: of a tensor that is
// spread, whoever that is; of one that every rank has, the rank whose part of the sum,
// and otherwise whose output, it is for.
type expectation struct {
	*Computation
	*expressions
	model   *Model
	ranks   int
	run     int32
	tensors map[string]placement
	boxes   map[string][][]box      // of each rank's chunks, empty ones left out as zero
	exact   map[string]map[box]held // of tensors that are spread
	found   map[request]held
}

// held is chunks of a rank.
type held struct {
	rank   int
	chunks []int32
}

// request asks for a box of a tensor; at is -1 where the tensor is spread.
type request struct {
	tensor string
	at     int
	part   box
}

func (s *symbols) expect() (*expectation, error) {
	x := &expectation{Computation: s.model.Computes, expressions: s.expressions, model: &s.model, ranks: len(s.lists),
		tensors: map[string]placement{}, boxes: map[string][][]box{}, exact: map[string]map[box]held{}, found: map[request]held{}}
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
	}
	return x, nil
}

// cut says which boxes of the tensor the chunks of its buffer are, or those that it has of
// a buffer that it lies within.
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
			from, to = from/x.ElementSize, to/x.ElementSize
			if from >= elements && from < to || !p.has(r) {
				break // room for more than there is
			}
			if from == to {
				boxes = append(boxes, box{})
				continue
			}
			part, err := p.box(r, from, to)
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

// output is what a chunk of an output has to be, by the table above.
func (x *expectation) output(name string, rank int, part box) (expr, error) {
	op := x.Schedule.Op
	switch {
	case name == gathered:
		operand := "A"
		if !x.tensors["A"].sharded() {
			operand = "B"
		}
		return x.chunk(operand, rank, part)
	case op == schedule.Copy:
		return x.chunk("A", rank, part)
	case op == schedule.Sum:
		return x.sumOverRanks(rank, part)
	case op == schedule.Matmul, op == schedule.Linear:
		return x.layer(name[1:], rank, part)
	case op == schedule.Gradient:
		return x.gradient(rank, part)
	case op == schedule.MLP:
		return x.twoLayers(rank, part)
	}
	return stale, fmt.Errorf("no rule says what %s of a %s is", name, op)
}

func (x *expectation) sumOverRanks(rank int, part box) (expr, error) {
	var list []expr
	for d := range int64(x.ranks) {
		a, err := x.chunk("A", rank, box{{d, d + 1}, part[0], part[1]})
		if err != nil {
			return stale, err
		}
		list = append(list, a)
	}
	return x.sum(list), nil
}

// layer is a matmul or linear of A and the B, Bias and C of a suffix.
func (x *expectation) layer(suffix string, rank int, part box) (expr, error) {
	contracted, err := x.parts("A", 1, rank)
	if err != nil {
		return stale, err
	}
	var list []expr
	for _, k := range contracted {
		a, err := x.chunk("A", k.rank, box{part[0], k.interval})
		if err != nil {
			return stale, err
		}
		weight, form := box{part[1], k.interval}, "linear"
		if x.Schedule.Op == schedule.Matmul {
			weight, form = box{k.interval, part[1]}, "matmul"
		}
		t, err := x.times(form, a, suffix, k.rank, weight, box{part[1]}, k.rank == rank)
		if err != nil {
			return stale, err
		}
		list = append(list, t)
	}
	return x.sum(list), nil
}

// times multiplies by the B of a suffix and adds, if biased, the Bias that is there.
func (x *expectation) times(form string, a expr, suffix string, at int, weight, row box, biased bool) (expr, error) {
	b, err := x.operand("B"+suffix, at, weight)
	if err != nil {
		return stale, err
	}
	bias := stale
	if _, ok := x.tensors["Bias"+suffix]; ok && biased {
		if bias, err = x.operand("Bias"+suffix, at, row); err != nil {
			return stale, err
		}
	}
	return x.product(form, a, b, bias), nil
}

func (x *expectation) gradient(rank int, part box) (expr, error) {
	from, to := rank, rank+1
	if x.tensors["A"].sharded() {
		from, to = 0, x.ranks
	}
	var list []expr
	for r := from; r < to; r++ {
		for _, rows := range x.boxes["A"][r] {
			if rows == (box{}) {
				continue
			}
			a, err := x.chunk("A", r, box{rows[0], part[0]})
			if err != nil {
				return stale, err
			}
			b, err := x.chunk("B", rank, box{rows[0], part[1]})
			if err != nil {
				return stale, err
			}
			list = append(list, x.product("gradient", a, b, stale))
		}
	}
	return x.sum(list), nil
}

func (x *expectation) twoLayers(rank int, part box) (expr, error) {
	depth, err := x.extent(x.tensors["A"].Axes[1].Extent)
	if err != nil {
		return stale, err
	}
	hidden, err := x.parts("B", 0, rank)
	if err != nil {
		return stale, err
	}
	var list []expr
	for _, f := range hidden {
		a, err := x.chunk("A", f.rank, box{part[0], {0, depth}})
		if err != nil {
			return stale, err
		}
		h, err := x.times("linear gelu", a, "", f.rank, box{f.interval, {0, depth}}, box{f.interval}, true)
		if err != nil {
			return stale, err
		}
		t, err := x.times("linear", h, "2", f.rank, box{part[1], f.interval}, box{part[1]}, f.rank == rank)
		if err != nil {
			return stale, err
		}
		list = append(list, t)
	}
	return x.sum(list), nil
}

// contracted is a part of an axis that is summed over, and whose products it is in.
type contracted struct {
	interval
	rank int
}

// parts are those of an axis: one a rank where it is spread, else all of it, for the
// rank of the output.
func (x *expectation) parts(tensor string, i, rank int) ([]contracted, error) {
	p, ok := x.tensors[tensor]
	if !ok || len(p.Axes) <= i {
		return nil, fmt.Errorf("tensor %s has no axis %d", tensor, i)
	}
	if axis, _, ok := p.Sharded(); !ok || axis != i {
		n, err := p.extent(p.Axes[i].Extent)
		return []contracted{{interval{0, n}, rank}}, err
	}
	var list []contracted
	for r := range x.ranks {
		a, err := p.axis(i, r)
		if err != nil {
			return nil, err
		}
		list = append(list, contracted{interval{a.global(0), a.global(a.local-1) + 1}, r})
	}
	return list, nil
}

// chunk is the one chunk of an input that is a box.
func (x *expectation) chunk(tensor string, at int, part box) (expr, error) {
	h, err := x.find(tensor, at, part)
	if err == nil && len(h.chunks) != 1 {
		err = fmt.Errorf("%s of %s is %d chunks, where one is multiplied or moved at a time", part, tensor, len(h.chunks))
	}
	if err != nil {
		return stale, err
	}
	return x.input(x.buffer(tensor), int32(h.rank), x.run, h.chunks[0]), nil
}

// buffer is the number of the buffer that a tensor is in.
func (x *expectation) buffer(tensor string) int32 {
	i, _ := x.model.holder(tensor)
	return int32(i)
}

// operand is the chunks of an input that make up a box.
func (x *expectation) operand(tensor string, at int, part box) (expr, error) {
	h, err := x.find(tensor, at, part)
	if err != nil {
		return stale, err
	}
	var list []expr
	for _, c := range h.chunks {
		list = append(list, x.input(x.buffer(tensor), int32(h.rank), x.run, c))
	}
	return x.tuple(list), nil
}

// find says where a box of an input is: at a rank, or where the tensor is spread at
// the one that has it.
func (x *expectation) find(tensor string, at int, part box) (held, error) {
	p, ok := x.tensors[tensor]
	if !ok {
		return held{}, fmt.Errorf("the schedule has no tensor %s", tensor)
	}
	from, to := at, at+1
	q := request{tensor, at, part}
	if p.sharded() {
		if h, ok := x.exact[tensor][part]; ok {
			return h, nil
		}
		from, to, q.at = 0, x.ranks, -1
	}
	if h, ok := x.found[q]; ok {
		return h, nil
	}
	for r := from; r < to; r++ {
		if chunks := within(x.boxes[tensor][r], part); chunks != nil {
			h := held{r, chunks}
			x.found[q] = h
			return h, nil
		}
	}
	return held{}, fmt.Errorf("%s of %s %s is no chunks of one rank's", part, tensor, p.Tensor)
}

// within lists the chunks that make up a box; nil if they don't.
func within(chunks []box, part box) (list []int32) {
	volume := part.volume()
	for i, c := range chunks {
		if c == (box{}) {
			continue
		}
		inside := true
		for j := range c {
			inside = inside && part[j].lo <= c[j].lo && c[j].hi <= part[j].hi
		}
		if inside {
			list = append(list, int32(i))
			volume -= c.volume()
		}
	}
	if volume != 0 {
		return nil
	}
	return list
}

func (b box) volume() int64 {
	n := int64(1)
	for _, x := range b {
		if x != (interval{}) {
			n *= x.len()
		}
	}
	return n
}

// ordered says that the schedule promises to add in the order of ranks.
func (x *expectation) ordered() bool {
	r := x.Schedule.Pipeline.Reduction
	return x.Schedule.Reduces() && (r == "" || r == schedule.AtEnd || r == schedule.InSlot)
}
