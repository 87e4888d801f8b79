package lower

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// communication is the transfer that a result's placement needs, and the tensor that
// travels.
type communication struct {
	moves   moves
	operand string // that travels
}

// moves is a kind of communication.
type moves string

// rule is a row of the table of communications: tensors placed so need it. Placements
// are written as Tensor.String does, with S for a constant number of parts; a tensor
// that a row does not name is whole on every rank.
type rule struct {
	communication
	kind   kind
	places map[string]string
}

// rules is the table, which can be checked against nvFuser's inference from the
// placements of producer and consumer: DIDx to none or to Stream is an all-gather (a shard a step
// where Stream is on the axis of DIDx), a reduced DIDx to DIDx a reduce-scatter, to
// none an all-reduce.
var rules = slices.Concat(gatherRules, reduceRules, copyRules, weightRules, layerRules)

// infer finds the row that has the schedule's placements.
func infer(d *draft) error {
	if d.form.kind == chains {
		return errorsOf(chained(d), d.spread())
	}
	if err := columns(d); err != nil {
		return err
	}
	r, wrong := nearest(d)
	if err := r.functions(d); err != nil {
		return err
	}
	if len(wrong) > 0 {
		return r.refuse(d, wrong)
	}
	d.comm = r.communication
	d.chunks = chunksOf(d.schedule)
	return errorsOf(r.unread(d), d.eachTravels(), d.spread())
}

// spread finds the communications of ranks on several hosts, where the mesh has them.
func (d *draft) spread() error {
	if !d.original.OverHosts() {
		return nil
	}
	const alone = "leave the mesh out, for ranks of one host"
	legs := d.legs()
	if len(legs) == 0 {
		return &schedule.FieldError{Path: "Mesh", Hint: alone, Msg: "nothing travels, between hosts or on one"}
	}
	for _, l := range legs {
		if !isOverHosts(l.moves) {
			return &schedule.FieldError{Path: "Mesh", Hint: alone,
				Msg: fmt.Sprintf("no pass does the %s of %s over hosts", l.moves, d.form.tensor(l.operand))}
		}
	}
	if d.chain == nil {
		d.comm.moves = legs[0].moves
	}
	return nil
}

// nearest is the row of the schedule's operation that the fewest tensors contradict, and their
// indices. Tensors that a row does not read are not counted.
func nearest(d *draft) (best *rule, wrong []int) {
	for i := range rules {
		r := &rules[i]
		if r.kind != d.form.kind {
			continue
		}
		misplaced := r.misplaced(d)
		if best == nil || len(misplaced) < len(wrong) {
			best, wrong = r, misplaced
		}
	}
	return best, wrong
}

// misplaced are the numbers of the tensors that the row wants elsewhere.
func (r *rule) misplaced(d *draft) (list []int) {
	for i, t := range d.schedule.Tensors {
		if r.reads(t.Name) && r.place(d.form, t) != placement(d.form, d.ownColumns(t)) {
			list = append(list, i)
		}
	}
	return list
}

// place is where the row wants a tensor. A further result lies as C does, and the
// gathered operand, where the caller wants it, in the steps of C.
func (r *rule) place(f form, t schedule.Tensor) string {
	if p, ok := r.places[t.Name]; ok {
		return p
	}
	switch c, ok := r.places["C"]; {
	case ok && (strings.HasPrefix(t.Name, "C") || t.Name == "Added"):
		return c
	case ok && t.Name == "Gathered":
		return strings.Replace(c, "N]", "K]", 1)
	}
	return schedule.Tensor{Axes: undivided(f.extents(t))}.String()
}

// undivided axes have no splits.
func undivided(extents []schedule.Extent) []schedule.Axis {
	var axes []schedule.Axis
	for _, e := range extents {
		axes = append(axes, schedule.Dim(e))
	}
	return axes
}

// placement is a tensor's, with the symbols of its role in place of the schedule's.
func placement(f form, t schedule.Tensor) string {
	extents := f.extents(t)
	if len(extents) != len(t.Axes) {
		return written(t)
	}
	symbolic := schedule.Tensor{Name: t.Name}
	for i, a := range t.Axes {
		axis := schedule.Axis{Extent: extents[i]}
		for _, s := range a.Outer {
			if s.Count != schedule.D {
				s.Count = chunksName
			}
			s.Most = "" // any number of rows is placed alike
			axis.Outer = append(axis.Outer, s)
		}
		symbolic.Axes = append(symbolic.Axes, axis)
	}
	text := symbolic.String()
	if t.Root {
		text += " on rank 0"
	}
	return text
}

