package reference

import (
	"math"
	"math/rand/v2"

	"ovgen/schedule"
	"ovgen/verify/formula"
)

// Integers are drawn as multiples of units for which functions are exact: far from zero, a gate is its operand or zero,
// to the last bit. The formula shows that, evaluated at multiples.

// mostUnit is the largest unit that is tried; units are powers of two.
const mostUnit = 1 << 10

// leastUnit is the least unit whose multiples a function turns into integers that every device computes exactly, where
// there is one.
func leastUnit(of func([]formula.Value) []formula.Value) (unit int, ok bool) {
	for unit = 1; unit <= mostUnit; unit *= 2 {
		var x []formula.Value
		for k := -sampled / 2; k < sampled/2; k++ {
			x = append(x, formula.Point(float64(k%9*unit)))
		}
		if integers(of(x)) {
			return unit, true
		}
	}
	return 1, false
}

// sampled is the number of elements that are tried: whole heads of any usual width.
const sampled = 512

// integers reports whether all values are integers that every device computes exactly.
func integers(values []formula.Value) bool {
	for _, v := range values {
		if !v.IsPoint() || math.IsInf(v.Lo, 0) || formula.LeastBit(v.Lo) < 0 {
			return false
		}
	}
	return true
}

// unitOfFunc is the unit of a function in a separate kernel, with 1 and -1 in all its operands.
func (d *drawing) unitOfFunc(f schedule.Func) (unit int, ok bool) {
	return leastUnit(func(x []formula.Value) []formula.Value { return d.sample(f, x, map[string]drawn{}) })
}

// unitOfLibrary is the unit of a function that products apply.
func (p *Problem) unitOfLibrary(epilogue string) int {
	unit, _ := leastUnit(func(x []formula.Value) []formula.Value {
		made := make([]formula.Value, len(x))
		for i, v := range x {
			made[i] = byLibrary(epilogue, v)
		}
		return made
	})
	return unit
}

// sample is a function of some elements, with operands as they are drawn.
func (d *drawing) sample(f schedule.Func, x []formula.Value, of map[string]drawn) []formula.Value {
	made := newValues(len(x))
	row := formula.Row{X: x, Param: d.Problem.param, Width: d.Problem.width,
		Operand: func(name string, i int) formula.Value {
			unit := max(of[name].unit, 1)
			return formula.Point(float64(unit * (1 - 2*int(Hash(1, int64(i))&1))))
		}}
	list := []formula.Value{}
	for i, v := range row.Of(schedule.Nodes(d.schedule().Tree(f))) {
		made.set(i, v, formatOf(d.Type))
		list = append(list, made.At(i))
	}
	return list
}

// made is the distribution of a function's results on elements that are drawn so. It draws the operands that are not
// drawn yet.
func (d *drawing) made(f schedule.Func, x drawn) drawn {
	for _, name := range f.Reads() {
		if _, known := d.values[name]; !known {
			d.values[name] = drawn{1, 1}
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	elements := make([]formula.Value, sampled)
	for i := range elements {
		k := math.Round(random.NormFloat64() * math.Sqrt(x.density))
		elements[i] = formula.Point(k * float64(x.unit))
	}
	least, squares := math.MaxInt, 0.0
	for _, v := range d.sample(f, elements, d.values) {
		least, squares = min(least, formula.LeastBit(v.Want)), squares+v.Want*v.Want/sampled
	}
	if least < 0 || squares == 0 || math.IsInf(squares, 0) || math.IsNaN(squares) {
		return drawn{1, 1} // reals of an unknown size
	}
	unit := 1 << min(least, 20)
	return drawn{squares / float64(unit) / float64(unit), unit}
}
