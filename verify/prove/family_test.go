package prove_test

import (
	"slices"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/schedule/scheduletest"
	"ovgen/verify/prove"
)

// Programs written by hand, a family each, and the property that fails where a step is left
// out or done otherwise.

var (
	r, d, i     = hostir.Rank, hostir.Size, hostir.Var("i")
	m, k, n     = hostir.Var("M"), hostir.Var("K"), hostir.Var("N")
	zero, one   = hostir.Const(0), hostir.Const(1)
	next        = hostir.Mod(hostir.Add(r, i), d)
	from        = hostir.Mod(hostir.Sub(hostir.Add(d, r), i), d)
	onMain      = hostir.Stream("main")
	onCopy      = hostir.Stream("copy")
	onWork      = hostir.Stream("work")
	rowsA       = hostir.Div(hostir.Mul(m, k), d)
	rowsC       = hostir.Div(hostir.Mul(m, n), d)
	columnsA    = hostir.Div(hostir.Mul(m, k), hostir.Mul(d, d)) // of rows of a rank, of columns of a rank
	weight      = hostir.Mul(k, n)
	shareWeight = hostir.Div(weight, d)
)

func post(s hostir.StreamRef, name string, to ...hostir.Expr) hostir.Step {
	return hostir.Post(s, name, first(to)).Member(first(to[min(1, len(to)):]))
}

func wait(s hostir.StreamRef, name string, from ...hostir.Expr) hostir.Step {
	return hostir.Wait(s, name, first(from)).Member(first(from[min(1, len(from)):]))
}

func first(list []hostir.Expr) hostir.Expr { return append(list, hostir.Expr{})[0] }

func linear(s hostir.StreamRef, c, a hostir.View) hostir.Step {
	return hostir.Multiply(s, hostir.Linear, c, a, hostir.Whole("B"))
}

func loop(from, to hostir.Expr, body ...hostir.Node) hostir.For {
	return hostir.Loop("i", from, to, body...)
}

func sumOf(dst hostir.View, each hostir.View) hostir.Step {
	return hostir.Reduce(onMain, dst, each.EachRank())
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
		tensor("B", schedule.Dim(schedule.N), schedule.Dim(schedule.K)), tensor("C", schedule.Dim(schedule.M),
			schedule.Dim(schedule.N))}
	scattering = []schedule.Tensor{tensor("A", schedule.Dim(schedule.M), schedule.Dim(schedule.K, byD)),
		tensor("B", schedule.Dim(schedule.N), schedule.Dim(schedule.K, byD)), tensor("C", schedule.Dim(schedule.M, byD),
			schedule.Dim(schedule.N))}
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
	return &hostir.Program{Name: "GatherPut", Schedule: scheduletest.Usual("linear",
		schedule.Schedule{Tensors: gathering}),
		Checks: ask("M"),
		Buffers: []hostir.Buffer{callers("A", false, rowsA, rowsA), callers("B", false, weight, weight),
			callers("C", false, hostir.Mul(m, n), rowsC), plans("G", hostir.Mul(m, k), rowsA)},
		Semaphores: semaphores("free", "arrived"),
		Body: []hostir.Node{post(onMain, "free"), hostir.After(onCopy, onMain), hostir.After(onWork, onMain),
			linear(onMain, hostir.Chunk("C", r), hostir.Whole("A")),
			loop(one, d,
				wait(onCopy, "free", next), hostir.Set(onCopy, hostir.Chunk("G", r).At(next),
					hostir.Whole("A")), post(onCopy, "arrived", next),
				hostir.After(onWork, onCopy), wait(onWork, "arrived", from), linear(onWork, hostir.Chunk("C", from),
					hostir.Chunk("G", from))),
			hostir.After(onMain, onWork), hostir.After(onMain, onCopy)}}
}

// scatterPut puts partial results into slots at their owners, which sum them.
func scatterPut() *hostir.Program {
	return &hostir.Program{Name: "ScatterPut", Schedule: scheduletest.Usual("linear",
		schedule.Schedule{Tensors: scattering}),
		Checks: ask("M", "K"),
		Buffers: []hostir.Buffer{callers("A", false, hostir.Div(hostir.Mul(m, k), d), columnsA),
			callers("B", false, shareWeight, shareWeight), callers("C", false, rowsC, rowsC),
			plans("partial", hostir.Mul(m, n), rowsC), plans("slots", hostir.Mul(m, n), rowsC)},
		Semaphores: semaphores("free", "arrived"),
		Body: []hostir.Node{post(onMain, "free"), hostir.After(onCopy, onMain),
			loop(one, d, linear(onMain, hostir.Chunk("partial", next), hostir.Chunk("A", next)),
				hostir.After(onCopy, onMain),
				wait(onCopy, "free", next), hostir.Set(onCopy, hostir.Chunk("slots", r).At(next),
					hostir.Chunk("partial", next)), post(onCopy, "arrived", next)),
			linear(onMain, hostir.Chunk("slots", r), hostir.Chunk("A", r)), hostir.After(onMain, onCopy),
			wait(onMain, "arrived"), sumOf(hostir.Whole("C"), hostir.Chunk("slots", hostir.Var("q")))}}
}

