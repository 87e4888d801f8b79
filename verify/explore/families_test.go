package explore_test

import (
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/schedule/scheduletest"
	"ovgen/verify/explore"
)

// Expressions and streams of the programs below.
var (
	r, d      = hostir.Rank, hostir.Size
	i         = hostir.Var("i")
	to        = hostir.Ahead(i)
	m, k, n   = hostir.Var("M"), hostir.Var("K"), hostir.Var("N")
	mainRef   = hostir.Stream("main")
	copyRef   = hostir.Stream("copy")
	mainFirst = hostir.After(copyRef, mainRef)
	copyFirst = hostir.After(mainRef, copyRef)
)

func buffer(name string, owner hostir.Owner, elements, chunk hostir.Expr) hostir.Buffer {
	return hostir.Buffer{Name: name, Owner: owner, Elements: elements, Chunk: chunk, Shared: name == "A"}
}

func each(from int64, body ...hostir.Node) hostir.Node {
	return hostir.Loop("i", hostir.Const(from), d, body...)
}

func slots(index hostir.Expr) hostir.View {
	return hostir.Chunk("slots", index).Over("i", hostir.Const(0), d)
}

var (
	sharded = []schedule.Split{schedule.DIDx(schedule.D)}
	sum     = hostir.Reduce(mainRef, hostir.Whole("C"), slots(i))
	shard   = hostir.Mul(hostir.Div(m, d), n) // of C
	puts    = each(1,
		hostir.Wait(copyRef, "free", to),
		hostir.Set(copyRef, hostir.Chunk("slots", r).At(to), hostir.Chunk("partial", to)),
		hostir.Post(copyRef, "arrived", to))
	exchange = []hostir.Semaphore{{Name: "free"}, {Name: "arrived"}}
)

// reduceScatter puts partial products into slots at their owners.
func reduceScatter() *hostir.Program {
	partial := func(c hostir.View, of hostir.Expr) hostir.Node {
		return hostir.Multiply(mainRef, hostir.Linear, c, hostir.Chunk("A", of), hostir.Whole("B"))
	}
	local := hostir.Div(hostir.Mul(m, k), d)
	return &hostir.Program{Name: "ReduceScatter", Semaphores: exchange,
		Schedule: scheduletest.Usual("linear", schedule.Schedule{Tensors: []schedule.Tensor{
			{Name: "A", Axes: []schedule.Axis{schedule.Dim(schedule.M), schedule.Dim(schedule.K, sharded...)}},
			{Name: "B", Axes: []schedule.Axis{schedule.Dim(schedule.N), schedule.Dim(schedule.K, sharded...)}},
			{Name: "C", Axes: []schedule.Axis{schedule.Dim(schedule.M, sharded...), schedule.Dim(schedule.N)}}}}),
		Buffers: []hostir.Buffer{buffer("A", hostir.Caller, local, hostir.Div(local, d)),
			buffer("B", hostir.Caller, hostir.Div(hostir.Mul(n, k), d), hostir.Div(hostir.Mul(n, k), d)),
			buffer("C", hostir.Caller, shard, shard),
			buffer("partial", hostir.Plan, hostir.Mul(m, n), shard),
			buffer("slots", hostir.Plan, hostir.Mul(m, n), shard)},
		Body: []hostir.Node{
			hostir.Post(mainRef, "free", hostir.Every),
			each(1, partial(hostir.Chunk("partial", to), to)),
			mainFirst, puts,
			partial(hostir.Chunk("slots", r), r),
			copyFirst,
			hostir.Wait(mainRef, "arrived", hostir.Every),
			sum}}
}

// allReduce is one shot: one kernel says that its input may be read, waits, sums all
// ranks' inputs, says so and waits again.
func allReduce() *hostir.Program {
	size := hostir.Mul(m, n)
	return &hostir.Program{Name: "AllReduce", Semaphores: []hostir.Semaphore{{Name: "ready", Count: hostir.Const(2)}},
		Schedule: scheduletest.Usual("sum", schedule.Schedule{Tensors: []schedule.Tensor{
			{Name: "A", Axes: []schedule.Axis{schedule.Dim(schedule.D, sharded...), schedule.Dim(schedule.M),
				schedule.Dim(schedule.N)}},
			{Name: "C", Axes: []schedule.Axis{schedule.Dim(schedule.M), schedule.Dim(schedule.N)}}}}),
		Buffers: []hostir.Buffer{buffer("A", hostir.Caller, size, size), buffer("C", hostir.Caller, size, size)},
		Body: []hostir.Node{
			hostir.Fuse("shot",
				hostir.Post(mainRef, "ready", hostir.Every),
				hostir.Wait(mainRef, "ready", hostir.Every),
				hostir.Reduce(mainRef, hostir.Whole("C"), hostir.Whole("A").At(i).Over("i", hostir.Const(0), d)),
				hostir.Post(mainRef, "ready", hostir.Every).Member(hostir.Const(1)),
				hostir.Wait(mainRef, "ready", hostir.Every).Member(hostir.Const(1)))}}
}

