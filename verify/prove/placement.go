package prove

import (
	"fmt"

	"ovgen/schedule"
)

// interval is the indices of an axis from lo up to, not including, hi.
type interval struct{ lo, hi int64 }

func (i interval) len() int64 { return i.hi - i.lo }

// box is a part of a whole tensor, an interval of each of its axes.
type box [4]interval

func (b box) String() string {
	text := ""
	for i, x := range b {
		if x.hi == 0 && i > 0 {
			break
		}
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%d:%d", x.lo, x.hi)
	}
	return "[" + text + "]"
}

// placement locates the parts of a tensor by the splits of its axes.
type placement struct {
	schedule.Tensor
	*Computation
	ranks int
}

// axis is a rank's part of an axis: a number of local indices, and the global index of
// each.
type axis struct {
	local  int64
	global func(int64) int64
}

// ragged: the tensor is cut to single indices of its first two axes, and one of the two is spread over the ranks. Each
// such part has a separate length, in elements or in rows.
func (p placement) ragged() bool {
	i, j, ok := p.Sharded()
	return ok && (len(p.Axes) == 3 || len(p.Axes) == 4) && i < 2 && p.Axes[i].Outer[j].Uneven &&
		p.Axes[0].Extent == schedule.D && p.Axes[1].Extent == schedule.D
}

// raggedPart is the i-th part on a rank: its indices of the first two axes, and its length. The length is the count at
// the place of the two indices, row by row.
func (p placement) raggedPart(rank, i int) (x, y, n int64, err error) {
	shard, split, _ := p.Sharded()
	x, y = p.part(p.Axes[shard].Outer[split], rank), int64(i)
	if shard == 1 {
		x, y = y, x
	}
	at := x*int64(p.ranks) + y
	if at >= int64(len(p.Counts)) {
		return 0, 0, 0, fmt.Errorf("%s %s has no count %d", p.Name, p.Tensor, at)
	}
	return x, y, p.Counts[at], nil
}

// inRow is the number of elements in one row of a ragged part: a part with a count of one has that many.
func (p placement) inRow() (int64, error) {
	if len(p.Axes) < 4 {
		return 1, nil
	}
	return p.extent(p.Axes[3].Extent)
}

// raggedBox is the box of the part that fills a range of elements.
func (p placement) raggedBox(rank int, lo, hi int64) (box, error) {
	at := int64(0)
	row, err := p.inRow()
	if err != nil {
		return box{}, err
	}
	for i := range p.ranks {
		x, y, n, err := p.raggedPart(rank, i)
		if err != nil {
			return box{}, err
		}
		if at == lo && at+n*row == hi && n > 0 {
			part := box{{x, x + 1}, {y, y + 1}, {0, n}}
			if len(p.Axes) > 3 {
				part[3] = interval{0, row}
			}
			return part, nil
		}
		at += n * row
	}
	return box{}, fmt.Errorf("elements %d to %d of %s@%d %s are none of its parts", lo, hi, p.Name, rank, p.Tensor)
}

// axis gives a rank's part of axis i. Memory holds the outer splits from the outside in, without the splits over ranks,
// so local indices count through the part of this rank alone.
func (p placement) axis(i, rank int) (axis, error) {
	inner, err := p.extent(p.Axes[i].Extent)
	if err != nil {
		return axis{}, err
	}
	type part struct {
		count, stride int64
		at            int64 // of a split over ranks; else -1
	}
	var parts []part
	for _, s := range p.Axes[i].Outer {
		if s.Kind == schedule.DeviceX && s.Uneven {
			return p.uneven(i, s, rank)
		}
		n, err := p.extent(s.Count)
		if err != nil {
			return axis{}, fmt.Errorf("axis %d of %s %s: %w", i, p.Name, p.Tensor, err)
		}
		if n <= 0 || inner%n != 0 {
			return axis{}, fmt.Errorf("axis %d of %s %s: %d can't be cut into %d equal parts", i,
				p.Name, p.Tensor, inner, n)
		}
		inner /= n
		x := part{n, inner, -1}
		if s.Kind == schedule.DeviceX {
			x.at = p.part(s, rank)
		}
		parts = append(parts, x)
	}
	parts = append(parts, part{inner, 1, -1})
	local := int64(1)
	for _, x := range parts {
		if x.at < 0 {
			local *= x.count
		}
	}
	return axis{local, func(n int64) (g int64) {
		for j := len(parts) - 1; j >= 0; j-- {
			switch x := parts[j]; {
			case x.at >= 0:
				g += x.at * x.stride
			default:
				g += n % x.count * x.stride
				n /= x.count
			}
		}
		return g
	}}, nil
}

// part is the index of the part that a rank has of a split over ranks.
func (p placement) part(s schedule.Split, rank int) int64 {
	d := int64(p.ranks)
	return ((int64(rank)-int64(s.Shift))%d + d) % d
}

