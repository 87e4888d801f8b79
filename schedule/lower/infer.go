package lower

import (
	"fmt"
	"slices"
	"strconv"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// infer finds the stages, and whether some way does each of their communications.
func infer(d *draft) error {
	if !slices.ContainsFunc(d.schedule.Ops, schedule.Op.Copies) { // else the stages say
		for _, t := range d.schedule.Tensors {
			if path, n := d.shiftOf(t.Name); n != 0 {
				return refused(path, "leave it out; a permutation is a Copy",
					"no pass lowers a %s of parts that are moved on", d.schedule.Ops[0].Name())
			}
		}
	}
	if err := chained(d); err != nil {
		return err
	}
	d.legs = d.travels()
	if i := slices.IndexFunc(d.original.Ops, schedule.Op.Batched); i >= 0 && d.chunks == 0 && len(d.legs) > 0 {
		return d.apartFrom(i, d.legs[0].String()) // they do not travel one by one
	}
	switch {
	case !d.original.OverHosts():
		return nil
	case len(d.legs) == 0:
		return refused("Mesh", oneHost, "nothing travels, between hosts or on one: %s", d.schedule.Ops[0])
	}
	for _, l := range d.legs {
		if !l.need.served() {
			why := whyNot(l.need, schedule.Rails{})
			l.need.hosts = false
			return refused("Mesh", oneHost, "no pass does the %s of %s over hosts by Rails: %s", l.need, l.operand, why)
		}
	}
	return nil
}

const oneHost = "leave the mesh out, for ranks of one host"

// tensors declares a buffer for each tensor, indexed by the parts of its first axis,
// and the numbers by which the splits divide the shape.
func (d *draft) tensors() error {
	for i, t := range d.schedule.Tensors {
		t.Axes = slices.Clone(t.Axes)
		for j, a := range t.Axes { // with the name S for a constant number of steps
			a.Outer = slices.Clone(a.Outer)
			for k, split := range a.Outer {
				if split.Count == schedule.D {
					continue
				}
				if string(split.Count) != strconv.Itoa(d.chunks) {
					return refused(fmt.Sprintf("Tensors[%d].Axes[%d].Outer[%d].Count", i, j, k),
						"write the same in both", "%s parts where the stream axis of %s has %d steps",
						split.Count, d.schedule.Ops[0].Out, d.chunks)
				}
				d.program.Constants[chunksName] = int64(d.chunks)
				a.Outer[k].Count = chunksName
			}
			t.Axes[j] = a
		}
		cut := t.Axes
		if declared, _ := d.original.Tensor(t.Name); len(declared.Axes) > len(cut) {
			cut = declared.Axes // some of these are one
		}
		for _, a := range cut {
			check := hostir.Divide{Extent: a.Extent} // that it can be cut into its parts
			for _, s := range a.Outer {
				switch {
				case s.Uneven || s.Count == a.Extent:
				case s.Count == schedule.D:
					check.By = s.Count
				default:
					check.Times = d.program.Constants[string(s.Count)]
				}
			}
			if check.By != "" && !a.InBlocks() { // the products of their tensor ask more
				d.program.Ask(check)
			}
		}
		b := hostir.Buffer{Name: t.Name, Tensor: t, Owner: hostir.Caller, Elements: hostir.Elements(t), Chunk: chunk(t)}
		if i >= len(d.original.Tensors) {
			b.Owner = hostir.Plan
		}
		d.program.Buffers = append(d.program.Buffers, b)
	}
	return nil
}

// chunk counts the elements of one part of the outermost axis, or all without parts.
func chunk(t schedule.Tensor) hostir.Expr {
	return hostir.Volume(t, func(axis int, s schedule.Split) bool { return axis == 0 || s.Kind == schedule.DeviceX })
}
