package explore_test

import (
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/verify/explore"
)

// Expressions and streams of the programs below.
var (
	r, d      = hostir.Rank, hostir.Size
	i         = hostir.Var("i")
	to        = hostir.Mod(hostir.Add(r, i), d)
	m, k, n   = hostir.Var("M"), hostir.Var("K"), hostir.Var("N")
	mainRef   = hostir.StreamRef{Set: "main"}
	copyRef   = hostir.StreamRef{Set: "copy"}
	mainFirst = hostir.Synchronize{Streams: []hostir.StreamRef{copyRef}, On: []hostir.StreamRef{mainRef}}
	copyFirst = hostir.Synchronize{Streams: []hostir.StreamRef{mainRef}, On: []hostir.StreamRef{copyRef}}
)

func buffer(name string, owner hostir.Owner, elements, chunk hostir.Expr) hostir.Buffer {
	return hostir.Buffer{Name: name, Owner: owner, Elements: elements, Chunk: chunk, Shared: name == "A"}
}

func view(buffer string, index hostir.Expr) hostir.View {
	return hostir.View{Buffer: buffer, Index: index}
}

func at(peer hostir.Expr, v hostir.View) hostir.View {
	v.Peer = peer
	return v
}

func each(from int64, body ...hostir.Node) hostir.Node {
	return hostir.For{Index: "i", From: hostir.Const(from), To: d, Body: body}
}

func slots(index hostir.Expr) hostir.Terms {
	return hostir.Terms{View: view("slots", index), Index: "i", From: hostir.Const(0), To: d}
}

var (
	sharded = []schedule.Split{schedule.DIDx(schedule.D)}
	sum     = hostir.Reduce{Stream: mainRef, Dst: hostir.View{Buffer: "C"}, Terms: []hostir.Terms{slots(i)}}
	shard   = hostir.Mul(hostir.Div(m, d), n) // of C
	puts    = each(1,
		hostir.Wait{Stream: copyRef, Semaphore: "free", Peer: to},
		hostir.Set{Stream: copyRef, Dst: at(to, view("slots", r)), Src: view("partial", to)},
		hostir.Post{Stream: copyRef, Semaphore: "arrived", Peer: to})
	exchange = []hostir.Semaphore{{Name: "free"}, {Name: "arrived"}}
)

// reduceScatter puts partial products into slots at their owners.
func reduceScatter() *hostir.Program {
	partial := func(c hostir.View, of hostir.Expr) hostir.Node {
		return hostir.Linear{Stream: mainRef, C: c, A: view("A", of), B: hostir.View{Buffer: "B"}}
	}
	local := hostir.Div(hostir.Mul(m, k), d)
	return &hostir.Program{Name: "ReduceScatter", Semaphores: exchange, Schedule: schedule.Schedule{Op: schedule.Linear, Tensors: []schedule.Tensor{
		{Name: "A", Axes: []schedule.Axis{schedule.Dim(schedule.M), schedule.Dim(schedule.K, sharded...)}},
		{Name: "B", Axes: []schedule.Axis{schedule.Dim(schedule.N), schedule.Dim(schedule.K, sharded...)}},
		{Name: "C", Axes: []schedule.Axis{schedule.Dim(schedule.M, sharded...), schedule.Dim(schedule.N)}}}},
		Buffers: []hostir.Buffer{buffer("A", hostir.Caller, local, hostir.Div(local, d)), buffer("B", hostir.Caller, hostir.Div(hostir.Mul(n, k), d), hostir.Div(hostir.Mul(n, k), d)),
			buffer("C", hostir.Caller, shard, shard), buffer("partial", hostir.Plan, hostir.Mul(m, n), shard), buffer("slots", hostir.Plan, hostir.Mul(m, n), shard)},
		Body: []hostir.Node{
			hostir.Post{Stream: mainRef, Semaphore: "free"},
			each(1, partial(view("partial", to), to)),
			mainFirst, puts,
			partial(view("slots", r), r),
			copyFirst,
			hostir.Wait{Stream: mainRef, Semaphore: "arrived"},
			sum}}
}

// allReduce is one shot: one kernel says that its input may be read, waits, sums all
// ranks' inputs, says so and waits again.
func allReduce() *hostir.Program {
	size := hostir.Mul(m, n)
	return &hostir.Program{Name: "AllReduce", Semaphores: []hostir.Semaphore{{Name: "ready", Count: hostir.Const(2)}}, Schedule: schedule.Schedule{Op: schedule.Sum, Tensors: []schedule.Tensor{
		{Name: "A", Axes: []schedule.Axis{schedule.Dim(schedule.D, sharded...), schedule.Dim(schedule.M), schedule.Dim(schedule.N)}},
		{Name: "C", Axes: []schedule.Axis{schedule.Dim(schedule.M), schedule.Dim(schedule.N)}}}},
		Buffers: []hostir.Buffer{buffer("A", hostir.Caller, size, size), buffer("C", hostir.Caller, size, size)},
		Body: []hostir.Node{
			hostir.LaunchKernel{Stream: mainRef, Name: "shot", Body: []hostir.Node{
				hostir.Post{Stream: mainRef, Semaphore: "ready"},
				hostir.Wait{Stream: mainRef, Semaphore: "ready"},
				hostir.Reduce{Stream: mainRef, Dst: hostir.View{Buffer: "C"}, Terms: []hostir.Terms{
					{View: hostir.View{Buffer: "A", Peer: i}, Index: "i", From: hostir.Const(0), To: d}}},
				hostir.Post{Stream: mainRef, Semaphore: "ready", Index: hostir.Const(1)},
				hostir.Wait{Stream: mainRef, Semaphore: "ready", Index: hostir.Const(1)}}}}}
}