// uneven is a rank's part of an axis whose only split is over ranks, with the counts as lengths.
func (p placement) uneven(i int, s schedule.Split, rank int) (axis, error) {
	if len(p.Axes[i].Outer) != 1 || len(p.Counts) < p.ranks {
		return axis{}, fmt.Errorf("axis %d of %s %s: no rule for uneven parts of %d counts", i, p.Name,
			p.Tensor, len(p.Counts))
	}
	at, first := p.part(s, rank), int64(0)
	for _, n := range p.Counts[:at] {
		first += n
	}
	return axis{p.Counts[at], func(n int64) int64 { return first + n }}, nil
}

// sharded reports whether the ranks have different parts of the tensor, or rank 0 all of
// it.
func (p placement) sharded() bool {
	_, _, ok := p.Sharded()
	return ok || p.Root
}

// has reports whether a rank has a part.
func (p placement) has(rank int) bool { return !p.Root || rank == 0 }

// box is the part of the tensor in a range of elements of a rank's memory, where elements lie row by row. It is an
// error if the range is no box of the tensor.
func (p placement) box(rank int, lo, hi int64) (box, error) {
	var b box
	if p.ragged() {
		return p.raggedBox(rank, lo, hi)
	}
	if len(p.Axes) > len(b) {
		return b, fmt.Errorf("%s %s has %d axes", p.Name, p.Tensor, len(p.Axes))
	}
	axes, err := p.axes(rank)
	if err != nil {
		return b, err
	}
	inner := int64(1)
	for _, a := range axes {
		inner *= a.local
	}
	if hi > inner {
		return b, fmt.Errorf("elements %d to %d of %s@%d: there are %d", lo, hi, p.Name, rank, inner)
	}
	cut := false // below the axis that the range cuts, it takes whole axes
	for i, a := range axes {
		inner /= a.local
		from, n := lo/inner%a.local, (hi-lo)/inner
		switch {
		case cut:
			from, n = 0, a.local
		case n == 0:
			n = 1 // the range lies within one index
			cut = false
		default:
			cut = true
			if lo%inner != 0 || (hi-lo)%inner != 0 || from+n > a.local {
				return b, fmt.Errorf("elements %d to %d of %s@%d %s are no box", lo, hi, p.Name, rank, p.Tensor)
			}
		}
		b[i] = interval{a.global(from), a.global(from+n-1) + 1}
		if b[i].len() != n {
			return b, fmt.Errorf("elements %d to %d of %s@%d %s are no box of the whole tensor", lo, hi,
				p.Name, rank, p.Tensor)
		}
	}
	return b, nil
}

// boxIn is box for a buffer whose columns may be cut into parts: such a buffer has the rows of one part after the rows
// of another.
func (p placement) boxIn(parts int64, rank int, lo, hi int64) (box, error) {
	if parts <= 1 {
		return p.box(rank, lo, hi)
	}
	axes, err := p.axes(rank)
	if err != nil {
		return box{}, err
	}
	if len(axes) != 2 || p.ragged() || axes[1].local%parts != 0 {
		return box{}, fmt.Errorf("%s %s has no columns to cut into %d parts", p.Name, p.Tensor, parts)
	}
	rows, width := axes[0], axes[1].local/parts
	part := lo / (rows.local * width)
	lo, hi = lo-part*rows.local*width, hi-part*rows.local*width
	if lo%width != 0 || hi%width != 0 || lo >= hi || hi > rows.local*width {
		return box{}, fmt.Errorf("elements %d to %d of part %d of the columns of %s@%d are no rows of it", lo, hi, part,
			p.Name, rank)
	}
	first, last := rows.global(lo/width), rows.global(hi/width-1)
	from, to := axes[1].global(part*width), axes[1].global((part+1)*width-1)
	found := box{{first, last + 1}, {from, to + 1}}
	if found[0].len() != (hi-lo)/width || found[1].len() != width {
		return box{}, fmt.Errorf("elements %d to %d of part %d of the columns of %s@%d are no box of the whole tensor",
			lo, hi, part, p.Name, rank)
	}
	return found, nil
}

func (p placement) axes(rank int) ([]axis, error) {
	var list []axis
	for i := range p.Axes {
		a, err := p.axis(i, rank)
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, nil
}

// elements is the number of elements of the tensor on a rank.
func (p placement) elements(rank int) (int64, error) {
	if p.ragged() {
		sum := int64(0)
		for i := range p.ranks {
			_, _, n, err := p.raggedPart(rank, i)
			if err != nil {
				return 0, err
			}
			sum += n
		}
		row, err := p.inRow()
		return sum * row, err
	}
	axes, err := p.axes(rank)
	n := int64(1)
	for _, a := range axes {
		n *= a.local
	}
	if !p.has(rank) {
		n = 0
	}
	return n, err
}