// weightGradient adds the products of shards of B, pulled from every rank.
func weightGradient() *hostir.Program {
	size := hostir.Mul(m, k)
	rows := hostir.Div(size, d)
	grad := func(chunk hostir.Expr, more bool) hostir.Node {
		return hostir.Do(mainRef, hostir.Product{Index: hostir.Gradient, To: hostir.Whole("C"),
			A: hostir.Chunk("A", chunk), B: hostir.Chunk("Gathered", chunk), Accumulate: more})
	}
	return &hostir.Program{Name: "WeightGradient", Semaphores: []hostir.Semaphore{{Name: "ready"}, {Name: "read"}},
		Schedule: scheduletest.Usual("gradient", schedule.Schedule{Tensors: []schedule.Tensor{
			{Name: "A", Axes: []schedule.Axis{schedule.Dim(schedule.M), schedule.Dim(schedule.N)}},
			{Name: "B", Axes: []schedule.Axis{schedule.Dim(schedule.M, sharded...), schedule.Dim(schedule.K)}},
			{Name: "C", Axes: []schedule.Axis{schedule.Dim(schedule.N), schedule.Dim(schedule.K)}}}}),
		Buffers: []hostir.Buffer{buffer("A", hostir.Caller, hostir.Mul(m, n), shard),
			hostir.Buffer{Name: "B", Owner: hostir.Caller, Elements: rows, Chunk: rows, Shared: true},
			buffer("C", hostir.Caller, hostir.Mul(n, k), hostir.Mul(n, k)),
			buffer("Gathered", hostir.Plan, size, rows)},
		Body: []hostir.Node{
			hostir.Post(mainRef, "ready", hostir.Every),
			hostir.Set(mainRef, hostir.Chunk("Gathered", r), hostir.Chunk("B", hostir.Const(0))),
			each(1, hostir.Wait(mainRef, "ready", to), hostir.Set(mainRef, hostir.Chunk("Gathered", to),
				hostir.Remote("B", to, hostir.Const(0)))),
			hostir.Post(mainRef, "read", hostir.Every),
			hostir.Wait(mainRef, "read", hostir.Every),
			grad(hostir.Const(0), false), each(1, grad(i, true))}}
}

// allToAll is a copy between placements of [D, D, M].
func allToAll() *hostir.Program {
	size := hostir.Mul(d, m)
	dim := func(e schedule.Extent, s ...schedule.Split) schedule.Axis { return schedule.Dim(e, s...) }
	return &hostir.Program{Name: "AllToAll", Semaphores: []hostir.Semaphore{{Name: "ready"}, {Name: "read"}},
		Schedule: scheduletest.Usual("copy", schedule.Schedule{Tensors: []schedule.Tensor{
			{Name: "A", Axes: []schedule.Axis{dim(schedule.D, sharded...), dim(schedule.D), dim(schedule.M)}},
			{Name: "C", Axes: []schedule.Axis{dim(schedule.D), dim(schedule.D, sharded...), dim(schedule.M)}}}}),
		Buffers: []hostir.Buffer{buffer("A", hostir.Caller, size, m), buffer("C", hostir.Caller, size, m)},
		Body: []hostir.Node{
			hostir.Post(mainRef, "ready", hostir.Every),
			hostir.Set(mainRef, hostir.Chunk("C", r), hostir.Chunk("A", r)),
			each(1, hostir.Wait(mainRef, "ready", to),
				hostir.Set(mainRef, hostir.Chunk("C", to), hostir.Chunk("A", r).At(to))),
			hostir.Post(mainRef, "read", hostir.Every),
			hostir.Wait(mainRef, "read", hostir.Every)}}
}