// weightGradient adds the products of shards of B, gathered by a collective.
func weightGradient() *hostir.Program {
	size := hostir.Mul(m, k)
	rows := hostir.Div(size, d)
	grad := func(chunk hostir.Expr, more bool) hostir.Node {
		return hostir.Gradient{Stream: mainRef, C: hostir.View{Buffer: "C"}, A: view("A", chunk), B: view("Gathered", chunk), Accumulate: more}
	}
	return &hostir.Program{Name: "WeightGradient", Semaphores: []hostir.Semaphore{{Name: "ready"}, {Name: "read"}}, Schedule: schedule.Schedule{Op: schedule.Gradient, Tensors: []schedule.Tensor{
		{Name: "A", Axes: []schedule.Axis{schedule.Dim(schedule.M), schedule.Dim(schedule.N)}},
		{Name: "B", Axes: []schedule.Axis{schedule.Dim(schedule.M, sharded...), schedule.Dim(schedule.K)}},
		{Name: "C", Axes: []schedule.Axis{schedule.Dim(schedule.N), schedule.Dim(schedule.K)}}}},
		Buffers: []hostir.Buffer{buffer("A", hostir.Caller, hostir.Mul(m, n), shard), hostir.Buffer{Name: "B", Owner: hostir.Caller, Elements: rows, Chunk: rows, Shared: true},
			buffer("C", hostir.Caller, hostir.Mul(n, k), hostir.Mul(n, k)), buffer("Gathered", hostir.Plan, size, rows)},
		Body: []hostir.Node{
			hostir.Communication{Stream: mainRef, Kind: "Allgather", In: view("B", hostir.Const(0)), Out: view("Gathered", hostir.Const(0)), Ready: "ready", Done: "read"},
			hostir.Wait{Stream: mainRef, Semaphore: "read"},
			grad(hostir.Const(0), false), each(1, grad(i, true))}}
}

// allToAll is a copy between placements of [D, D, M].
func allToAll() *hostir.Program {
	size := hostir.Mul(d, m)
	dim := func(e schedule.Extent, s ...schedule.Split) schedule.Axis { return schedule.Dim(e, s...) }
	return &hostir.Program{Name: "AllToAll", Semaphores: []hostir.Semaphore{{Name: "ready"}, {Name: "read"}}, Schedule: schedule.Schedule{Op: schedule.Copy, Tensors: []schedule.Tensor{
		{Name: "A", Axes: []schedule.Axis{dim(schedule.D, sharded...), dim(schedule.D), dim(schedule.M)}},
		{Name: "C", Axes: []schedule.Axis{dim(schedule.D), dim(schedule.D, sharded...), dim(schedule.M)}}}},
		Buffers: []hostir.Buffer{buffer("A", hostir.Caller, size, m), buffer("C", hostir.Caller, size, m)},
		Body: []hostir.Node{
			hostir.Post{Stream: mainRef, Semaphore: "ready"},
			hostir.Set{Stream: mainRef, Dst: view("C", r), Src: view("A", r)},
			each(1, hostir.Wait{Stream: mainRef, Semaphore: "ready", Peer: to},
				hostir.Set{Stream: mainRef, Dst: view("C", to), Src: at(to, view("A", r))}),
			hostir.Post{Stream: mainRef, Semaphore: "read"},
			hostir.Wait{Stream: mainRef, Semaphore: "read"}}}
}

