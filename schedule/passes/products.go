package passes

import (
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// fewRows gives the products that a kernel makes, where they are of few rows, that kernel. It refuses a schedule that
// asks for it and has none.
func fewRows(p *hostir.Program) error {
	if p.Schedule.FewRows == 0 {
		return nil
	}
	made, constant := false, ""
	p.Body = hostir.ChangeSteps(p.Body, func(s hostir.Step) hostir.Step {
		if x, multiplies := s.Do.(hostir.Product); multiplies && x.Kernel() == hostir.FewRowsKernel {
			s.By, made = hostir.FewRowsKernel, true
			if b, _ := p.Buffer(x.B.Buffer); !slices.ContainsFunc(b.Tensor.Axes, func(a schedule.Axis) bool {
				return !a.Extent.Constant()
			}) {
				constant = x.B.Buffer
			}
		}
		return s
	})
	if !made {
		hint := "leave it out"
		for _, e := range p.Edges {
			if schedule.FactsOf(e.Way).Multiplies {
				hint += ", or move " + e.Of + " by another way than schedule." + schedule.WayName(e.Way)
			}
		}
		return schedule.Refused("FewRows", hint, "no product of own rows and a weight has its result stored as it is")
	} else if constant != "" {
		return schedule.Refused("FewRows", "leave it out, or write extents for its axes",
			"kernels of few rows take elements of 16 bits alone, and no proof for all types has a weight of "+
				"constants, such as %s", constant)
	}
	return nil
}

// invariant lets the library of products and kernels of tiles add in one order, whatever the number of rows, and the
// kernels of few rows make products of more. Sums, functions and products by weights of eight bits have one order as
// they are.
func invariant(p *hostir.Program) error {
	if !p.Schedule.Invariant {
		return nil
	}
	p.Body = hostir.ChangeSteps(p.Body, func(s hostir.Step) hostir.Step {
		if s.By == "" || s.By == hostir.FewRowsKernel {
			s = hostir.Changed(s, func(x *hostir.Product) { x.InOrder = true })
		}
		s = hostir.Changed(s, func(x *hostir.Tiles) { x.InOrder = true })
		return hostir.Changed(s, func(x *hostir.Scatter) { x.InOrder = true })
	})
	return nil
}
