package harness

import (
	"slices"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/schedule"
	"ovgen/verify/reference"
)

// With is the shape with the values that the other shape sets.
func (s Shape) With(other Shape) Shape {
	for _, e := range Symbols {
		if n := *other.At(e); n != 0 {
			*s.At(e) = n
		}
	}
	return s
}

// VerifyShapes are the shapes to verify. One is plain. One has a number of rows per rank that is no multiple of 8,
// where the type allows odd K and N too, and where New takes them rows that the ranks don't divide. GPUs also get a
// shape that fills them, unless only the host can make the results without the program and would take seconds. All
// shapes are widened to the multiples that the placements and New require.
func (p *Program) VerifyShapes(t driver.Type, ranks int, onGPU bool) []Shape {
	odd := Shape{M: 26 * ranks, K: 72, N: 40, N2: 16, N3: 24}
	granule := 8
	if t == driver.FP32 {
		odd.K, odd.N, odd.N2, odd.N3, granule = 67, 35, 9, 11, 1
	}
	if slices.ContainsFunc(p.Schedule.Tensors, schedule.Tensor.OfSquares) {
		odd.K, odd.N = 1000, 300 // several squares in each direction
	}
	if p.Schedule.HasEpsilon() {
		odd.Epsilon = 1. / 16 // results differ much from results with the default
	}
	list := []Shape{{M: 16 * ranks, K: 64, N: 48}, odd}
	if onGPU {
		list = append(list, Shape{M: 500 * ranks, K: 4096, N: 3584})
	}
	if p.Schedule.FewRows > 0 { // by kernels with room for that many rows or more, also for one rank
		list = append(list, Shape{M: ranks, K: 256 * ranks, N: 128}, Shape{M: 5 * ranks, K: 768 * ranks, N: 64},
			Shape{M: 11 * min(ranks, 5), K: 256 * ranks, N: 128}, Shape{M: 40, K: 768 * ranks, N: 64})
	}
	if onGPU && p.Tiled() {
		list = append(list, tiled(ranks)...)
	}
	for i, s := range list {
		if p.Measures(schedule.W) {
			s.W = p.heads(s.K, ranks)
		}
		rows := p.divisor(schedule.M, s, ranks)
		_, balanced := p.balanced()
		s.M = multiple(s.M, rows)
		if i == 1 && (s.M/rows%2 == 0 && rows > 2*ranks || rows == 1 && (!p.uneven() || balanced)) {
			s.M += rows
		}
		list[i] = p.widened(s, ranks, granule)
	}
	return append(list[:2], slices.DeleteFunc(list[2:], func(s Shape) bool {
		s.Type = t
		return p.Large(s, ranks) && p.hostOnly(s, ranks)
	})...)
}

// hostOnly reports whether only the host can make the results without the program, which takes long where there is much
// to multiply.
func (p *Program) hostOnly(s Shape, ranks int) bool {
	x, err := p.Problem(s, ranks)
	return err == nil && x.HostOnly()
}

// Tiled reports whether a product is made by tiles.
func (p *Program) Tiled() bool {
	return slices.ContainsFunc(p.Schedule.Moves, func(m schedule.Move) bool {
		return schedule.FactsOf(m.Way).Multiplies
	})
}

// tiled are shapes whose rows are no multiple of the 128 rows of a tile, and whose columns are no multiple of any
// tile's columns. K is less than a stage, one and two stages, and more stages that are not whole, up to the most that
// the ring holds at once. One shape has a tile a rank that is hardly filled, and one has more tiles than there are
// multiprocessors.
func tiled(ranks int) []Shape {
	return []Shape{{M: 130 * ranks, K: 8, N: 1000}, {M: 129 * ranks, K: 64, N: 264}, {M: 300 * ranks, K: 128, N: 3000},
		{M: ranks, K: 200, N: 8}, {M: 127 * ranks, K: 320, N: 1032}, {M: 1100 * ranks, K: 72, N: 5000}}
}

// PlainShape has the given number of rows per rank in each extent, rounded up to the multiples that the placements and
// New require.
func (p *Program) PlainShape(rows, ranks int) Shape {
	n := rows * ranks
	s := p.widened(Shape{M: n, K: n, N: n}.Fit(p, ranks), ranks, 1)
	s.M = multiple(s.M, p.divisor(schedule.M, s, ranks))
	return s
}

// widened is a shape whose extents, except M, are multiples of their numbers of parts, in parts that are multiples of
// granule; constants keep their values.
func (p *Program) widened(s Shape, ranks, granule int) Shape {
	constants := p.Schedule.Constants()
	if p.Measures(schedule.W) && s.W == 0 {
		s.W = p.heads(s.K, ranks)
	}
	for _, e := range Symbols {
		at := s.At(e)
		if n, constant := constants[e]; constant && !(e == schedule.N && p.shares(s)) {
			*at = int(n)
		} else if *at != 0 && e != schedule.M {
			*at = p.widen(e, s, ranks, granule)
		}
	}
	if c, ok := p.flat(); ok && !s.meets(c, ranks) {
		e := c.With
		if s.At(e) == nil { // a constant
			e = c.Extent
		}
		*s.At(e) = multiple(*s.At(e), lcm(p.divisor(e, s, ranks), int(c.Divisor(int64(ranks), int64(s.W)))))
	}
	if s.P > 0 && p.Schedule.Bounded() {
		s.M = min(s.M, s.P*ranks)
	}
	return s
}

