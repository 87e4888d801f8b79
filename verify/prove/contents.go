package prove

import (
	"fmt"
	"slices"

	"ovgen/verify/ops"
)

// cell is a chunk: its contents, and the node that wrote it.
type cell struct {
	expr
	by int32
}

// contents: when a rank's run ends, each chunk of each output equals the schedule's sum over the inputs as the callers
// left them before that run. The terms are the same, each once. The chunk was written once, except by products that add
// to it and by functions in place. Without races every order of the nodes gives the same bytes, so one order is
// followed.
func (p *proof) contents() *Counterexample {
	if p.model.Computes == nil {
		return nil
	}
	p.model.Buffers = refine(p.model.Buffers, p.model.Columns, p.lists)
	s := &symbols{proof: p, expressions: newExpressions(&p.model), cells: make([][][]cell, len(p.lists))}
	for r := range p.lists {
		for i := range p.model.Buffers {
			b := &p.model.Buffers[i]
			s.cells[r] = append(s.cells[r], make([]cell, b.chunks(r)*max(p.model.Halves[b.Name], 1)))
		}
	}
	var err error
	if s.want, err = s.expect(); err != nil {
		return p.against(Contents, -1, -1, fmt.Sprintf("the expected outputs are not known: %s", err),
			"declare placements that the table in verify/prove/expect.go has a rule for")
	}
	for n, x := range p.nodes {
		var c *Counterexample
		switch x.kind {
		case caller:
			if x.run > 0 {
				c = s.finished(int32(n))
			}
			s.overwrite(int32(n))
		case whole:
			c = s.operate(int32(n))
		case enter:
			c = s.bring(int32(n))
		case leave:
			c = s.get(int32(n))
		}
		if c != nil {
			return c
		}
	}
	return nil
}

type symbols struct {
	*proof
	*expressions
	cells [][][]cell // by rank, buffer and chunk
	want  *expectation
	// same is what the first rank left in a chunk, for outputs that all ranks have.
	same map[output]leftFirst
	// brought is the data of each rank in a collective, by run and number.
	brought map[[3]int32][]sent
}

// leftFirst is the expression that the first rank left, and the expected value of that rank.
type leftFirst struct{ got, want expr }

// output is a chunk of an output in a run.
type output struct {
	run, buffer int32
	part        box
}

// overwrite fills memory as the caller and other plans leave it before a run.
func (s *symbols) overwrite(n int32) {
	x := s.nodes[n]
	for i, b := range s.model.Buffers {
		if s.model.landing(b.Name) {
			continue
		}
		for c := range s.cells[x.rank][i] {
			v := cell{by: n}
			if from, to := b.chunk(int(x.rank), c); b.input(int(x.rank), from, to) {
				v.expr = s.want.given(int32(i), x.rank, x.run, int32(c))
			} else if b.Padded && c%2 > 0 {
				v.expr = s.input(int32(i), x.rank, x.run, int32(c)) // equal to nothing that is expected
			}
			s.cells[x.rank][i][c] = v
		}
	}
}

// operate carries out an operation on expressions.
func (s *symbols) operate(n int32) *Counterexample {
	o := s.operation(n)
	if !o.Kind.Works() || o.Kind == ops.Collective {
		return nil
	}
	if len(o.Uses) == 0 && o.Kind != ops.Product { // a kernel's work on a part of no bytes
		return nil
	}
	if o.Kind == ops.Take {
		return s.take(n, o)
	}
	var reads, results []*chunks
	var scales *chunks
	for i, u := range o.Uses {
		if ops.OfStream(u.At) {
			continue
		}
		a := s.at(u, s.nodes[n].run)
		if a == nil {
			return s.wrong(n, fmt.Sprintf("%s: these are not whole chunks", u))
		}
		switch {
		case !u.Write:
			reads = append(reads, a)
		case o.LeftScales(i):
			scales = a
		default:
			results = append(results, a)
		}
	}
	if len(reads) == 0 || len(results) != 1 {
		return s.wrong(n, "an operation has one result, or another one for its scales, and at least one operand")
	}
	to := results[0]
	if c := s.resized(n, o, reads, to); c != nil {
		return c
	}
	var made []expr
	var c *Counterexample
	switch o.Kind {
	case ops.Product:
		made, c = s.multiply(n, o, reads, to)
	case ops.Apply:
		made, c = s.make(n, o, reads, to)
	case ops.Call:
		made, c = s.call(n, o, reads, to)
	default:
		made, c = s.sumUp(n, o, reads, to)
	}
	if c != nil {
		return c
	}
	if o.LeavesScales {
		if c := s.leaveScales(n, scales, to, made); c != nil {
			return c
		}
	}
	inPlace := o.Kind == ops.Apply && same(o.Source(), o.Result())
	return s.write(n, o.Accumulate || inPlace, to, made)
}