// chunksOf is the number of steps or of batches that C is cut into, zero where there is no constant.
func chunksOf(s schedule.Schedule) int {
	c, _ := s.Tensor("C")
	for _, a := range c.Axes {
		for _, split := range a.Outer {
			if n, err := strconv.Atoi(string(split.Count)); err == nil {
				return max(n, 0)
			}
		}
	}
	return 0
}

// tensors declares a buffer for each tensor, indexed by the parts of its first axis,
// and the numbers by which the splits divide the shape.
func (d *draft) tensors() error {
	for i, t := range d.schedule.Tensors {
		t, err := d.chunked(i, t)
		if err != nil {
			return err
		}
		for _, a := range t.Axes {
			d.divisible(a)
		}
		d.program.Buffers = append(d.program.Buffers, hostir.Buffer{Name: t.Name, Tensor: t, Owner: hostir.Caller,
			Elements: elements(t), Chunk: chunk(t)})
	}
	return nil
}

// chunked is the tensor with the name S for a constant number of steps.
func (d *draft) chunked(i int, t schedule.Tensor) (schedule.Tensor, error) {
	t.Axes = slices.Clone(t.Axes)
	for j, a := range t.Axes {
		a.Outer = slices.Clone(a.Outer)
		for k, split := range a.Outer {
			if split.Count == schedule.D {
				continue
			}
			if string(split.Count) != strconv.Itoa(d.chunks) {
				return t, &schedule.FieldError{Path: fmt.Sprintf("Tensors[%d].Axes[%d].Outer[%d].Count", i, j, k),
					Msg: fmt.Sprintf("%s parts where the stream axis of %s has %d steps", split.Count,
						d.form.tensor("C"), d.chunks),
					Hint: "write the same in both"}
			}
			d.program.Constants[chunksName] = int64(d.chunks)
			a.Outer[k].Count = chunksName
		}
		t.Axes[j] = a
	}
	return t, nil
}

// divisible asks that an axis can be cut into its parts, once for each extent.
func (d *draft) divisible(a schedule.Axis) {
	check := hostir.Divide{Extent: a.Extent}
	_, rows, joined := factors(a.Extent)
	if joined {
		check.Extent = rows
	}
	for _, s := range a.Outer {
		switch {
		case joined && s.Kind == schedule.Plain:
		case s.Uneven || s.Count == a.Extent:
		case s.Count == schedule.D:
			check.By = s.Count
		default:
			check.Times = d.program.Constants[string(s.Count)]
		}
	}
	if check.By != "" && !slices.Contains(d.program.Checks, check) {
		d.program.Checks = append(d.program.Checks, check)
	}
}

// elements counts the elements of a rank's part of a tensor.
func elements(t schedule.Tensor) hostir.Expr {
	return volume(t, func(_ int, s schedule.Split) bool { return s.Kind == schedule.DeviceX })
}

// chunk counts the elements of one part of the outermost axis, or all without parts.
func chunk(t schedule.Tensor) hostir.Expr {
	return volume(t, func(axis int, s schedule.Split) bool { return axis == 0 || s.Kind == schedule.DeviceX })
}

// volume multiplies the extents of a tensor, each divided by the splits that cut says.
func volume(t schedule.Tensor, cut func(axis int, s schedule.Split) bool) hostir.Expr {
	var n hostir.Expr
	for i, a := range t.Axes {
		e, by := extent(a.Extent), hostir.Expr{}
		for _, s := range a.Outer {
			if !cut(i, s) {
				continue
			}
			if s.Count == a.Extent {
				e = hostir.Const(1)
				continue
			}
			by = times(by, extent(s.Count))
		}
		if !by.IsZero() {
			e = hostir.Div(e, by)
		}
		n = times(n, e)
	}
	return n
}

// times multiplies; an absent factor counts as 1.
func times(x, y hostir.Expr) hostir.Expr {
	switch one := hostir.Const(1); {
	case x.IsZero(), x.Equal(one):
		return y
	case y.Equal(one):
		return x
	}
	return hostir.Mul(x, y)
}
