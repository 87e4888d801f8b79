package prove_test

import (
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/verify/prove"
)

// Programs written by hand, a family each, and what is wrong with them where a step is
// left out or done otherwise.

var (
	r, d, i     = hostir.Rank, hostir.Size, hostir.Var("i")
	m, k, n     = hostir.Var("M"), hostir.Var("K"), hostir.Var("N")
	zero, one   = hostir.Const(0), hostir.Const(1)
	next        = hostir.Mod(hostir.Add(r, i), d)
	from        = hostir.Mod(hostir.Sub(hostir.Add(d, r), i), d)
	onMain      = hostir.StreamRef{Set: "main"}
	onCopy      = hostir.StreamRef{Set: "copy"}
	onWork      = hostir.StreamRef{Set: "work"}
	rowsA       = hostir.Div(hostir.Mul(m, k), d)
	rowsC       = hostir.Div(hostir.Mul(m, n), d)
	columnsA    = hostir.Div(hostir.Mul(m, k), hostir.Mul(d, d)) // of rows of a rank, of columns of a rank
	weight      = hostir.Mul(k, n)
	shareWeight = hostir.Div(weight, d)
)

func all(buffer string) hostir.View { return hostir.View{Buffer: buffer} }
func chunk(buffer string, index hostir.Expr) hostir.View {
	return hostir.View{Buffer: buffer, Index: index}
}
func peer(v hostir.View, of hostir.Expr) hostir.View { v.Peer = of; return v }

func post(s hostir.StreamRef, name string, to ...hostir.Expr) hostir.Post {
	return hostir.Post{Stream: s, Semaphore: name, Peer: first(to), Index: first(to[min(1, len(to)):])}
}

func wait(s hostir.StreamRef, name string, from ...hostir.Expr) hostir.Wait {
	return hostir.Wait{Stream: s, Semaphore: name, Peer: first(from), Index: first(from[min(1, len(from)):])}
}

func first(list []hostir.Expr) hostir.Expr { return append(list, hostir.Expr{})[0] }

func move(s hostir.StreamRef, dst, src hostir.View) hostir.Set {
	return hostir.Set{Stream: s, Dst: dst, Src: src}
}

func linear(s hostir.StreamRef, c, a hostir.View) hostir.Linear {
	return hostir.Linear{Stream: s, C: c, A: a, B: all("B")}
}

func after(s, on hostir.StreamRef) hostir.Synchronize {
	return hostir.Synchronize{Streams: []hostir.StreamRef{s}, On: []hostir.StreamRef{on}}
}

func loop(from, to hostir.Expr, body ...hostir.Node) hostir.For {
	return hostir.For{Index: "i", From: from, To: to, Body: body}
}

func sumOf(dst hostir.View, each hostir.View) hostir.Reduce {
	return hostir.Reduce{Stream: onMain, Dst: dst, Terms: []hostir.Terms{{View: each, Index: "q", From: zero, To: d}}}
}

func callers(name string, shared bool, elements, chunk hostir.Expr) hostir.Buffer {
	return hostir.Buffer{Name: name, Owner: hostir.Caller, Shared: shared, Elements: elements, Chunk: chunk}
}

func plans(name string, elements, chunk hostir.Expr) hostir.Buffer {
	return hostir.Buffer{Name: name, Owner: hostir.Plan, Elements: elements, Chunk: chunk}
}

func semaphores(names ...string) (list []hostir.Semaphore) {
	for _, n := range names {
		list = append(list, hostir.Semaphore{Name: n})
	}
	return list
}

// Placements.
var (
	byD       = schedule.DIDx(schedule.D)
	gathering = []schedule.Tensor{tensor("A", schedule.Dim(schedule.M, byD), schedule.Dim(schedule.K)),
		tensor("B", schedule.Dim(schedule.N), schedule.Dim(schedule.K)), tensor("C", schedule.Dim(schedule.M), schedule.Dim(schedule.N))}
	scattering = []schedule.Tensor{tensor("A", schedule.Dim(schedule.M), schedule.Dim(schedule.K, byD)),
		tensor("B", schedule.Dim(schedule.N), schedule.Dim(schedule.K, byD)), tensor("C", schedule.Dim(schedule.M, byD), schedule.Dim(schedule.N))}
	summing = tensor("A", schedule.Dim(schedule.D, byD), schedule.Dim(schedule.M), schedule.Dim(schedule.N))
)

