package reference

import (
	"slices"

	"ovgen/schedule"
)

// largestScale is the largest scale of inputs: scales are 1 or 2.
const largestScale = 2

// scaled are the values of a tensor; values of eight bits are multiplied by the scales of their rows, or by the scale
// of the tensor. A product of a number of eight bits and a number of fp32 is exact in float64.
func (p *Problem) scaled(name string, v map[string]Values) Values {
	scale := p.Tensor(name).Scale
	if scale == "" {
		return v[name]
	}
	x, scales := v[name], v[scale]
	made, place := newValues(len(x.Want)), p.placeOfScale(name)
	for i := range made.Want {
		a, by := x.At(i), scales.At(place(i))
		made.Want[i] = a.Want * by.Want
		made.Lo[i], made.Hi[i] = min(a.Lo*by.Lo, a.Lo*by.Hi), max(a.Hi*by.Lo, a.Hi*by.Hi)
	}
	return made
}

// placeOfScale returns the index of the scale that an element of a tensor has.
func (p *Problem) placeOfScale(name string) func(i int) int {
	scale := p.Tensor(p.Tensor(name).Scale)
	if !scale.ByBlock() {
		row := p.Elements(name) / max(p.Elements(scale.Name), 1) // without rows there are no scales
		return func(i int) int { return i / row }
	}
	sizes, of := p.sized().Sizes(name), p.sized().Sizes(scale.Name)
	_, block, _ := scale.Axes[0].Extent.Blocks()
	if scale.OfSquares() {
		return func(i int) int { return i/sizes[1]/int(block)*of[1] + i%sizes[1]/int(block) }
	}
	return func(i int) int { return i%sizes[1]/int(block)*of[1] + i/sizes[1] }
}

// blocks are the first columns of the blocks of rows with that many columns: of the first block of all rows, and then
// of the next block.
func (v Values) blocks(columns, block int) Values {
	rows := len(v.Want) / max(columns, 1)
	made := newValues(rows * (columns / block))
	for i := range made.Want {
		from := i%rows*columns + i/rows*block
		made.Want[i], made.Lo[i], made.Hi[i] = v.Want[from], v.Lo[from], v.Hi[from]
	}
	return made
}

// column is the first column of rows with that many columns.
func (v Values) column(columns int) Values {
	rows := len(v.Want) / max(columns, 1)
	made := newValues(rows)
	for i := range rows {
		made.Want[i], made.Lo[i], made.Hi[i] = v.Want[i*columns], v.Lo[i*columns], v.Hi[i*columns]
	}
	return made
}

// quantised reports whether a copy makes eight bits of this tensor, and returns the number of columns that have a
// scale. The rows of such a tensor are drawn with different sizes, so that a scale of another row is noticed.
func (p *Problem) quantised(name string) (columns int, ok bool) {
	i := slices.IndexFunc(p.steps, func(s Step) bool {
		return s.A == name && s.Does == Copies && len(s.Made) > 0 && p.Tensor(s.C).Scale != ""
	})
	if i < 0 {
		return 0, false
	}
	columns, _ = p.columns(p.steps[i].C)
	if scale := p.Tensor(p.Tensor(p.steps[i].C).Scale); scale.ByBlock() {
		_, block, _ := scale.Axes[0].Extent.Blocks()
		columns = int(block)
	}
	return columns, true
}

// valued are the functions on which the values of a step's result depend: the last function of a result of eight bits
// only divides by its scales.
func (p *Problem) valued(s Step) []schedule.Func {
	if p.Tensor(s.C).Scale == "" || len(s.Made) == 0 {
		return s.Made
	}
	return s.Made[:len(s.Made)-1]
}
