package record

import (
	"slices"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
)

// At the large shape each chunk of a schedule of two extents has more than 4 GiB, and the
// others as much as the extents allow.
func TestLargeShapesAreLarge(t *testing.T) {
	for _, n := range catalog.All() {
		p, err := lower.Lower(n.Name, n.Schedule)
		if err != nil {
			t.Fatal(err)
		}
		list, err := cases(p, 8, 2)
		if err != nil {
			t.Fatal(err)
		}
		if c := list[odd+1]; !c.large {
			t.Errorf("%s: %s is not the large shape", n.Name, c)
		} else {
			large(t, p, c)
		}
	}
}

// TestLargeShapesAreTaken: New counts as many of the largest extents together as a tensor has axes, three here.
func TestLargeShapesAreTaken(t *testing.T) {
	of := func(name string, axes ...schedule.Axis) schedule.Tensor {
		return schedule.Tensor{Name: name, Axes: axes}
	}
	in := func(e schedule.Extent) schedule.Axis { return schedule.Dim(e, schedule.DIDx(schedule.D)) }
	m, k, f, four := schedule.Dim(schedule.M), schedule.Dim(schedule.K), schedule.Dim(schedule.F), schedule.Dim("4")
	for name, s := range map[string]schedule.Schedule{
		"Cached": {
			Tensors: []schedule.Tensor{of("A", in(schedule.M), k),
				of("Cache", schedule.Dim(schedule.N2), in(schedule.N3), k), of("B", in(schedule.N), k),
				of("Wo", k, in(schedule.N)), of("C", m, k)},
			Ops: []schedule.Op{schedule.Linear("Q", "A", "B"), schedule.Call("O", "Attend", "mn,stk->mn", "Q", "Cache"),
				schedule.Linear("C", "O", "Wo")}},
		"Batches": {
			Tensors: []schedule.Tensor{of("A", four, in(schedule.M), k), of("W", in(schedule.N), k), of("V", k),
				of("W2", k, in(schedule.N)), of("H", four, in(schedule.M), k), of("W3", f, k),
				of("C", four, in(schedule.M), f)},
			Ops: []schedule.Op{schedule.BatchedLinear("X", "A", "W", schedule.GELU()),
				schedule.BatchedLinear("H", "X", "W2", schedule.Add("A"), schedule.RMSNorm("V")),
				schedule.BatchedLinear("C", "H", "W3")}},
	} {
		p, err := lower.Lower(name, s)
		if err != nil {
			t.Fatal(err)
		}
		list, err := cases(p, 8, 2)
		if err != nil {
			t.Fatal(err)
		}
		large(t, p, list[odd+1])
		var extents []int64
		for e := range p.Schedule.Symbols() {
			extents = append(extents, list[odd+1].Extents[string(e)])
		}
		slices.Sort(extents)
		elements := 8.
		for _, n := range extents[len(extents)-3:] {
			elements *= float64(n)
		}
		if elements > 1<<60 {
			t.Errorf("%s: %s is refused: %d", name, list[odd+1], extents)
		}
	}
}

func large(t *testing.T, p *hostir.Program, c shape) {
	t.Helper()
	for _, e := range c.Extents {
		if e > 1<<30 {
			t.Errorf("%s: %s is refused: the extents go to %d", p.Name, c, 1<<30)
		}
	}
	for _, b := range p.Buffers {
		symbols := map[string]bool{}
		b.Chunk.Vars(func(v string) { symbols[v] = true })
		delete(symbols, "D")
		delete(symbols, "W") // as narrow as usual
		n, err := b.Chunk.Eval(c.Env(p))
		if err != nil {
			t.Fatal(err)
		}
		if len(symbols) > 1 && n*c.ElementBits/8 <= 1<<32 {
			t.Errorf("%s: at %s a chunk of %s has %d bytes", p.Name, c, b.Name, n*c.ElementBits/8)
		}
	}
}