func ask(extents ...schedule.Extent) (list []hostir.Divide) {
	for _, e := range extents {
		list = append(list, hostir.Divide{Extent: e, By: schedule.D})
	}
	return list
}

// gatherPut puts each shard into the peers' memory and multiplies what arrives.
func gatherPut() *hostir.Program {
	return &hostir.Program{Name: "GatherPut", Schedule: schedule.Schedule{Op: schedule.Linear, Tensors: gathering}, Checks: ask("M"),
		Buffers:    []hostir.Buffer{callers("A", false, rowsA, rowsA), callers("B", false, weight, weight), callers("C", false, hostir.Mul(m, n), rowsC), plans("G", hostir.Mul(m, k), rowsA)},
		Semaphores: semaphores("free", "arrived"),
		Body: []hostir.Node{post(onMain, "free"), after(onCopy, onMain), after(onWork, onMain), linear(onMain, chunk("C", r), all("A")),
			loop(one, d,
				wait(onCopy, "free", next), move(onCopy, peer(chunk("G", r), next), all("A")), post(onCopy, "arrived", next),
				after(onWork, onCopy), wait(onWork, "arrived", from), linear(onWork, chunk("C", from), chunk("G", from))),
			after(onMain, onWork), after(onMain, onCopy)}}
}

// scatterPut puts partial results into slots at their owners, which sum them.
func scatterPut() *hostir.Program {
	return &hostir.Program{Name: "ScatterPut", Schedule: schedule.Schedule{Op: schedule.Linear, Tensors: scattering}, Checks: ask("M", "K"),
		Buffers: []hostir.Buffer{callers("A", false, hostir.Div(hostir.Mul(m, k), d), columnsA), callers("B", false, shareWeight, shareWeight), callers("C", false, rowsC, rowsC),
			plans("partial", hostir.Mul(m, n), rowsC), plans("slots", hostir.Mul(m, n), rowsC)},
		Semaphores: semaphores("free", "arrived"),
		Body: []hostir.Node{post(onMain, "free"), after(onCopy, onMain),
			loop(one, d, linear(onMain, chunk("partial", next), chunk("A", next)), after(onCopy, onMain),
				wait(onCopy, "free", next), move(onCopy, peer(chunk("slots", r), next), chunk("partial", next)), post(onCopy, "arrived", next)),
			linear(onMain, chunk("slots", r), chunk("A", r)), after(onMain, onCopy),
			wait(onMain, "arrived"), sumOf(all("C"), chunk("slots", hostir.Var("q")))}}
}

// scatterRing sends each sum once round; the products add to it.
func scatterRing() *hostir.Program {
	left := hostir.Mod(hostir.Sub(hostir.Add(d, r), one), d)
	right := hostir.Mod(hostir.Add(r, one), d)
	turn := hostir.Mod(hostir.Sub(hostir.Add(hostir.Mul(d, hostir.Const(2)), r), hostir.Add(i, one)), d)
	last := hostir.Sub(d, one)
	add := func(c, a hostir.View) hostir.Linear {
		l := linear(onMain, c, a)
		l.Accumulate = true
		return l
	}
	before := hostir.Sub(i, one)
	return &hostir.Program{Name: "ScatterRing", Checks: ask("M", "K"),
		Schedule: schedule.Schedule{Op: schedule.Linear, Tensors: scattering, Pipeline: schedule.Pipeline{Reduction: schedule.InProduct}},
		Buffers: []hostir.Buffer{callers("A", false, hostir.Div(hostir.Mul(m, k), d), columnsA), callers("B", false, shareWeight, shareWeight), callers("C", false, rowsC, rowsC),
			plans("ring", hostir.Mul(m, n), rowsC)},
		Semaphores: []hostir.Semaphore{{Name: "ready", Count: d}, {Name: "read"}},
		Body: []hostir.Node{linear(onMain, chunk("ring", zero), chunk("A", left)), post(onMain, "ready", right, zero),
			loop(one, last, wait(onMain, "ready", left, before), move(onMain, chunk("ring", i), peer(chunk("ring", before), left)),
				add(chunk("ring", i), chunk("A", turn)), post(onMain, "ready", right, i)),
			loop(last, d, wait(onMain, "ready", left, before), move(onMain, all("C"), peer(chunk("ring", before), left)), add(all("C"), chunk("A", r))),
			post(onMain, "read", left), wait(onMain, "read", right)}}
}