// scatterRing sends each sum once round; the products add to it.
func scatterRing() *hostir.Program {
	left := hostir.Mod(hostir.Sub(hostir.Add(d, r), one), d)
	right := hostir.Mod(hostir.Add(r, one), d)
	turn := hostir.Mod(hostir.Sub(hostir.Add(hostir.Mul(d, hostir.Const(2)), r), hostir.Add(i, one)), d)
	last := hostir.Sub(d, one)
	add := func(c, a hostir.View) hostir.Step { return linear(onMain, c, a).Accumulated() }
	before := hostir.Sub(i, one)
	return &hostir.Program{Name: "ScatterRing", Checks: ask("M", "K"),
		Schedule: scheduletest.Usual("linear", schedule.Schedule{Tensors: scattering,
			Moves: []schedule.Move{{Of: "C", Way: schedule.RingAccumulate{}}}}),
		Buffers: []hostir.Buffer{callers("A", false, hostir.Div(hostir.Mul(m, k), d), columnsA),
			callers("B", false, shareWeight, shareWeight), callers("C", false, rowsC, rowsC),
			plans("ring", hostir.Mul(m, n), rowsC)},
		Semaphores: []hostir.Semaphore{{Name: "ready", Count: d}, {Name: "read"}},
		Body: []hostir.Node{linear(onMain, hostir.Chunk("ring", zero), hostir.Chunk("A", left)),
			post(onMain, "ready", right, zero),
			loop(one, last, wait(onMain, "ready", left, before),
				hostir.Set(onMain, hostir.Chunk("ring", i), hostir.Chunk("ring", before).At(left)),
				add(hostir.Chunk("ring", i), hostir.Chunk("A", turn)), post(onMain, "ready", right, i)),
			loop(last, d, wait(onMain, "ready", left, before),
				hostir.Set(onMain, hostir.Whole("C"), hostir.Chunk("ring", before).At(left)), add(hostir.Whole("C"),
					hostir.Chunk("A", r))),
			post(onMain, "read", left), wait(onMain, "read", right)}}
}

// oneShot lets each rank sum all ranks' A, by one kernel.
func oneShot() *hostir.Program {
	whole := hostir.Mul(m, n)
	return &hostir.Program{Name: "OneShot", Schedule: scheduletest.Usual("sum",
		schedule.Schedule{Tensors: []schedule.Tensor{summing, tensor("C", schedule.Dim(schedule.M),
			schedule.Dim(schedule.N))}}),
		Buffers:    []hostir.Buffer{callers("A", true, whole, whole), callers("C", false, whole, whole)},
		Semaphores: semaphores("ready", "read"),
		Body: []hostir.Node{hostir.Fuse("shot", post(onMain, "ready"), wait(onMain, "ready"),
			sumOf(hostir.Whole("C"), hostir.Whole("A").At(hostir.Var("q"))), post(onMain, "read"), wait(onMain,
				"read"))}}
}

// twoShot lets each rank sum its part of all ranks' A and copies the others' sums.
func twoShot() *hostir.Program {
	whole := hostir.Mul(m, n)
	return &hostir.Program{Name: "TwoShot", Schedule: scheduletest.Usual("sum",
		schedule.Schedule{Tensors: []schedule.Tensor{summing, tensor("C", schedule.Dim(schedule.M),
			schedule.Dim(schedule.N))}}), Checks: ask("M"),
		Buffers: []hostir.Buffer{callers("A", true, whole, rowsC), callers("C", false, whole, rowsC),
			plans("sum", rowsC, rowsC)},
		Semaphores: semaphores("ready", "summed", "read"),
		Body: []hostir.Node{
			hostir.Fuse("shot", post(onMain, "ready"), wait(onMain, "ready"),
				sumOf(hostir.Whole("sum"), hostir.Chunk("A", r).At(hostir.Var("q"))), post(onMain, "summed")),
			hostir.Set(onMain, hostir.Chunk("C", r), hostir.Whole("sum")),
			loop(one, d, hostir.Fuse("get", wait(onMain, "summed", next),
				hostir.Set(onMain, hostir.Chunk("C", next), hostir.Whole("sum").At(next)))),
			post(onMain, "read"), wait(onMain, "read")}}
}

