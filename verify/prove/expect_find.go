package prove

import (
	"cmp"
	"fmt"
	"slices"

	"ovgen/schedule"
)

// held are chunks of one rank.
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

// ofRun asks for it in a run.
type ofRun struct {
	request
	run int32
}

// chunk is the expression of a box of an input, or of an operation's result. The box is one chunk, or columns of
// several chunks.
func (x *expectation) chunk(tensor string, at int, part box) (expr, error) {
	e, err := x.one(tensor, at, part)
	if err == nil && x.model.Columns[tensor] <= 1 {
		return e, nil
	}
	if columns, ok := x.sideBySideOf(tensor, part); ok {
		return columns, nil
	}
	return e, err
}

// one is the expression of a box that is one chunk of an input, or that an operation makes.
func (x *expectation) one(tensor string, at int, part box) (expr, error) {
	q := ofRun{request{tensor, at, part}, x.run}
	if e, ok := x.outputs[q]; ok {
		return e, nil
	}
	if x.Schedule.Made(tensor) {
		e, err := x.output(tensor, at, part)
		if err == nil {
			x.outputs[q] = e
		}
		return e, err
	}
	h, err := x.find(tensor, at, part)
	if err == nil && len(h.chunks) != 1 {
		err = fmt.Errorf("%s of %s is %d chunks, but operations move or multiply one at a time", part,
			tensor, len(h.chunks))
	}
	if err != nil {
		return stale, err
	}
	return x.given(x.buffer(tensor), int32(h.rank), x.run, h.chunks[0]), nil
}

// buffer is the index of the buffer that has a tensor.
func (x *expectation) buffer(tensor string) int32 {
	i, _ := x.model.holder(tensor)
	return int32(i)
}

// operand is the expression of the chunks of an input that make up a box, or of a box that an operation makes at once.
func (x *expectation) operand(tensor string, at int, part box) (expr, error) {
	if x.Schedule.Made(tensor) {
		e, err := x.chunk(tensor, at, part)
		return x.tuple([]expr{e}), err
	}
	h, err := x.find(tensor, at, part)
	all := []held{h}
	if err != nil || x.inColumns(tensor, h) {
		if columns, ok := x.sideBySideOf(tensor, part); ok {
			return columns, nil
		}
	}
	if err != nil {
		if all = x.ofAll(tensor, part, 0); all == nil {
			return stale, err
		}
	}
	var list []expr
	for _, h := range all {
		list = append(list, x.chunksOf(tensor, h)...)
	}
	return x.tuple(list), nil
}

// inColumns reports whether the chunks of a matrix are parts of columns, beside each other.
func (x *expectation) inColumns(tensor string, h held) bool {
	boxes := x.boxes[tensor][h.rank]
	return len(h.chunks) > 1 && boxes[h.chunks[0]][0] == boxes[h.chunks[1]][0]
}

// sideBySideOf is the expression of a box of a matrix, or of a copy of a matrix, whose columns lie in several chunks:
// each rank has some columns of every row, or one rank has the columns in parts. ok is false for other boxes.
func (x *expectation) sideBySideOf(tensor string, part box) (e expr, ok bool) {
	if part[1].len() == 0 || part[2] != (interval{}) {
		return stale, false
	}
	op, made := x.Schedule.Maker(tensor)
	if made && op.Name() == "copy" && len(op.Then) == 0 {
		return x.sideBySideOf(op.In[0], part)
	}
	var columns []expr
	for _, h := range x.ofAll(tensor, part, 1) {
		for _, c := range h.chunks {
			e, err := x.one(tensor, h.rank, x.boxes[tensor][h.rank][c])
			if err != nil {
				return stale, false
			}
			columns = append(columns, e)
		}
	}
	if !made && len(columns) == 0 {
		columns = x.columnsInRows(tensor, part)
	}
	if made && len(columns) == 0 {
		columns = x.madeSideBySide(tensor, part)
	}
	if len(columns) == 0 {
		return stale, false
	}
	return x.sideBySide(columns), true
}

// columnsInRows lists, for each rank, the columns that the rank has of a box of an input, whose rows are in several
// chunks; nil if they are not all columns.
func (x *expectation) columnsInRows(tensor string, part box) (columns []expr) {
	end := part[1].lo
	for r, boxes := range x.boxes[tensor] {
		var rows []expr
		last := box{{part[0].lo, part[0].lo}, {end, end}}
		for c, b := range boxes {
			if b[0].lo == last[0].hi && b[1].lo == end && (len(rows) == 0 || b[1] == last[1]) && b[0].hi <= part[0].hi {
				rows, last = append(rows, x.given(x.buffer(tensor), int32(r), x.run, int32(c))), b
			}
		}
		if last[0].hi != part[0].hi {
			return nil
		}
		columns, end = append(columns, x.tuple(rows)), last[1].hi
	}
	if end != part[1].hi {
		return nil
	}
	return columns
}