// oneShot lets each rank sum all ranks' A, by one kernel.
func oneShot() *hostir.Program {
	whole := hostir.Mul(m, n)
	return &hostir.Program{Name: "OneShot", Schedule: schedule.Schedule{Op: schedule.Sum, Tensors: []schedule.Tensor{summing, tensor("C", schedule.Dim(schedule.M), schedule.Dim(schedule.N))}},
		Buffers:    []hostir.Buffer{callers("A", true, whole, whole), callers("C", false, whole, whole)},
		Semaphores: semaphores("ready", "read"),
		Body: []hostir.Node{hostir.LaunchKernel{Stream: onMain, Name: "shot", Body: []hostir.Node{
			post(onMain, "ready"), wait(onMain, "ready"), sumOf(all("C"), peer(all("A"), hostir.Var("q"))), post(onMain, "read"), wait(onMain, "read")}}}}
}

// twoShot lets each rank sum its part of all ranks' A and copies the others' sums.
func twoShot() *hostir.Program {
	whole := hostir.Mul(m, n)
	return &hostir.Program{Name: "TwoShot", Schedule: schedule.Schedule{Op: schedule.Sum, Tensors: []schedule.Tensor{summing, tensor("C", schedule.Dim(schedule.M), schedule.Dim(schedule.N))}}, Checks: ask("M"),
		Buffers:    []hostir.Buffer{callers("A", true, whole, rowsC), callers("C", false, whole, rowsC), plans("sum", rowsC, rowsC)},
		Semaphores: semaphores("ready", "summed", "read"),
		Body: []hostir.Node{
			hostir.LaunchKernel{Stream: onMain, Name: "shot", Body: []hostir.Node{post(onMain, "ready"), wait(onMain, "ready"), sumOf(all("sum"), peer(chunk("A", r), hostir.Var("q"))), post(onMain, "summed")}},
			move(onMain, chunk("C", r), all("sum")),
			loop(one, d, hostir.LaunchKernel{Stream: onMain, Name: "get", Body: []hostir.Node{wait(onMain, "summed", next), move(onMain, chunk("C", next), peer(all("sum"), next))}}),
			post(onMain, "read"), wait(onMain, "read")}}
}

// allToAll copies part r of every rank's A.
func allToAll() *hostir.Program {
	return &hostir.Program{Name: "AllToAll",
		Schedule: schedule.Schedule{Op: schedule.Copy, Tensors: []schedule.Tensor{tensor("A", schedule.Dim(schedule.D, byD), schedule.Dim(schedule.D), schedule.Dim(schedule.M)),
			tensor("C", schedule.Dim(schedule.D), schedule.Dim(schedule.D, byD), schedule.Dim(schedule.M))}},
		Buffers:    []hostir.Buffer{callers("A", true, hostir.Mul(d, m), m), callers("C", false, hostir.Mul(d, m), m)},
		Semaphores: semaphores("ready", "read"),
		Body: []hostir.Node{post(onMain, "ready"), move(onMain, chunk("C", r), chunk("A", r)),
			loop(one, d, wait(onMain, "ready", next), move(onMain, chunk("C", next), peer(chunk("A", r), next))),
			post(onMain, "read"), wait(onMain, "read")}}
}

// each applies f to every node of type T.
func each[T hostir.Node](f func(T) []hostir.Node) func(*hostir.Program) {
	return func(p *hostir.Program) {
		p.Body = hostir.Map(p.Body, func(x hostir.Node) []hostir.Node {
			if n, ok := x.(T); ok {
				return f(n)
			}
			return []hostir.Node{x}
		})
	}
}

// change applies f to every node of type T.
func change[T hostir.Node](f func(*T)) func(*hostir.Program) {
	return each(func(n T) []hostir.Node { f(&n); return []hostir.Node{n} })
}