// allToAll copies part r of every rank's A.
func allToAll() *hostir.Program {
	return &hostir.Program{Name: "AllToAll",
		Schedule: scheduletest.Usual("copy",
			schedule.Schedule{Tensors: []schedule.Tensor{tensor("A", schedule.Dim(schedule.D, byD),
				schedule.Dim(schedule.D),
				schedule.Dim(schedule.M)),
				tensor("C", schedule.Dim(schedule.D), schedule.Dim(schedule.D, byD), schedule.Dim(schedule.M))}}),
		Buffers:    []hostir.Buffer{callers("A", true, hostir.Mul(d, m), m), callers("C", false, hostir.Mul(d, m), m)},
		Semaphores: semaphores("ready", "read"),
		Body: []hostir.Node{post(onMain, "ready"), hostir.Set(onMain, hostir.Chunk("C", r), hostir.Chunk("A", r)),
			loop(one, d, wait(onMain, "ready", next), hostir.Set(onMain, hostir.Chunk("C", next),
				hostir.Chunk("A", r).At(next))),
			post(onMain, "read"), wait(onMain, "read")}}
}

// change applies f to every step of a kind of work.
func change[W hostir.Work](f func(*W)) func(*hostir.Program) {
	return func(p *hostir.Program) {
		p.Body = hostir.MapSteps(p.Body, func(s hostir.Step) []hostir.Node {
			return []hostir.Node{hostir.Changed(s, f)}
		})
	}
}

// changeStep applies f to every step that does work of a kind.
func changeStep(do hostir.Kind, f func(*hostir.Step)) func(*hostir.Program) {
	return func(p *hostir.Program) {
		p.Body = hostir.MapSteps(p.Body, func(s hostir.Step) []hostir.Node {
			if s.Kind() == do {
				f(&s)
			}
			return []hostir.Node{s}
		})
	}
}

// words applies f to every word.
func words(f func(*hostir.Word)) func(*hostir.Program) {
	return func(p *hostir.Program) {
		p.Body = hostir.Rewrite(p.Body, hostir.Parts{Word: func(w hostir.Word) hostir.Word { f(&w); return w }})
	}
}

// without leaves out the posts and waits of a semaphore.
func without(name string) func(*hostir.Program) {
	return func(p *hostir.Program) {
		p.Body = hostir.Without(p.Body, name)
		p.Semaphores = slices.DeleteFunc(slices.Clone(p.Semaphores),
			func(s hostir.Semaphore) bool { return s.Name == name })
	}
}

// ranksFrom are the sizes of a group from the least to 8.
func ranksFrom(least int) []int { return []int{1, 2, 3, 4, 5, 6, 7, 8}[least-1:] }

type programMutant struct {
	name string
	edit func(*hostir.Program)
	want prove.Property
}

type programFamily struct {
	program func() *hostir.Program
	least   int // ranks that it is written for
	mutants []programMutant
}

func plusOne(e hostir.Expr) hostir.Expr { return hostir.Mod(hostir.Add(e, one), d) }

var families = []programFamily{
	{gatherPut, 1, gatherPutMutants},
	{scatterPut, 1, scatterPutMutants},
	{scatterRing, 2, scatterRingMutants},
	{oneShot, 1, oneShotMutants},
	{twoShot, 1, twoShotMutants},
	{allToAll, 1, allToAllMutants},
}

