package record

import (
	"testing"

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
		if len(symbols) > 1 && n*c.ElementSize <= 1<<32 {
			t.Errorf("%s: at %s a chunk of %s has %d bytes", p.Name, c, b.Name, n*c.ElementSize)
		}
	}
}