// madeSideBySide lists, for each rank, the columns that the rank makes of a box of a result; nil if they are not all
// columns.
func (x *expectation) madeSideBySide(tensor string, part box) (columns []expr) {
	for r, of := range x.columnsOfRanks(tensor, part[1]) {
		var list []expr
		for _, rows := range x.rowsMade(tensor, part[0]) {
			made, err := x.output(tensor, r, box{rows, of})
			if err != nil {
				return nil
			}
			list = append(list, made)
		}
		columns = append(columns, x.tuple(list))
	}
	return columns
}

// columnsOfRanks lists the columns of a result that each rank makes. It is nil unless these follow one another in the
// order of ranks and fill the interval.
func (x *expectation) columnsOfRanks(tensor string, columns interval) (list []interval) {
	op, _ := x.Schedule.Maker(tensor)
	end := columns.lo
	for r := range x.ranks {
		of := x.columns(tensor, r)
		if !x.tensors[tensor].sharded() { // every rank gets all columns
			of = x.columnsMade(op, r)
		}
		if of.lo != end || of.len() == 0 {
			return nil
		}
		list, end = append(list, of), of.hi
	}
	if end != columns.hi {
		return nil
	}
	return list
}

// meets reports whether a box of a result, or of a copy of a result, joins columns that a product, or a function of
// heads, makes on several ranks.
func (x *expectation) meets(tensor string, part box) bool {
	op, made := x.Schedule.Maker(tensor)
	switch {
	case !made || op.Call != "":
		return false
	case op.Name() == "copy" && len(op.Then) == 0:
		return x.meets(op.In[0], part)
	}
	p := x.tensors[tensor]
	axis, _, spread := p.Sharded() // heads are whole on each rank
	inHeads := len(op.In) == 1 && spread && axis == 1 && len(p.Axes) == 2 &&
		len(schedule.Heads(x.functions(op).nodes)) > 0
	return (len(op.In) == 2 || inHeads) && len(x.columnsOfRanks(tensor, part[1])) > 1
}

// rowsMade returns the parts in which rows of a result are made. It follows first operands back to an input or a call:
// the parts are the chunks of that input, or of the call's result.
func (x *expectation) rowsMade(tensor string, rows interval) (list []interval) {
	for op, made := x.Schedule.Maker(tensor); made && op.Call == ""; op, made = x.Schedule.Maker(tensor) {
		if tensor = op.In[0]; x.model.Columns[tensor] > 1 {
			return []interval{rows} // all of its rows are one operand
		}
	}
	ranks := x.boxes[tensor]
	if made, err := x.hidden(tensor, 0, false); ranks == nil && err == nil {
		ranks = [][]box{made}
	}
	for _, boxes := range ranks {
		for _, b := range boxes {
			inside := rows.lo <= b[0].lo && b[0].hi <= rows.hi && b[0].len() > 0
			if inside && !slices.Contains(list, b[0]) {
				list = append(list, b[0])
			}
		}
	}
	slices.SortFunc(list, func(a, b interval) int { return cmp.Compare(a.lo, b.lo) })
	end := rows.lo
	for _, part := range list {
		if part.lo != end {
			return []interval{rows}
		}
		end = part.hi
	}
	if end != rows.hi {
		return []interval{rows}
	}
	return list
}

// chunksOf lists the contents of chunks of an input.
func (x *expectation) chunksOf(tensor string, h held) (list []expr) {
	for _, c := range h.chunks {
		list = append(list, x.given(x.buffer(tensor), int32(h.rank), x.run, c))
	}
	return list
}

// ofAll lists the chunks of all ranks that make up a box, in the order of ranks. The chunks follow one another along
// one axis, and each fills the box along the other axes. It is nil where no such chunks fill the box.
func (x *expectation) ofAll(tensor string, part box, along int) (all []held) {
	end := part[along].lo
	for r, boxes := range x.boxes[tensor] {
		h := held{rank: r}
		for i, b := range boxes {
			rest := b
			if rest[along] = part[along]; b == (box{}) || rest != part {
				continue
			}
			if b[along].lo != end {
				return nil
			}
			h.chunks, end = append(h.chunks, int32(i)), b[along].hi
		}
		if len(h.chunks) > 0 {
			all = append(all, h)
		}
	}
	if end != part[along].hi {
		return nil
	}
	return all
}

// find locates a box of an input: on the given rank, or, where the tensor is spread, on the
// rank that has it.
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

// within lists the chunks that make up a box; nil where no chunks do.
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