func TestFamilies(t *testing.T) {
	for _, family := range families {
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

var gatherPutMutants = []programMutant{
	{"nobody says that the memory is free", without("free"), prove.Reset},
	{"multiplied without arrival", without("arrived"), prove.Reset},
	{"put into the wrong place", change(func(n *hostir.Copy) { n.To.Index = plusOne(n.To.Index) }), prove.Race},
	{"put beside the product", func(p *hostir.Program) {
		p.Body[4].(hostir.For).Body[5] = linear(onMain, hostir.Chunk("C", from), hostir.Chunk("G", from))
	}, prove.Race},
	{"multiplied with the wrong rows", change(func(n *hostir.Product) {
		n.To.Index = plusOne(n.To.Index)
	}), prove.Contents},
	{"waits before the own put", func(p *hostir.Program) {
		l := p.Body[4].(hostir.For)
		l.Body = append(append([]hostir.Node{}, l.Body[4:]...), l.Body[:3]...)
		p.Body[4] = l
		p.Body = append(p.Body, hostir.After(onMain, onCopy))
	}, prove.Serial},
}

var scatterPutMutants = []programMutant{
	{"slots are taken before they are free", without("free"), prove.Reset},
	{"summed before all has arrived", without("arrived"), prove.Reset},
	{"one rank's partial twice", change(func(n *hostir.Sum) {
		n.Terms = append(n.Terms, hostir.Chunk("slots", zero))
	}), prove.Contents},
	{"one rank's partial missing", change(func(n *hostir.Sum) { n.Terms[0].Each.From = one }),
		prove.Contents},
	{"summed in another order on each rank", change(func(n *hostir.Sum) {
		n.Terms[0].Index = hostir.Mod(hostir.Add(hostir.Var("q"), r), d)
	}), prove.Contents},
	{"slot of another rank", change(func(n *hostir.Copy) { n.To.Index = plusOne(n.To.Index) }), prove.Race},
	{"partial of another owner", change(func(n *hostir.Copy) { n.From.Index = r }),
		prove.Contents},
	{"put straight into the owner's result", change(func(n *hostir.Copy) {
		n.To.Buffer, n.To.Index = "C", hostir.Expr{}
	}), prove.Bounds},
	{"own rows not made", change(func(n *hostir.Product) {
		if n.A.Index.Equal(r) {
			n.To.Buffer = "partial"
		}
	}), prove.Contents},
	{"accumulated where nothing is", change(func(n *hostir.Product) { n.Accumulate = true }),
		prove.Contents},
	{"copied beside the product", func(p *hostir.Program) {
		l := p.Body[2].(hostir.For)
		l.Body = append(append([]hostir.Node{}, l.Body[:1]...), l.Body[2:]...)
		p.Body[2] = l
	}, prove.Race},
	{"half a chunk", func(p *hostir.Program) { p.Buffers[2].Chunk = hostir.Add(rowsC, one) }, prove.Shapes},
	{"a chunk that the shape chooses", change(func(n *hostir.Copy) { n.From.Index = hostir.Mod(m, d) }), prove.Shapes},
	{"a number of terms that the shape chooses", change(func(x *hostir.Sum) { x.Terms[0].Each.To = n }), prove.Shapes},
}

var scatterRingMutants = []programMutant{
	{"no acknowledgement", without("read"), prove.Reset},
	{"the member of another step", words(func(n *hostir.Word) {
		if n.Wait && n.Semaphore == "ready" {
			n.Index = hostir.Mod(hostir.Add(n.Index, one), d)
		}
	}), prove.Rest},
	{"one member for all steps", func(p *hostir.Program) {
		words(func(n *hostir.Word) { n.Index = hostir.Expr{} })(p)
	}, prove.Reset},
	{"a member too many", words(func(n *hostir.Word) {
		if !n.Wait && n.Semaphore == "ready" {
			n.Index = hostir.Add(n.Index, d)
		}
	}), prove.Signals},
	{"a sum that is not taken over", change(func(n *hostir.Product) { n.Accumulate = false }),
		prove.Contents},
	{"rows of another owner", change(func(n *hostir.Product) { n.A.Index = plusOne(n.A.Index) }), prove.Contents},
	{"the first sum twice", change(func(n *hostir.Copy) { n.From.Index = zero }),
		prove.Contents},
}

var oneShotMutants = []programMutant{
	{"read before it is ready", without("ready"), prove.Reset},
	{"no acknowledgement", without("read"), prove.Reset},
	{"its own input from each rank", change(func(n *hostir.Sum) { n.Terms[0].Peer = r }),
		prove.Contents},
	{"in an order of its own", change(func(n *hostir.Sum) {
		n.Terms[0].Peer = hostir.Mod(hostir.Add(hostir.Var("q"), r), d)
	}), prove.Contents},
	{"posted before the sum", changeStep(hostir.SumKind, func(n *hostir.Step) {
		n.Pre, n.Post = append(n.Pre, n.Post[0]), n.Post[1:]
	}), prove.Window},
	{"waits for what comes after", changeStep(hostir.SumKind, func(n *hostir.Step) { slices.Reverse(n.Pre) }),
		prove.Deadlock},
}

var twoShotMutants = []programMutant{
	{"copied before it is summed", without("summed"), prove.Race},
	{"sums copied to the wrong place", change(func(n *hostir.Copy) {
		if !n.From.Peer.IsZero() {
			n.To.Index = r
		}
	}), prove.Contents},
	{"no acknowledgement", without("read"), prove.Window},
	{"sums kept in the caller's result", func(p *hostir.Program) {
		change(func(n *hostir.Copy) {
			if !n.From.Peer.IsZero() {
				n.From = hostir.Chunk("C", next).At(next)
			}
		})(p)
	}, prove.Bounds},
	{"part of another rank", change(func(n *hostir.Sum) { n.Terms[0].Index = zero }),
		prove.Contents},
}

var allToAllMutants = []programMutant{
	{"the whole of one rank", change(func(n *hostir.Copy) { n.From.Index = n.To.Index }), prove.Contents},
	{"read before it is ready", without("ready"), prove.Reset},
	{"no acknowledgement", without("read"), prove.Reset},
	{"one part twice", change(func(n *hostir.Copy) { n.To.Index = zero }), prove.Contents},
}