// mlp is the layers on one rank's rows, with whole weights: GELU between them.
func mlp() *hostir.Program {
	f := hostir.Var("F")
	rows := func(columns hostir.Expr) hostir.Expr { return hostir.Mul(hostir.Div(m, d), columns) }
	return &hostir.Program{Name: "MLP", Schedule: schedule.Schedule{Op: schedule.MLP, Tensors: []schedule.Tensor{
		{Name: "A", Axes: []schedule.Axis{schedule.Dim(schedule.M, schedule.Split{Kind: schedule.DeviceX, Count: schedule.D, Shift: 1}), schedule.Dim(schedule.K)}},
		{Name: "B", Axes: []schedule.Axis{schedule.Dim(schedule.F), schedule.Dim(schedule.K)}},
		{Name: "Bias", Axes: []schedule.Axis{schedule.Dim(schedule.F)}},
		{Name: "B2", Axes: []schedule.Axis{schedule.Dim(schedule.N), schedule.Dim(schedule.F)}},
		{Name: "C", Axes: []schedule.Axis{schedule.Dim(schedule.M, schedule.Split{Kind: schedule.DeviceX, Count: schedule.D, Shift: 1}), schedule.Dim(schedule.N)}}}},
		Buffers: []hostir.Buffer{buffer("A", hostir.Caller, rows(k), rows(k)), buffer("B", hostir.Caller, hostir.Mul(f, k), hostir.Mul(f, k)), buffer("Bias", hostir.Caller, f, f),
			buffer("B2", hostir.Caller, hostir.Mul(n, f), hostir.Mul(n, f)), buffer("C", hostir.Caller, rows(n), rows(n)), buffer("hidden", hostir.Plan, rows(f), rows(f))},
		Body: []hostir.Node{
			hostir.Linear{Stream: mainRef, C: hostir.View{Buffer: "hidden"}, A: hostir.View{Buffer: "A"}, B: hostir.View{Buffer: "B"}, Bias: hostir.View{Buffer: "Bias"}, Gelu: true},
			hostir.Linear{Stream: mainRef, C: hostir.View{Buffer: "C"}, A: hostir.View{Buffer: "hidden"}, B: hostir.View{Buffer: "B2"}}}}
}

// Programs of every operation are right, and wrong with one mistake.
func TestFamilies(t *testing.T) {
	change := func(f func(hostir.Node) hostir.Node) func(*hostir.Program) {
		return func(p *hostir.Program) {
			p.Body = hostir.Map(p.Body, func(n hostir.Node) []hostir.Node { return []hostir.Node{f(n)} })
		}
	}
	for _, c := range []struct {
		name    string
		program *hostir.Program
		spoil   func(*hostir.Program)
		broke   explore.Property
	}{
		{"a sum that lacks a term", reduceScatter(), change(func(n hostir.Node) hostir.Node {
			if s, ok := n.(hostir.Reduce); ok {
				s.Terms = []hostir.Terms{{View: s.Terms[0].View, Index: "i", From: hostir.Const(1), To: d}}
				return s
			}
			return n
		}), explore.Contents},
		{"a sum in another order", reduceScatter(), change(func(n hostir.Node) hostir.Node {
			if s, ok := n.(hostir.Reduce); ok {
				s.Terms = []hostir.Terms{slots(hostir.Mod(hostir.Add(i, hostir.Const(1)), d))}
				return s
			}
			return n
		}), explore.Contents},
		{"a sum ahead of the slots", reduceScatter(), func(p *hostir.Program) {
			last := len(p.Body) - 1
			p.Body[last], p.Body[last-1] = p.Body[last-1], p.Body[last]
		}, explore.NoRace},
		{"a product ahead of its slot", reduceScatter(), func(p *hostir.Program) { p.Body[1], p.Body[3] = p.Body[3], p.Body[1] }, explore.NoRace},
		{"a kernel that does not wait", allReduce(), change(func(n hostir.Node) hostir.Node {
			if l, ok := n.(hostir.LaunchKernel); ok {
				l.Body = append([]hostir.Node{l.Body[0], l.Body[2], l.Body[1]}, l.Body[3:]...)
				return l
			}
			return n
		}), explore.InRun},
		{"a member that is not there", allReduce(), func(p *hostir.Program) { p.Semaphores = []hostir.Semaphore{{Name: "ready"}} }, explore.WellFormed},
		{"a product that does not add", weightGradient(), change(func(n hostir.Node) hostir.Node {
			if g, ok := n.(hostir.Gradient); ok {
				g.Accumulate = false
				return g
			}
			return n
		}), explore.Contents},
		{"a chunk of another rank", allToAll(), change(func(n hostir.Node) hostir.Node {
			if s, ok := n.(hostir.Set); ok && !s.Src.Peer.IsZero() {
				s.Src.Index = to
				return s
			}
			return n
		}), explore.Contents},
		{"no GELU", mlp(), change(func(n hostir.Node) hostir.Node {
			if l, ok := n.(hostir.Linear); ok {
				l.Gelu = false
				return l
			}
			return n
		}), explore.Contents},
	} {
		t.Run(c.name, func(t *testing.T) {
			for ranks := 2; ranks <= 3; ranks++ {
				for _, m := range modes {
					safe(t, judged(t, c.program, ranks, m))
				}
			}
			c.spoil(c.program)
			if v := judged(t, c.program, 3, modes[0]); !v.Broke(c.broke) {
				t.Errorf("want %s broken, got %v", c.broke, v.Violations)
			}
		})
	}
}

func judged(t *testing.T, p *hostir.Program, ranks int, modes []explore.Mode) explore.Verdict {
	sys, err := explore.Of(p, explore.ShapeOf(p, ranks), nil, modes...)
	if err != nil {
		t.Fatal(err)
	}
	if v := explore.Explore(sys); !v.Safe() {
		return v
	}
	return explore.ExploreSerial(sys)
}