// without leaves out the posts and waits of a semaphore.
func without(name string) func(*hostir.Program) {
	return func(p *hostir.Program) {
		each(func(n hostir.Post) []hostir.Node {
			if n.Semaphore == name {
				return nil
			}
			return []hostir.Node{n}
		})(p)
		each(func(n hostir.Wait) []hostir.Node {
			if n.Semaphore == name {
				return nil
			}
			return []hostir.Node{n}
		})(p)
		for i, s := range p.Semaphores {
			if s.Name == name {
				p.Semaphores = append(append([]hostir.Semaphore{}, p.Semaphores[:i]...), p.Semaphores[i+1:]...)
				break
			}
		}
	}
}

// ranksFrom are the sizes of a group from the least to 8.
func ranksFrom(least int) []int { return []int{1, 2, 3, 4, 5, 6, 7, 8}[least-1:] }

func TestFamilies(t *testing.T) {
	type mutant struct {
		name string
		edit func(*hostir.Program)
		want prove.Property
	}
	plusOne := func(e hostir.Expr) hostir.Expr { return hostir.Mod(hostir.Add(e, one), d) }
	for _, family := range []struct {
		program func() *hostir.Program
		least   int // ranks that it is written for
		mutants []mutant
	}{
		{gatherPut, 1, []mutant{
			{"nobody says that the memory is free", without("free"), prove.Reset},
			{"multiplied without arrival", without("arrived"), prove.Reset},
			{"put into the wrong place", change(func(n *hostir.Set) { n.Dst.Index = plusOne(n.Dst.Index) }), prove.Race},
			{"put beside the product", func(p *hostir.Program) {
				p.Body[4].(hostir.For).Body[5] = linear(onMain, chunk("C", from), chunk("G", from))
			}, prove.Race},
			{"multiplied with the wrong rows", change(func(n *hostir.Linear) { n.C.Index = plusOne(n.C.Index) }), prove.Contents},
			{"waits ahead of the own put", func(p *hostir.Program) {
				l := p.Body[4].(hostir.For)
				l.Body = append(append([]hostir.Node{}, l.Body[4:]...), l.Body[:3]...)
				p.Body[4] = l
				p.Body = append(p.Body, after(onMain, onCopy))
			}, prove.Serial},
		}},
		{scatterPut, 1, []mutant{
			{"slots are taken before they are free", without("free"), prove.Reset},
			{"summed before all has arrived", without("arrived"), prove.Reset},
			{"one rank's partial twice", change(func(n *hostir.Reduce) {
				n.Terms = append(n.Terms, hostir.Terms{View: chunk("slots", zero)})
			}), prove.Contents},
			{"one rank's partial missing", change(func(n *hostir.Reduce) { n.Terms[0].From = one }), prove.Contents},
			{"summed in another order on each rank", change(func(n *hostir.Reduce) {
				n.Terms[0].View.Index = hostir.Mod(hostir.Add(hostir.Var("q"), r), d)
			}), prove.Contents},
			{"slot of another rank", change(func(n *hostir.Set) { n.Dst.Index = plusOne(n.Dst.Index) }), prove.Race},
			{"partial of another owner", change(func(n *hostir.Set) { n.Src.Index = r }), prove.Contents},
			{"put straight into the owner's result", change(func(n *hostir.Set) { n.Dst.Buffer, n.Dst.Index = "C", hostir.Expr{} }), prove.Bounds},
			{"own rows not made", change(func(n *hostir.Linear) {
				if n.A.Index.Equal(r) {
					n.C.Buffer = "partial"
				}
			}), prove.Contents},
			{"accumulated where nothing is", change(func(n *hostir.Linear) { n.Accumulate = true }), prove.Contents},
			{"copied beside the product", func(p *hostir.Program) {
				l := p.Body[2].(hostir.For)
				l.Body = append(append([]hostir.Node{}, l.Body[:1]...), l.Body[2:]...)
				p.Body[2] = l
			}, prove.Race},
			{"half a chunk", func(p *hostir.Program) { p.Buffers[2].Chunk = hostir.Add(rowsC, one) }, prove.Shapes},
			{"a chunk that the shape chooses", change(func(n *hostir.Set) { n.Src.Index = hostir.Mod(m, d) }), prove.Shapes},
			{"a number of terms that the shape chooses", change(func(x *hostir.Reduce) { x.Terms[0].To = n }), prove.Shapes},
		}},
		{scatterRing, 2, []mutant{
			{"no acknowledgement", without("read"), prove.Reset},
			{"the member of another step", change(func(n *hostir.Wait) {
				if n.Semaphore == "ready" {
					n.Index = hostir.Mod(hostir.Add(n.Index, one), d)
				}
			}), prove.Rest},
			{"one member for all steps", func(p *hostir.Program) {
				change(func(n *hostir.Wait) { n.Index = hostir.Expr{} })(p)
				change(func(n *hostir.Post) { n.Index = hostir.Expr{} })(p)
			}, prove.Reset},
			{"a member too many", change(func(n *hostir.Post) {
				if n.Semaphore == "ready" {
					n.Index = hostir.Add(n.Index, d)
				}
			}), prove.Signals},
			{"a sum that is not taken over", change(func(n *hostir.Linear) { n.Accumulate = false }), prove.Contents},
			{"rows of another owner", change(func(n *hostir.Linear) { n.A.Index = plusOne(n.A.Index) }), prove.Contents},
			{"the first sum twice", change(func(n *hostir.Set) { n.Src.Index = zero }), prove.Contents},
		}},
		{oneShot, 1, []mutant{
			{"read before it is ready", without("ready"), prove.Reset},
			{"no acknowledgement", without("read"), prove.Reset},
			{"its own input from each rank", change(func(n *hostir.Reduce) { n.Terms[0].View.Peer = r }), prove.Contents},
			{"in an order of its own", change(func(n *hostir.Reduce) {
				n.Terms[0].View.Peer = hostir.Mod(hostir.Add(hostir.Var("q"), r), d)
			}), prove.Contents},
			{"posted ahead of the sum", change(func(n *hostir.LaunchKernel) { n.Body[2], n.Body[3] = n.Body[3], n.Body[2] }), prove.Window},
			{"waits for what comes behind", change(func(n *hostir.LaunchKernel) { n.Body[0], n.Body[1] = n.Body[1], n.Body[0] }), prove.Deadlock},
		}},
		{twoShot, 1, []mutant{
			{"copied before it is summed", without("summed"), prove.Race},
			{"sums copied to the wrong place", change(func(n *hostir.Set) {
				if !n.Src.Peer.IsZero() {
					n.Dst.Index = r
				}
			}), prove.Contents},
			{"no acknowledgement", without("read"), prove.Window},
			{"sums kept in the caller's result", func(p *hostir.Program) {
				change(func(n *hostir.Set) {
					if !n.Src.Peer.IsZero() {
						n.Src = peer(chunk("C", next), next)
					}
				})(p)
			}, prove.Bounds},
			{"part of another rank", change(func(n *hostir.Reduce) { n.Terms[0].View.Index = zero }), prove.Contents},
		}},
		{allToAll, 1, []mutant{
			{"the whole of one rank", change(func(n *hostir.Set) { n.Src.Index = n.Dst.Index }), prove.Contents},
			{"read before it is ready", without("ready"), prove.Reset},
			{"no acknowledgement", without("read"), prove.Reset},
			{"one part twice", change(func(n *hostir.Set) { n.Dst.Index = zero }), prove.Contents},
		}},
	} {
		p := family.program()
		t.Run(p.Name, func(t *testing.T) {
			report, err := prove.Schedule(t.Context(), p, prove.Options{Ranks: ranksFrom(family.least)})
			if err != nil {
				t.Fatal(err)
			}
			if !report.Replay() {
				t.Error("not serial-safe when captured")
			}
			for _, size := range report.Sizes {
				for _, w := range size.Warnings {
					t.Error(w)
				}
			}
			for _, x := range family.mutants {
				t.Run(x.name, func(t *testing.T) {
					p := family.program()
					x.edit(p)
					if c := refuted(t, p, 3); c.Property != x.want {
						t.Errorf("property %q, want %q", c.Property, x.want)
					}
				})
			}
		})
	}
}
