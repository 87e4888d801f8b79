package passes

import (
	"cmp"
	"fmt"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// padding lets steps on all parts of memory with room for padding take that too. Where other memory lies without it a
// step takes one rank's rows after another's, and a product leaves its result in such memory first.
func padding(p *hostir.Program) (err error) {
	p.Body = hostir.MapSteps(p.Body, func(s hostir.Step) []hostir.Node {
		var apart, together bool // it takes all parts of memory with padding, and all parts of other memory
		reads, writes := s.Views()
		for _, v := range append(reads, writes...) {
			if takesAll(p, v) {
				padded := !p.At(v.Buffer).Room.IsZero()
				apart, together = apart || padded, together || !padded
			}
		}
		x, multiplies := s.Do.(hostir.Product)
		switch {
		case !apart:
			return []hostir.Node{s}
		case !together:
			return []hostir.Node{allPadded(p, s)}
		case !multiplies:
			return []hostir.Node{rankAfterRank(p, s)}
		}
		if b := p.At(x.A.Buffer); !b.Counts.IsZero() && b.Room.IsZero() {
			i := slices.IndexFunc(p.Schedule.Tensors, func(t schedule.Tensor) bool { return t.Name == b.Name })
			err = cmp.Or(err, schedule.Refused(fmt.Sprintf("Tensors[%d]", i), "leave it undeclared",
				"products take padded rows, and the caller gets %s without padding", b.Name))
		}
		made := allPadded(p, s.Into(hostir.Chunks(besidePadding(p, x.To.Buffer), x.To.Index, x.To.Count)))
		return []hostir.Node{made, rankAfterRank(p, hostir.Set(s.Stream, x.To, made.Result()))}
	})
	return err
}

// takesAll says that a view is of the parts of all ranks, which differ in size.
func takesAll(p *hostir.Program, v hostir.View) bool {
	return !p.At(v.Buffer).Counts.IsZero() && v.Count.Equal(hostir.Size)
}

// allPadded is a step with the padding of all parts, where it takes all.
func allPadded(p *hostir.Program, s hostir.Step) hostir.Step {
	return s.With(hostir.Parts{View: func(_ string, v hostir.View) hostir.View {
		v.Padded = v.Padded || v.Count.Equal(hostir.Size) && !p.At(v.Buffer).Room.IsZero()
		return v
	}}).(hostir.Step)
}

// rankAfterRank is a step on all parts as one on each rank's.
func rankAfterRank(p *hostir.Program, s hostir.Step) hostir.Node {
	return hostir.Loop("i", hostir.Const(0), hostir.Size, s.With(hostir.Parts{View: func(_ string,
		v hostir.View) hostir.View {
		if takesAll(p, v) {
			v.Index, v.Count, v.Padded = hostir.Var("i"), hostir.Expr{}, false
		}
		return v
	}}))
}

// besidePadding is memory with padding for rows that the caller gets without it.
func besidePadding(p *hostir.Program, name string) string {
	i := slices.IndexFunc(p.Buffers, func(b hostir.Buffer) bool { return !b.Room.IsZero() && len(b.Tensor.Axes) == 3 })
	b := *p.At(name)
	b.Name += hostir.PaddedSuffix
	b.Tensor = schedule.Tensor{Name: b.Name, Type: b.Tensor.Type, Axes: b.Tensor.Axes}
	b.Owner, b.Inner = hostir.Plan, hostir.Inner{}
	b.Pad(p.Buffers[i].Tensor.Axes[1].Extent) // rows of a rank
	p.Buffers = append(p.Buffers, b)
	return b.Name
}
