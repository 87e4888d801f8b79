package reading

import (
	"fmt"
	"strconv"

	"ovgen/schedule"
)

// Extents are the values of the symbols in placements, D included.
type Extents map[schedule.Extent]int

// Of is the value of a symbol or constant.
func (e Extents) Of(x schedule.Extent) (int, error) {
	if v, ok := e[x]; ok {
		return v, nil
	}
	if of, columns, blocks := x.Blocks(); blocks {
		n, err := e.Of(of)
		return n / int(columns), err
	}
	v, err := strconv.Atoi(string(x))
	if err != nil {
		return 0, fmt.Errorf("extent %s has no value", x)
	}
	return v, nil
}

// Part says where the elements of one rank's part of a tensor lie in the whole tensor; the elements of the first piece
// come first. Where parts are even there is one piece.
type Part struct {
	Pieces []Piece
	Count  int // elements of all pieces
}

// Piece is Count elements in runs of a whole tensor: element i is element First + i/Run*Stride + i%Run.
type Piece struct{ First, Run, Stride, Count int }

// At is the index, in the whole tensor, of the part's element i.
func (p Part) At(i int) int {
	for _, x := range p.Pieces {
		if i < x.Count {
			return x.First + i/x.Run*x.Stride + i%x.Run
		}
		i -= x.Count
	}
	return -1
}

// Stretch is the part that has n elements from first on.
func Stretch(first, n int) Part {
	return part(Piece{First: first, Run: max(n, 1), Stride: n, Count: n})
}

// Whole is the part that has all n elements.
func Whole(n int) Part { return Stretch(0, n) }

func part(pieces ...Piece) Part {
	p := Part{Pieces: pieces}
	for _, x := range pieces {
		p.Count += x.Count
	}
	return p
}

// PartOf is the rank's part of a tensor. counts are the extents of uneven parts, one for each rank's part. For a tensor
// [D, D, M] there is one for each pair of ranks, and M is the most that a pair may have.
func PartOf(t schedule.Tensor, e Extents, rank int, counts []int) (Part, error) {
	if axis, ok := Ragged(t); ok {
		return ragged(t, axis, e, rank, counts)
	}
	outer, run, stride, first, sharded := 1, 1, 1, 0, false
	for _, a := range t.Axes {
		c, err := cut(a, e, rank, counts)
		if err != nil {
			return Part{}, fmt.Errorf("place %s: %w", t.Name, err)
		}
		if c.sharded && sharded {
			return Part{}, fmt.Errorf("place %s: it is spread over the ranks twice", t.Name)
		}
		if c.sharded {
			outer, run, stride, first, sharded = outer*run*c.outer, c.run, c.stride, c.first, true
			continue
		}
		run, stride, first = run*c.run, stride*c.run, first*c.run
	}
	return part(Piece{First: first, Run: max(run, 1), Stride: stride, Count: outer * run}), nil
}

// Ragged reports whether a tensor [D, D, ...] has parts of different sizes for pairs of ranks, and which of the two
// axes is spread over the ranks.
func Ragged(t schedule.Tensor) (axis int, ok bool) {
	axis, split, ok := t.Sharded()
	return axis, ok && t.Axes[axis].Extent == schedule.D && t.Axes[axis].Outer[split].Uneven
}

func ragged(t schedule.Tensor, axis int, e Extents, rank int, counts []int) (Part, error) {
	ranks := e[schedule.D]
	if len(t.Axes) < 3 || axis > 1 || t.Axes[1-axis].Extent != schedule.D || len(counts) != ranks*ranks {
		return Part{}, fmt.Errorf("place %s: uneven parts %v of %s over %d ranks (a tensor [D, D, M] with a count "+
			"for each pair is known, or one of rows, [D, D, M, N])", t.Name, counts, t, ranks)
	}
	most, err := e.Of(t.Axes[2].Extent)
	if err != nil {
		return Part{}, err
	}
	row, err := Elements(schedule.Tensor{Name: t.Name, Axes: t.Axes[3:]}, e)
	if err != nil {
		return Part{}, err
	}
	var pieces []Piece
	for other := range ranks {
		pair := rank*ranks + other
		if axis == 1 {
			pair = other*ranks + rank
		}
		if counts[pair] > most {
			return Part{}, fmt.Errorf("place %s: count %d is above the most, %d", t.Name, counts[pair], most)
		}
		pieces = append(pieces, Stretch(pair*most*row, counts[pair]*row).Pieces...)
	}
	return part(pieces...), nil
}

// slice is a rank's part of one axis: outer ranges of run indices each, stride apart.
type slice struct {
	outer, run, stride, first int
	sharded                   bool
}

func cut(a schedule.Axis, e Extents, rank int, counts []int) (slice, error) {
	whole, err := e.Of(a.Extent)
	if err != nil {
		return slice{}, err
	}
	left := whole
	s := slice{outer: 1, run: left, stride: left}
	for _, o := range a.Outer {
		n, err := e.Of(o.Count)
		if err != nil {
			return slice{}, err
		}
		if o.Uneven {
			return uneven(left, a, o, rank, n, counts)
		}
		if n < 1 || left%n != 0 {
			return slice{}, fmt.Errorf("extent %s: %d cannot be cut as %v", a.Extent, whole,
				schedule.Tensor{Axes: []schedule.Axis{a}})
		}
		left /= n
		switch {
		case o.Kind == schedule.DeviceX && s.sharded:
			return slice{}, fmt.Errorf("extent %s is spread over the ranks twice", a.Extent)
		case o.Kind == schedule.DeviceX:
			part := ((rank-o.Shift)%n + n) % n
			s = slice{outer: s.outer, run: left, stride: n * left, first: part * left, sharded: true}
		case !s.sharded:
			s.outer *= n
		}
	}
	if !s.sharded {
		s.outer = 1
	}
	return s, nil
}

func uneven(left int, a schedule.Axis, o schedule.Split, rank, ranks int, counts []int) (slice, error) {
	sum := 0
	for _, c := range counts {
		sum += c
	}
	if len(a.Outer) != 1 || len(counts) != ranks || sum != left {
		return slice{}, fmt.Errorf("extent %s: %d uneven parts %v of %d over %d ranks", a.Extent,
			len(counts), counts, left, ranks)
	}
	part := ((rank-o.Shift)%ranks + ranks) % ranks
	s := slice{outer: 1, run: counts[part], stride: left, sharded: true}
	for _, c := range counts[:part] {
		s.first += c
	}
	return s, nil
}

// Elements is the number of elements of the whole tensor.
func Elements(t schedule.Tensor, e Extents) (int, error) {
	n := 1
	for _, a := range t.Axes {
		v, err := e.Of(a.Extent)
		if err != nil {
			return 0, fmt.Errorf("size of %s: %w", t.Name, err)
		}
		n *= v
	}
	return n, nil
}

// Divisor is the number that must divide an extent, so that every axis with this extent can be cut.
func Divisor(x schedule.Extent, tensors []schedule.Tensor, e Extents) int {
	divisor := 1
	for _, t := range tensors {
		for _, a := range t.Axes {
			n := 1
			for _, o := range a.Outer {
				if v, err := e.Of(o.Count); err == nil && !o.Uneven {
					n *= v
				}
			}
			if a.Extent == x {
				divisor = divisor / gcd(divisor, n) * n
			}
		}
	}
	return divisor
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