// take leaves no contents in the parts of a landing from which packets were taken.
func (s *symbols) take(n int32, o *ops.Op) *Counterexample {
	for _, u := range o.Uses {
		a := s.at(u, s.nodes[n].run)
		if a == nil {
			return s.wrong(n, fmt.Sprintf("%s: these are not whole chunks", u))
		}
		for _, c := range a.list {
			*c = cell{stale, n}
		}
	}
	return nil
}

// chunks is the chunks of a use, without empty ones.
type chunks struct {
	ops.Use
	list    []*cell
	index   []int
	sizes   []int64
	element int64   // bits of one element
	apart   []*cell // the parts of columns that list has as one chunk
}

// exprs are the contents of the chunks.
func (a *chunks) exprs() []expr {
	list := make([]expr, len(a.list))
	for i, c := range a.list {
		list[i] = c.expr
	}
	return list
}

// at is the chunks of a use in a run, or nil where the use is not whole chunks. All columns of a buffer that is in
// parts of columns are one chunk.
func (s *symbols) at(u ops.Use, run int32) *chunks {
	i := s.model.index(u.At.Buffer)
	b := &s.model.Buffers[i]
	from, to, ok := b.span(u.At.Rank, u.At.Offset, u.Bytes)
	if !ok {
		return nil
	}
	a := &chunks{Use: u, element: max(b.Element, 1)}
	half := int(s.model.half(b.Name, run)) * b.chunks(u.At.Rank)
	for c := from; c < to; c++ {
		if lo, hi := b.chunk(u.At.Rank, c); lo < hi {
			a.list = append(a.list, &s.cells[u.At.Rank][i][half+c])
			a.index = append(a.index, c)
			a.sizes = append(a.sizes, hi-lo)
		}
	}
	if s.model.Columns[u.At.Buffer] > 1 && !u.Columns && len(a.list) > 0 {
		return s.together(a)
	}
	return a
}

// together joins all chunks of a buffer in parts of columns into one chunk. The chunk is stale where a part is.
func (s *symbols) together(a *chunks) *chunks {
	one := *a
	one.apart, one.list, one.sizes = a.list, []*cell{{by: a.list[0].by}}, []int64{a.Bytes}
	var columns []expr
	for part := range slices.Chunk(a.exprs(), max(1, len(a.list)/int(s.model.Columns[a.At.Buffer]))) {
		if slices.Contains(part, stale) {
			return &one
		}
		columns = append(columns, s.tuple(part))
	}
	one.list[0].expr = s.sideBySide(columns)
	return &one
}

// write stores chunks. A chunk of an output is written once a run, except by a product that adds to it, or by a
// function in place.
func (s *symbols) write(n int32, again bool, to *chunks, made []expr) *Counterexample {
	b, _ := s.model.buffer(to.At.Buffer)
	list := to.list
	if parts := int(s.model.Columns[to.At.Buffer]); to.apart != nil {
		if list = to.apart; len(list) != parts {
			return s.wrong(n, fmt.Sprintf("%s is in %d parts of columns, and in parts of its rows", to.At, parts))
		}
		whole := made[0]
		made = make([]expr, parts)
		for i := range made {
			made[i] = s.columnsOf(whole, i, parts)
		}
	}
	for i, c := range list {
		from, end := b.chunk(to.At.Rank, to.index[i])
		if b.output(to.At.Rank, from, end) && !again && s.nodes[c.by].kind < caller {
			x := s.against(Contents, c.by, n, fmt.Sprintf("chunk %d of %s@%d is written twice in a run", to.index[i],
				b.Name, to.At.Rank), "give each step chunks of its own")
			x.Missing = ""
			return x
		}
		*c = cell{made[i], n}
	}
	return nil
}

