package hostir

import "fmt"

// Copy copies a view to a view of the same size, by the copy engine or by a kernel.
type Copy struct{ From, To View }

// Gather copies views, one after another, to a view that they fill. A kernel does it between its signals.
type Gather struct {
	From []View
	To   View
}

// Set copies src to dst.
func Set(s StreamRef, dst, src View) Step { return Do(s, Copy{From: src, To: dst}) }

// Collect copies views, one after another, to dst, by a kernel that signals around the copies.
func Collect(s StreamRef, dst View, shards ...View) Step { return Do(s, Gather{From: shards, To: dst}) }

// Kind is CopyKind.
func (Copy) Kind() Kind { return CopyKind }

// Kind is GatherKind.
func (Gather) Kind() Kind { return GatherKind }

func (Copy) asks() string   { return MovesField }
func (Gather) asks() string { return MovesField }

func (x Copy) views() (reads, writes []View)   { return some(x.From), some(x.To) }
func (x Gather) views() (reads, writes []View) { return x.From, some(x.To) }

func (x Copy) result() View { return x.To }

func (x Copy) with(p Parts) Work {
	x.To, x.From = p.view("destination", x.To), p.view("source", x.From)
	return x
}

func (x Gather) result() View { return x.To }

func (x Gather) with(p Parts) Work {
	x.To = p.view("destination", x.To)
	x.From = p.views("source", x.From)
	return x
}

// Shard is one of the views: they differ by their places alone.
func (x Gather) Shard() View { return x.From[0] }

func (x Copy) check(s Step) error {
	if len(some(x.From, x.To)) < 2 {
		return fmt.Errorf("a copy reads one view and writes one")
	}
	for _, v := range []View{x.From, x.To} {
		if v.Columns && (s.By != "" || v.Index.IsZero() || !v.Count.IsZero()) {
			return columnsError(v)
		}
	}
	return plain(x.From, x.To)
}

func (x Gather) check(s Step) error {
	if x.To.Buffer == "" || len(x.From) == 0 || s.By == "" || !s.Fused() {
		return fmt.Errorf("a gather reads views and writes one, and a kernel does it between its signals")
	}
	return plain(x.To)
}

func (x Copy) text() string   { return called("Set", some(x.To), some(x.From)) }
func (x Gather) text() string { return called("Gather", some(x.To), x.From) }
