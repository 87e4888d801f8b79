package prove

import (
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// Where parts of a tensor are, for three ranks, M = 12, K = 2.
func TestPlacement(t *testing.T) {
	m, k := schedule.Dim(schedule.M), schedule.Dim(schedule.K)
	byD := schedule.DIDx(schedule.D)
	two := schedule.Split{Kind: schedule.Plain, Count: "2"}
	uneven := schedule.Split{Kind: schedule.DeviceX, Count: schedule.D, Uneven: true}
	shifted := schedule.Split{Kind: schedule.DeviceX, Count: schedule.D, Shift: 1}
	for _, test := range []struct {
		name   string
		axes   []schedule.Axis
		counts []int64
		rank   int
		lo, hi int64
		want   box // zero: no box
	}{
		{"whole", []schedule.Axis{m, k}, nil, 1, 0, 24, box{{0, 12}, {0, 2}}},
		{"rows", []schedule.Axis{m, k}, nil, 1, 4, 8, box{{2, 4}, {0, 2}}},
		{"part of a row", []schedule.Axis{m, k}, nil, 1, 5, 6, box{{2, 3}, {1, 2}}},
		{"parts of two rows", []schedule.Axis{m, k}, nil, 1, 5, 7, box{}},
		{"a row and a part", []schedule.Axis{m, k}, nil, 1, 4, 7, box{}},
		{"more than there is", []schedule.Axis{m, k}, nil, 1, 20, 26, box{}},
		{"a shard", []schedule.Axis{schedule.Dim(schedule.M, byD), k}, nil, 1, 0, 8, box{{4, 8}, {0, 2}}},
		{"half a shard", []schedule.Axis{schedule.Dim(schedule.M, byD), k}, nil, 2, 4, 8, box{{10, 12}, {0, 2}}},
		{"a shard of another rank", []schedule.Axis{schedule.Dim(schedule.M, shifted), k}, nil, 0, 0, 8,
			box{{8, 12}, {0, 2}}},
		{"columns", []schedule.Axis{k, schedule.Dim(schedule.M, byD)}, nil, 1, 0, 8, box{{0, 2}, {4, 8}}},
		{"a chunk of each shard", []schedule.Axis{schedule.Dim(schedule.M, two, byD), k}, nil, 1, 4, 8,
			box{{8, 10}, {0, 2}}},
		{"two chunks of each shard", []schedule.Axis{schedule.Dim(schedule.M, two, byD), k}, nil, 1, 0, 8, box{}},
		{"steps", []schedule.Axis{schedule.Dim(schedule.M, schedule.Stream(schedule.D)), k}, nil, 1, 8,
			16, box{{4, 8}, {0, 2}}},
		{"one of a leading axis", []schedule.Axis{schedule.Dim(schedule.D, byD), m, k}, nil, 2, 4, 8,
			box{{2, 3}, {2, 4}, {0, 2}}},
		{"uneven", []schedule.Axis{schedule.Dim(schedule.M, uneven), k}, []int64{1, 5, 6}, 1, 0,
			10, box{{1, 6}, {0, 2}}},
		{"uneven, nothing", []schedule.Axis{schedule.Dim(schedule.M, uneven), k}, []int64{6, 0, 6}, 1, 0, 2, box{}},
		{"ragged, to each", []schedule.Axis{schedule.Dim(schedule.D, uneven), schedule.Dim(schedule.D), m},
			[]int64{1, 2, 3, 4, 5, 6, 7, 8, 9}, 1, 4, 9, box{{1, 2}, {1, 2}, {0, 5}}},
		{"ragged, from each", []schedule.Axis{schedule.Dim(schedule.D), schedule.Dim(schedule.D, uneven), m},
			[]int64{1, 2, 3, 4, 5, 6, 7, 8, 9}, 1, 7, 15, box{{2, 3}, {1, 2}, {0, 8}}},
		{"ragged, rows to each", []schedule.Axis{schedule.Dim(schedule.D, uneven), schedule.Dim(schedule.D), m, k},
			[]int64{1, 2, 3, 4, 5, 6, 7, 8, 9}, 1, 8, 18, box{{1, 2}, {1, 2}, {0, 5}, {0, 2}}},
		{"ragged, across", []schedule.Axis{schedule.Dim(schedule.D, uneven), schedule.Dim(schedule.D), m},
			[]int64{1, 2, 3, 4, 5, 6, 7, 8, 9}, 1, 4, 10, box{}},
	} {
		p := placement{Tensor: schedule.Tensor{Name: "A", Axes: test.axes}, ranks: 3,
			Computation: &Computation{Extents: hostir.Env{"D": 3, "M": 12, "K": 2}, Counts: test.counts}}
		got, err := p.box(test.rank, test.lo, test.hi)
		if err != nil {
			got = box{}
		}
		if got != test.want || err == nil && got == (box{}) {
			t.Errorf("%s: %v, %v, want %v", test.name, got, err, test.want)
		}
	}
}

// Equal expressions are equal numbers, however they are nested; their order is kept
// apart.
func TestExpressions(t *testing.T) {
	e := newExpressions(&Model{Buffers: []Buffer{{Name: "A"}, {Name: "B"}}})
	a, b, c := e.input(0, 0, 0, 0), e.input(0, 1, 0, 0), e.input(0, 2, 0, 0)
	w := e.input(1, 0, 0, 0)
	for _, test := range []struct {
		name        string
		x, y        expr
		same, equal bool // number; value
	}{
		{"itself", a, e.input(0, 0, 0, 0), true, true},
		{"another run", a, e.input(0, 0, 1, 0), false, false},
		{"order", e.sum([]expr{a, b}), e.sum([]expr{b, a}), false, true},
		{"nested", e.sum([]expr{a, b, c}), e.add(e.sum([]expr{a, b}), c), false, true},
		{"nested on the other side", e.add(a, e.sum([]expr{b, c})), e.add(e.sum([]expr{c, a}), b), false, true},
		{"twice", e.sum([]expr{a, a, b}), e.sum([]expr{a, b}), false, false},
		{"once more", e.sum([]expr{a, a, b}), e.sum([]expr{a, b, b}), false, false},
		{"product", e.product("linear", a, w, stale), e.product("linear", b, w, stale), false, false},
		{"form", e.product("linear", a, w, stale), e.product("matmul", a, w, stale), false, false},
		{"of a sum", e.product("linear", e.sum([]expr{a, b}), w, stale), e.product("linear", e.sum([]expr{b, a}),
			w, stale), false, true},
		{"of a sum, nonlinear", e.product("linear gelu", e.sum([]expr{a, b}), w, c),
			e.product("linear gelu", e.sum([]expr{b, a}), w, c), false, true},
		{"bias", e.product("linear", a, w, c), e.add(e.product("linear", a, w, stale), e.row(c)), false, true},
		{"a bias that is no row", e.product("linear", a, w, c), e.add(e.product("linear", a, w, stale), c), false,
			false},
		{"a function of a sum", e.applied("swiglu", []expr{e.sum([]expr{a, b}), c}),
			e.applied("swiglu", []expr{e.sum([]expr{b, a}), c}), false, true},
		{"another function", e.applied("swiglu", []expr{a, c}), e.applied("rmsnorm", []expr{a, c}), false, false},
		{"a function of others", e.applied("swiglu", []expr{a, c}), e.applied("swiglu", []expr{c, a}), false, false},
		{"bias inside", e.product("linear gelu", a, w, c), e.add(e.product("linear gelu", a, w, stale), c), false,
			false},
		{"chunks", e.product("linear", a, e.tuple([]expr{b, c}), stale), e.product("linear", a, e.tuple([]expr{c, b}),
			stale), false, false},
		{"chunks that are sums", e.product("linear", a, e.tuple([]expr{e.sum([]expr{b, c}), c}), stale),
			e.product("linear", a, e.tuple([]expr{e.sum([]expr{c, b}), c}), stale), false, true},
	} {
		if same, equal := test.x == test.y, e.value(test.x) == e.value(test.y); same != test.same ||
			equal != test.equal {
			t.Errorf("%s: %s and %s: same %t, equal %t", test.name, e.text(test.x), e.text(test.y), same, equal)
		}
	}
}

// The rows of a gathered tensor are those of all ranks in their order, without a gap, and of all columns.
func TestRowsOfAll(t *testing.T) {
	const columns = 4
	rows := func(lo, hi int64) box { return box{{lo, hi}, {0, columns}} }
	all := rows(0, 6)
	for _, c := range []struct {
		name  string
		boxes [][]box
		want  bool
	}{
		{"a chunk each", [][]box{{rows(0, 3)}, {rows(3, 6)}}, true},
		{"two chunks, and room for one", [][]box{{rows(0, 1), rows(1, 3)}, {{}, rows(3, 6)}}, true},
		{"in another order", [][]box{{rows(3, 6)}, {rows(0, 3)}}, false},
		{"a gap", [][]box{{rows(0, 2)}, {rows(3, 6)}}, false},
		{"rows twice", [][]box{{rows(0, 4)}, {rows(3, 6)}}, false},
		{"too few", [][]box{{rows(0, 3)}, {rows(3, 5)}}, false},
		{"all on each rank", [][]box{{all}, {all}}, false},
		{"columns", [][]box{{{{0, 6}, {0, 2}}}, {{{0, 6}, {2, columns}}}}, false},
	} {
		x := &expectation{boxes: map[string][][]box{"B": c.boxes}}
		if got := x.ofAll("B", all, 0); (got != nil) != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
		if got := x.ofAll("B", all, 1); (got != nil) != (c.name == "columns") {
			t.Errorf("%s, as columns: %v", c.name, got)
		}
	}
}

// Parts of columns are boxes of rows and columns, and no range across them is.
func TestPartsOfColumns(t *testing.T) {
	p := placement{Tensor: schedule.Tensor{Name: "C", Axes: []schedule.Axis{schedule.Dim(schedule.M),
		schedule.Dim(schedule.N, schedule.DIDx(schedule.D))}}, ranks: 2,
		Computation: &Computation{Extents: hostir.Env{"D": 2, "M": 4, "N": 12}}} // a rank has 4 rows of 6
	for _, c := range []struct {
		parts, lo, hi int64
		want          box
	}{
		{3, 0, 8, box{{0, 4}, {6, 8}}},
		{3, 8, 16, box{{0, 4}, {8, 10}}},
		{3, 18, 22, box{{1, 3}, {10, 12}}},
		{1, 6, 12, box{{1, 2}, {6, 12}}},
		{3, 4, 12, box{}},  // of two parts
		{3, 1, 3, box{}},   // of half a row
		{3, 20, 28, box{}}, // beyond the end
		{4, 0, 6, box{}},   // columns that 4 does not divide
	} {
		got, err := p.boxIn(c.parts, 1, c.lo, c.hi)
		if got != c.want || (err != nil) != (c.want == box{}) {
			t.Errorf("elements %d to %d of %d parts: %v, %v", c.lo, c.hi, c.parts, got, err)
		}
	}
}