// finished checks a rank's outputs when its run has ended; n is the caller's node after
// that run.
func (s *symbols) finished(n int32) *Counterexample {
	rank := int(s.nodes[n].rank)
	s.want.run = s.nodes[n].run - 1
	for i, b := range s.model.Buffers {
		if b.Output {
			if wrong := s.checkAll(b.Name, i, rank); wrong != nil {
				return wrong
			}
		}
		for _, in := range b.Inner {
			if !in.Output {
				continue
			}
			if wrong := s.checkAll(in.Tensor, i, rank); wrong != nil {
				return wrong
			}
		}
	}
	return nil
}

// checkAll checks the chunks of an output, by the tensor's name and its buffer.
func (s *symbols) checkAll(tensor string, buffer, rank int) *Counterexample {
	for c, part := range s.want.boxes[tensor][rank] {
		if part == (box{}) {
			continue
		}
		if wrong := s.check(tensor, int32(buffer), rank, c, part); wrong != nil {
			return wrong
		}
	}
	return nil
}

// check compares a chunk of an output with the expected expression.
func (s *symbols) check(tensor string, buffer int32, rank, chunk int, part box) *Counterexample {
	got := s.cells[rank][buffer][chunk]
	name := fmt.Sprintf("chunk %d of %s@%d", chunk, s.model.Buffers[buffer].Name, rank)
	want, err := s.want.output(tensor, rank, part)
	switch {
	case err != nil:
		return s.against(Contents, -1, -1, fmt.Sprintf("the expected %s is not known: %s", name, err),
			"cut A, B and C into chunks that each lie in what one rank holds")
	case got.expr == stale:
		return s.lacks(Contents, got.by, name+" holds what nothing in this run has written", "a write of "+name,
			"write it in each run")
	case s.value(got.expr) != s.value(want):
		return s.lacks(Contents, got.by, fmt.Sprintf("%s %s", name, s.differ(got.expr, want)), "",
			"make it of the terms of this part, each once")
	case s.want.ordered(tensor) && got.expr != want:
		return s.lacks(Contents, got.by, fmt.Sprintf("%s is %s, but the schedule promises one sum in the order of "+
			"ranks", name, s.text(got.expr)), "", "sum once, in the order of ranks (Reduce), or choose a way that does")
	}
	if s.want.inOwnOrder(tensor) {
		return nil
	}
	return s.equal(got, want, output{s.want.run, buffer, part}, name)
}

// equal checks that ranks with the same chunk of a reduced output, made of equal inputs, add in the same order. So all
// have equal bits.
func (s *symbols) equal(got cell, want expr, at output, name string) *Counterexample {
	if !s.want.Schedule.Reduces() {
		return nil
	}
	if s.same == nil {
		s.same = map[output]leftFirst{}
	}
	first, ok := s.same[at]
	if !ok {
		s.same[at] = leftFirst{got.expr, s.value(want)}
		return nil
	}
	if first.got == got.expr || first.want != s.value(want) {
		return nil
	}
	return s.lacks(Contents, got.by, fmt.Sprintf("%s is %s here and %s at another rank: their bits may differ", name,
		s.text(got.expr), s.text(first.got)), "", "add in one order on all ranks, or add once and gather")
}

// misread is the counterexample of a read of memory that no operation of this run has written.
func (s *symbols) misread(n int32, a *chunks, i int) *Counterexample {
	c := s.against(Contents, a.list[i].by, n,
		fmt.Sprintf("chunk %d of %s@%d is read, but nothing in this run has written it", a.index[i],
			a.At.Buffer, a.At.Rank),
		"write it in this run and before this, from the right place")
	c.Missing = "a write of the chunk between the two"
	return c
}

func (s *symbols) wrong(n int32, problem string) *Counterexample {
	return s.against(Contents, n, -1, problem, "check the sizes of the chunks")
}
