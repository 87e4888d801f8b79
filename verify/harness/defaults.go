package harness

import (
	"slices"

	"ovgen/runtime/driver"
	"ovgen/schedule"
	"ovgen/verify/reference"
)

// shapesOf are the shapes to run with a type, whole: those asked for, or the defaults.
func (o *options) shapesOf(p *Program, t driver.Type, onGPU bool) []Shape {
	list := o.shapes
	if len(list) == 0 && o.command == "bench" {
		list = p.benchShapes(o.ranks, onGPU)
	} else if len(list) == 0 {
		list = p.verifyShapes(t, o.ranks, onGPU)
	}
	var typed []Shape
	for _, s := range list {
		s = s.with(o.extents).fit(p, o.ranks)
		s.Type = t
		if !slices.Contains(typed, s) {
			typed = append(typed, s)
		}
	}
	return typed
}

// with is the shape with the values of another in place of its own.
func (s Shape) with(other Shape) Shape {
	for _, e := range symbols {
		if n := *other.at(e); n != 0 {
			*s.at(e) = n
		}
	}
	return s
}

// verifyShapes are a plain one and one whose rows a rank are no multiple of 8,
// where the type allows with odd K and N too; GPUs get one that fills them. All are
// widened to what the placements and New need.
func (p *Program) verifyShapes(t driver.Type, ranks int, onGPU bool) []Shape {
	odd := Shape{M: 26 * ranks, K: 72, N: 40, N2: 16, N3: 24}
	granule := 8
	if t == driver.FP32 {
		odd.K, odd.N, odd.N2, odd.N3, granule = 67, 35, 9, 11, 1
	}
	list := []Shape{{M: 16 * ranks, K: 64, N: 48}, odd}
	if onGPU {
		list = append(list, Shape{M: 500 * ranks, K: 4096, N: 3584})
	}
	for i, s := range list {
		rows := p.divisor(schedule.M, ranks)
		s.M = multiple(s.M, rows)
		if i == 1 && s.M/rows%2 == 0 && rows > 2*ranks {
			s.M += rows
		}
		list[i] = p.widened(s, ranks, granule)
	}
	return list
}

// widened is a shape whose other extents than M are multiples of what they are cut in,
// parts being multiples of granule; constants stand for themselves.
func (p *Program) widened(s Shape, ranks, granule int) Shape {
	constants := p.schedule().Constants()
	for _, e := range symbols {
		at := s.at(e)
		if n, constant := constants[e]; constant && !(e == schedule.N && p.shares(s)) {
			*at = int(n)
		} else if *at != 0 && e != schedule.M {
			*at = p.widen(e, *at, ranks, granule)
		}
	}
	if s.P > 0 && p.measures(schedule.P) {
		s.M = min(s.M, s.P*ranks)
	}
	return s
}

// widen makes an extent a multiple of what it is cut in.
func (p *Program) widen(x schedule.Extent, value, ranks, granule int) int {
	d := p.divisor(x, ranks)
	if d > 1 {
		d *= granule
	}
	return multiple(value, d)
}

func multiple(x, of int) int { return (x + of - 1) / of * of }

func (p *Program) benchShapes(ranks int, onGPU bool) []Shape {
	var list []Shape
	switch {
	case !onGPU:
		list = []Shape{{M: 64 * ranks, K: 256, N: 256}}
	case !p.measures(schedule.N): // an all-to-all of vectors
		for m := 1 << 10; m <= 1<<26; m *= 8 {
			list = append(list, Shape{M: m})
		}
	case p.bare():
		for m := 64; m <= 1<<16; m *= 8 {
			list = append(list, Shape{M: m, N: 8192})
		}
	default:
		list = []Shape{
			{M: 32768, K: 16384, N: 8192}, {M: 16384, K: 8192, N: 8192}, {M: 8192, K: 8192, N: 8192}, {M: 4096, K: 8192, N: 7168},
			{M: 2048, K: 8192, N: 3584}, {M: 1024, K: 4096, N: 3584}, {M: 512, K: 4096, N: 3584},
		}
	}
	for i, s := range list {
		s.M = p.widen(schedule.M, s.M, ranks, 2)
		list[i] = p.widened(s, ranks, 8)
	}
	return list
}

// staging is what the plans of this command line need of the arena at most.
func (o *options) staging(onGPU bool) (bytes int64) {
	for _, p := range o.programs {
		for _, t := range o.typesOf(&p) {
			for _, s := range o.shapesOf(&p, t, onGPU) {
				if x, err := p.problem(s, o.ranks); err == nil { // else said where it runs
					bytes = max(bytes, staged(x))
				}
			}
		}
	}
	return bytes
}

// slack is room for what alignment takes, beside staged.
const slack = 288 << 10

// staged bounds what a plan of any schedule stages: what it gathers, what lies
// between two layers, of partial results every rank's, and of uneven parts a rank each
// of the most rows that one may have.
func staged(x *reference.Problem) int64 {
	ranks, elements := x.Extents[schedule.D], 0
	for _, t := range x.Tensors {
		n := x.Elements(t.Name)
		if reference.Result(t.Name) && x.Reduces() {
			n *= ranks + 1
		}
		elements += n
	}
	if x.Op == schedule.MLP {
		elements += x.Elements(reference.Hidden)
	}
	elements += ranks * x.Extents[schedule.P] * max(x.Extents[schedule.N], 1)
	return int64(elements) * x.Type.Size()
}