// widen makes an extent a multiple of its number of parts, with a least number of elements in each part. Heads already
// have that many.
func (p *Program) widen(x schedule.Extent, s Shape, ranks, granule int) int {
	d := p.divisor(x, s, ranks)
	if x == schedule.N && p.shares(s) { // a rank's share of F
		d = lcm(d, lcm(p.divisor(schedule.F, s, ranks), ranks)/ranks)
	}
	if heads := x == schedule.W || x != schedule.M && d%(ranks*granule) == 0; d > 1 && !heads {
		d *= granule
	}
	return multiple(*s.At(x), d)
}

func multiple(x, of int) int { return (x + of - 1) / of * of }

// BenchShapes are the shapes of bench where the user gives none: on GPUs, shapes of large models, or growing sizes for
// a bare communication; in the simulator one small shape.
func (p *Program) BenchShapes(ranks int, onGPU bool) []Shape {
	var list []Shape
	switch {
	case !onGPU:
		list = []Shape{{M: 64 * ranks, K: 256, N: 256}}
	case !p.Measures(schedule.N): // an all-to-all of vectors
		for m := 1 << 10; m <= 1<<26; m *= 8 {
			list = append(list, Shape{M: m})
		}
	case p.Bare():
		for m := 64; m <= 1<<16; m *= 8 {
			list = append(list, Shape{M: m, N: 8192})
		}
	default:
		list = []Shape{
			{M: 32768, K: 16384, N: 8192}, {M: 16384, K: 8192, N: 8192}, {M: 8192, K: 8192, N: 8192},
			{M: 4096, K: 8192, N: 7168},
			{M: 2048, K: 8192, N: 3584}, {M: 1024, K: 4096, N: 3584}, {M: 512, K: 4096, N: 3584},
		}
	}
	for i, s := range list {
		s.M = p.widen(schedule.M, s, ranks, 2)
		list[i] = p.widened(s, ranks, 8)
	}
	return list
}

// slack is room for alignment, beyond staged.
const slack = 288 << 10

// Arena is the number of bytes of an arena in which a plan of the program has room at a shape.
func (p *Program) Arena(s Shape, ranks int) int64 {
	return group.ArenaBytes(p.Staging(s, ranks)+slack, 0)
}

// Staging bounds the bytes that a plan of the program stages at a shape, with the bytes in which packets land; zero for
// a shape that the program does not take.
func (p *Program) Staging(s Shape, ranks int) int64 {
	x, err := p.Problem(s, ranks)
	if err != nil {
		return 0
	}
	return staged(x) + p.landing(x) + p.betweenHosts(x)
}

// betweenHosts bounds the bytes of sums that travel between hosts: the sums of each host and the gather behind them,
// beside the partial results of few ranks.
func (p *Program) betweenHosts(x *reference.Problem) (bytes int64) {
	if !p.Schedule.OverHosts() || !x.Reduces() {
		return 0
	}
	for _, t := range x.Tensors {
		if x.Result(t.Name) {
			bytes += 6 * int64(x.Elements(t.Name)) * x.Type.Size()
		}
	}
	return bytes
}

// landing bounds the bytes in which packets land: two halves of three times each rank's shard or partial result, or of
// three times a part of it, of the sums, and of what each function of rows makes of them.
func (p *Program) landing(x *reference.Problem) (bytes int64) {
	for _, m := range p.Schedule.Moves {
		switch way := schedule.FactsOf(m.Way); {
		case way.Lands && way.TwoShots:
			landings := int64(2)
			for _, o := range p.Schedule.Ops {
				if way.SendsMade {
					landings += int64(len(o.Then))
				}
			}
			bytes += landings * (6*int64(x.Elements(m.Of))*x.Type.Size() + slack)
		case way.Lands:
			bytes += 6*int64(x.Extents[schedule.D]*x.Elements(m.Of))*x.Type.Size() + slack
		}
	}
	return bytes
}

// staged bounds the bytes that a plan of any schedule stages: gathered operands, the tensor between two layers, every
// rank's partial results, and for each rank an uneven part of the most rows.
func staged(x *reference.Problem) int64 {
	ranks, elements := x.Extents[schedule.D], 0
	for _, t := range x.Tensors {
		n := x.Elements(t.Name)
		if x.Result(t.Name) && x.Reduces() {
			n *= ranks + 1
		}
		elements += n
	}
	for _, name := range x.Hidden() {
		elements += x.Elements(name)
	}
	elements += ranks * x.Extents[schedule.P] * max(x.Extents[schedule.N], 1)
	return int64(elements) * x.Type.Size()
}
