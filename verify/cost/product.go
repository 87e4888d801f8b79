package cost

import (
	"math"

	"ovgen/verify/ops"
)

// product is the shape of a matrix product: the rows and columns of the result, and the summed extent; the bytes of its
// operands and result, and the share of them that is a peer's.
type product struct {
	rows, inner, columns float64
	bytes                float64
	remoteReads          float64 // fraction of the operands' bytes
	remoteWrite          bool
	ahead                bool  // a kernel of tiles makes the next tile while it writes one
	element, weight      int64 // bytes of an element of the first operand, and of the second
}

// productOf reads the shape off the sizes of an operation's operands and result.
func productOf(o ops.Op, rank int, element int64) product {
	p := product{element: o.ElementOf(ops.A, 8*element) / 8, weight: o.ElementOf(ops.B, 8*element) / 8,
		ahead: o.Kernel != ""}
	var remote float64
	for _, u := range o.Uses {
		p.bytes += float64(u.Bytes)
		switch {
		case u.At.Rank == rank || u.Bytes == 0:
		case u.Write:
			p.remoteWrite = true
		default:
			remote += float64(u.Bytes)
		}
	}
	if p.rows, p.inner, p.columns = o.Shape(8 * element); p.rows > 0 {
		f := o.Factors()
		p.remoteReads = remote / float64(f.A.Bytes+f.B.Bytes)
	}
	return p
}

func (p product) flop() float64 { return 2 * p.rows * p.inner * p.columns }

// cut says how a product is spread over multiprocessors: blocks take units in turn, and each unit takes the time each.
type cut struct {
	blocks, units int
	each          float64
	after         float64 // the time after the last unit
}

// time is the time on an idle GPU.
func (c cut) time() float64 {
	return math.Ceil(float64(c.units)/float64(c.blocks))*c.each + c.after
}

// cut is the fastest cut of a product. slow is a factor on the time of its arithmetic.
func (m *Machine) cut(p product, slow float64) cut {
	if p.flop() == 0 {
		return cut{blocks: 1, units: 1}
	}
	var best cut
	for _, t := range m.Tiles {
		tiles := math.Ceil(p.rows/float64(t.Rows)) * math.Ceil(p.columns/float64(t.Columns))
		for _, split := range []float64{1, 2, 4, 8} {
			inner := math.Ceil(p.inner / split)
			if split > 1 && inner < 512 {
				continue
			}
			c := m.tiled(p, t, int(tiles*split), inner, slow)
			if split > 1 {
				c.after = m.Split
			}
			if best.units == 0 || c.time() < best.time() {
				best = c
			}
		}
	}
	return best
}

// tiled is a cut into tiles of one shape.
func (m *Machine) tiled(p product, t Tile, units int, inner, slow float64) cut {
	rows, columns := float64(t.Rows), float64(t.Columns)
	c := cut{units: units, blocks: min(units, m.SMs)}
	c.each = 2*rows*columns*inner/(m.Rate[p.element]*t.Efficiency)*slow + t.Fixed
	blocks, element := float64(c.blocks), float64(p.element)
	if link := rows * columns * element * blocks / m.KernelLink; p.remoteWrite && p.ahead {
		c.each = max(c.each, link)
	} else if p.remoteWrite {
		c.each += link
	}
	if p.remoteReads > 0 {
		c.each = max(c.each, p.remoteReads*(rows+columns)*inner*element*blocks/m.KernelLink)
	}
	waves := math.Ceil(float64(units) / blocks)
	c.each = max(c.each, p.bytes/m.Memory/waves)
	return c
}

// whole are the products that a rank would do without any communication: its products, joined where they have the same
// second operand, or for gradients the same result.
func whole(list []ops.Op, rank int, element int64) []product {
	var all []product
	at := map[ops.Loc]int{}
	for _, o := range list {
		if o.Kind != ops.Product {
			continue
		}
		p := productOf(o, rank, element)
		p.remoteReads, p.remoteWrite = 0, false
		key := o.Factors().B.At
		if o.Form == "gradient" {
			key = o.Result().At
		}
		i, seen := at[key]
		if !seen {
			at[key] = len(all)
			all = append(all, p)
			continue
		}
		if o.Form == "gradient" {
			all[i].inner += p.inner
		} else {
			all[i].rows += p.rows
		}
		all[i].bytes += p.bytes
	}
	for i, p := range all {
		all[i].bytes = p.rows*p.inner*float64(p.element) + p.inner*p.columns*float64(p.weight) +
			p.rows*p.columns*float64(element)
	}
	return all
}

// slowdown is the factor by which the power limit lengthens arithmetic in a run of these products.
func (m *Machine) slowdown(all []product) float64 {
	var flop, time, capped float64
	for _, p := range all {
		flop += p.flop()
		time += m.cut(p, 1).time()
	}
	for _, p := range all {
		power := m.Power[p.element]
		if power == nil {
			return 1
		}
		capped += p.flop() / power.At(flop)
	}
	if time == 0 {
		return 1
	}
	return max(1, capped/time)
}

// pure is the time of products one after the other on one stream.
func (m *Machine) pure(all []product, slow float64) float64 {
	var time float64
	for i, p := range all {
		if i == 0 {
			time = m.Eager.Launch
		} else {
			time += m.Eager.Next
		}
		time += m.cut(p, slow).time()
	}
	return time
}