// mlp is the layers on one rank's rows, with whole weights: GELU between them.
func mlp() *hostir.Program {
	f := hostir.Var("F")
	rows := func(columns hostir.Expr) hostir.Expr { return hostir.Mul(hostir.Div(m, d), columns) }
	hidden := hostir.Multiply(mainRef, hostir.Linear, hostir.Whole("hidden"), hostir.Whole("A"), hostir.Whole("B"),
		hostir.Whole("Bias")).Then("gelu")
	return &hostir.Program{Name: "MLP", Schedule: scheduletest.Usual("mlp",
		schedule.Schedule{Tensors: []schedule.Tensor{
			{Name: "A", Axes: []schedule.Axis{schedule.Dim(schedule.M,
				schedule.Split{Kind: schedule.DeviceX, Count: schedule.D, Shift: 1}), schedule.Dim(schedule.K)}},
			{Name: "B", Axes: []schedule.Axis{schedule.Dim(schedule.F), schedule.Dim(schedule.K)}},
			{Name: "Bias", Axes: []schedule.Axis{schedule.Dim(schedule.F)}},
			{Name: "B2", Axes: []schedule.Axis{schedule.Dim(schedule.N), schedule.Dim(schedule.F)}},
			{Name: "C", Axes: []schedule.Axis{schedule.Dim(schedule.M,
				schedule.Split{Kind: schedule.DeviceX, Count: schedule.D, Shift: 1}), schedule.Dim(schedule.N)}}}}),
		Buffers: []hostir.Buffer{buffer("A", hostir.Caller, rows(k), rows(k)),
			buffer("B", hostir.Caller, hostir.Mul(f, k), hostir.Mul(f, k)), buffer("Bias", hostir.Caller, f, f),
			buffer("B2", hostir.Caller, hostir.Mul(n, f), hostir.Mul(n, f)), buffer("C", hostir.Caller, rows(n),
				rows(n)), buffer("hidden", hostir.Plan, rows(f), rows(f))},
		Body: []hostir.Node{
			hidden,
			hostir.Multiply(mainRef, hostir.Linear, hostir.Whole("C"), hostir.Whole("hidden"), hostir.Whole("B2"))}}
}

// changed applies f to all work of a kind.
func changed[W hostir.Work](f func(*W)) func(*hostir.Program) {
	return func(p *hostir.Program) {
		p.Body = hostir.MapSteps(p.Body, func(s hostir.Step) []hostir.Node {
			return []hostir.Node{hostir.Changed(s, f)}
		})
	}
}

// Programs of every operation are right, and wrong with one mistake.
func TestFamilies(t *testing.T) {
	for _, c := range []struct {
		name    string
		program *hostir.Program
		spoil   func(*hostir.Program)
		broke   explore.Property
	}{
		{"a sum that lacks a term", reduceScatter(), changed(func(s *hostir.Sum) {
			s.Terms[0].Each.From = hostir.Const(1)
		}), explore.Contents},
		{"a sum in another order", reduceScatter(), changed(func(s *hostir.Sum) {
			s.Terms[0] = slots(hostir.Mod(hostir.Add(i, hostir.Const(1)), d))
		}), explore.Contents},
		{"a sum before the slots", reduceScatter(), func(p *hostir.Program) {
			last := len(p.Body) - 1
			p.Body[last], p.Body[last-1] = p.Body[last-1], p.Body[last]
		}, explore.NoRace},
		{"a product before its slot", reduceScatter(), func(p *hostir.Program) {
			p.Body[1], p.Body[3] = p.Body[3],
				p.Body[1]
		}, explore.NoRace},
		{"a kernel that does not wait", allReduce(), func(p *hostir.Program) {
			p.Body = hostir.MapSteps(p.Body, func(s hostir.Step) []hostir.Node {
				if s.Kind() == hostir.SumKind {
					s.Pre, s.Post = s.Pre[:1], append(s.Pre[1:], s.Post...)
				}
				return []hostir.Node{s}
			})
		}, explore.InRun},
		{"a member that is not there", allReduce(),
			func(p *hostir.Program) { p.Semaphores = []hostir.Semaphore{{Name: "ready"}} }, explore.WellFormed},
		{"a product that does not add", weightGradient(), changed(func(s *hostir.Product) {
			s.Accumulate = false
		}), explore.Contents},
		{"a chunk of another rank", allToAll(), changed(func(s *hostir.Copy) {
			if !s.From.Peer.IsZero() {
				s.From.Index = to
			}
		}), explore.Contents},
		{"no GELU", mlp(), changed(func(s *hostir.Product) { s.Func = "" }), explore.Contents},
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
