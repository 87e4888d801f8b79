package schedule_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/scheduletest"
)

func TestCatalogIsValid(t *testing.T) {
	for _, n := range catalog.All() {
		name, s := n.Name, n.Schedule
		if err := s.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := s.WithDefaults().Validate(); err != nil {
			t.Errorf("%s with defaults: %v", name, err)
		}
	}
}

type validateCase struct {
	name  string
	s     schedule.Schedule
	paths []string
}

var shardedA = schedule.Tensor{Name: "A", Axes: []schedule.Axis{schedule.Dim(schedule.M, schedule.DIDx(schedule.D)),
	schedule.Dim(schedule.K)}}

var wholeB = schedule.Tensor{Name: "B", Axes: []schedule.Axis{schedule.Dim(schedule.K), schedule.Dim(schedule.N)}}

var streamedC = schedule.Tensor{Name: "C", Axes: []schedule.Axis{schedule.Dim(schedule.M, schedule.Stream(schedule.D)),
	schedule.Dim(schedule.N)}}

func matmulWith(f func(*schedule.Schedule)) schedule.Schedule {
	s := scheduletest.Of("matmul", shardedA, wholeB, streamedC)
	f(&s)
	return s
}

func matmulOf(f func(*schedule.Op)) schedule.Schedule {
	return matmulWith(func(s *schedule.Schedule) { f(&s.Ops[0]) })
}

func matmulBy(w schedule.Way) schedule.Schedule {
	return matmulWith(func(s *schedule.Schedule) { s.Moves = []schedule.Move{{Of: "A", Way: w}} })
}

var validateCases = []validateCase{
	{"good", matmulWith(func(*schedule.Schedule) {}), nil},
	{"empty", schedule.Schedule{}, []string{"Ops"}},
	{"no index", matmulOf(func(o *schedule.Op) { o.Index = "mkn" }), []string{"Ops[0].Index"}},
	{"an index of other operands", matmulOf(func(o *schedule.Op) { o.Index = "mk->mk" }), []string{"Ops[0].Index"}},
	{"an axis twice", matmulOf(func(o *schedule.Op) { o.Index = "mm,mn->mn" }), []string{"Ops[0].Index"}},
	{"an axis of nothing", matmulOf(func(o *schedule.Op) { o.Index = "mk,kn->mx" }), []string{"Ops[0].Index"}},
	{"capitals", matmulOf(func(o *schedule.Op) { o.Index = "MK,KN->MN" }), []string{"Ops[0].Index"}},
	{"made of nothing", matmulOf(func(o *schedule.Op) { o.In[1] = "W" }), []string{"Tensors[1].Name", "Tensors"}},
	{"made of itself", matmulOf(func(o *schedule.Op) { o.In[0] = "C" }),
		[]string{"Ops[0].In[0]", "Tensors[0].Name", "Tensors[1].Axes[1].Extent", "Tensors[2].Axes[1].Extent"}},
	{"a result that nobody gets", matmulOf(func(o *schedule.Op) { o.Out = "X" }),
		[]string{"Tensors[2].Name", "Tensors"}},
	{"no result", matmulOf(func(o *schedule.Op) { o.Out = "" }), []string{"Ops[0].Out", "Tensors[2].Name"}},
	{"made twice", matmulWith(func(s *schedule.Schedule) { s.Ops = append(s.Ops, s.Ops[0]) }), []string{"Ops[1].Out"}},
	{"an unknown function", matmulOf(func(o *schedule.Op) {
		o.Then = []schedule.Func{{Is: schedule.Expr{Do: "sine"}}}
	}), []string{"Ops[0].Then[0].Is.Do"}},
	{"a bias of nothing", matmulOf(func(o *schedule.Op) { o.Then = []schedule.Func{schedule.Bias("")} }),
		[]string{"Ops[0].Then[0].Is.Of[1].Tensor"}},
	{"a bias of two axes", matmulOf(func(o *schedule.Op) { o.Then = []schedule.Func{schedule.Bias("B")} }),
		[]string{"Tensors[1].Axes", "Tensors[2].Axes[1].Extent"}},
	{"a name of no package", matmulWith(func(s *schedule.Schedule) {
		s.Tensors = []schedule.Tensor{shardedA, wholeB, {Name: "c", Axes: streamedC.Axes}}
		s.Ops = []schedule.Op{schedule.Matmul("c", "A", "B")}
	}), []string{"Tensors[2].Name"}},
}

// tensorCases are mistakes of tensors and of the mesh.
var tensorCases = []validateCase{
	{"hosts", matmulWith(func(s *schedule.Schedule) { s.Mesh = schedule.Hosts() }), nil},
	{"an axis over hosts alone", matmulWith(func(s *schedule.Schedule) {
		s.Mesh = schedule.Hosts()
		s.Tensors[0].Axes = []schedule.Axis{schedule.Dim(schedule.M, schedule.Split{Kind: schedule.DeviceY,
			Count: "2"}), schedule.Dim(schedule.K)}
	}), []string{"Tensors[0].Axes[0].Outer[0].Kind"}},
	{"hosts within a host", matmulWith(func(s *schedule.Schedule) {
		s.Mesh = []schedule.MeshAxis{{Name: schedule.DeviceX}, {Name: schedule.DeviceY}}
	}), []string{"Mesh[1].Name"}},
	{"hosts alone", matmulWith(func(s *schedule.Schedule) { s.Mesh = schedule.Hosts()[:1] }), []string{"Mesh[0].Name"}},
	{"hosts by NVLink", matmulWith(func(s *schedule.Schedule) {
		s.Mesh = []schedule.MeshAxis{{Name: schedule.DeviceY, Link: schedule.NVLink}, {Name: schedule.DeviceX}}
	}), []string{"Mesh[0].Link"}},
	{"meshes", matmulWith(func(s *schedule.Schedule) {
		s.Mesh = []schedule.MeshAxis{{Name: schedule.DeviceX, Link: schedule.Network}, {Name: schedule.DeviceX},
			{Name: "DIDz", Link: "rope"}}
	}), []string{"Mesh[0].Link", "Mesh[1].Name", "Mesh[2].Link", "Mesh[2].Name"}},
	{"an element type of one tensor",
		matmulWith(func(s *schedule.Schedule) { s.Tensors[0].Type, s.Tensors[1].Type = schedule.FP16, "fp3" }),
		[]string{"Tensors[0].Type", "Tensors[1].Type"}},
	{"tensor missing", matmulWith(func(s *schedule.Schedule) { s.Tensors = s.Tensors[:2] }), []string{"Tensors"}},
	{"tensor twice", matmulWith(func(s *schedule.Schedule) { s.Tensors = append(s.Tensors, shardedA) }),
		[]string{"Tensors[3].Name"}},
	{"bias of a matmul", matmulWith(func(s *schedule.Schedule) {
		s.Tensors = append(s.Tensors,
			schedule.Tensor{Name: "Bias", Axes: []schedule.Axis{schedule.Dim(schedule.N)}})
	}), []string{"Tensors[3].Name"}},
	{"too few axes", matmulWith(func(s *schedule.Schedule) {
		s.Tensors = []schedule.Tensor{shardedA, {Name: "B", Axes: wholeB.Axes[:1]},
			streamedC}
	}), []string{"Tensors[1].Axes"}},
	{"wrong extent", matmulWith(func(s *schedule.Schedule) {
		s.Tensors = []schedule.Tensor{shardedA,
			{Name: "B", Axes: []schedule.Axis{schedule.Dim(schedule.N), schedule.Dim(schedule.N)}}, streamedC}
	}), []string{"Tensors[1].Axes[0].Extent"}},
	{"constants", matmulWith(func(s *schedule.Schedule) {
		s.Tensors = []schedule.Tensor{
			shardedA, {Name: "B", Axes: []schedule.Axis{schedule.Dim("0"), schedule.Dim("-3")}}, streamedC}
	}), []string{"Tensors[1].Axes[0].Extent", "Tensors[1].Axes[1].Extent"}},
	{"constants that are too large", matmulWith(func(s *schedule.Schedule) {
		s.Tensors = []schedule.Tensor{shardedA, {Name: "B", Axes: []schedule.Axis{wholeB.Axes[0],
			schedule.Dim("17179869200")}},
			{Name: "C", Axes: []schedule.Axis{streamedC.Axes[0], schedule.Dim("17179869200")}}}
	}), []string{"Tensors[1].Axes[1].Extent", "Tensors[2].Axes[1].Extent"}},
	{"parts that are too many", matmulWith(func(s *schedule.Schedule) {
		s.Tensors = []schedule.Tensor{{Name: "A",
			Axes: []schedule.Axis{
				schedule.Dim(schedule.M, schedule.Split{Kind: schedule.Plain, Count: "1073741825"}),
				schedule.Dim(schedule.K)}}, wholeB, streamedC}
	}), []string{"Tensors[0].Axes[0].Outer[0].Count"}},
	{"splits", matmulWith(func(s *schedule.Schedule) {
		s.Tensors = []schedule.Tensor{{Name: "A", Axes: []schedule.Axis{
			schedule.Dim(schedule.M, schedule.DIDx("2"), schedule.DIDx(schedule.D)),
			schedule.Dim(schedule.K, schedule.Split{Kind: "Vectorize", Count: "4"}, schedule.Stream("x"))}}, wholeB,
			streamedC}
	}), []string{"Tensors[0].Axes[0].Outer[0].Count", "Tensors[0].Axes[1].Outer[0].Kind",
		"Tensors[0].Axes[1].Outer[1].Count", "Tensors[0].Axes"}},
	{"options, all at once", matmulWith(func(s *schedule.Schedule) {
		s.Moves = []schedule.Move{{Of: "A", Way: schedule.Pull{Parts: 65, Streams: -1, By: "carrier pigeon"}},
			{Of: "A", Way: schedule.Ring{Direction: "up"}},
			{Way: schedule.Shot{Signals: "smoke"}}, {Of: "X"}}
		s.Types = []schedule.Type{schedule.BF16, "fp8"}
	}), []string{"Moves[0].Way.Parts", "Moves[0].Way.Streams", "Moves[0].Way.By", "Moves[1].Of",
		"Moves[1].Way.Direction", "Moves[2].Of", "Moves[2].Way.Signals", "Moves[3].Of", "Types[1]"}},
	{"a pointer to a way", matmulBy(&schedule.Pull{}), []string{"Moves[0].Way"}},
	{"a way left open", matmulBy(nil), nil},
	{"uneven steps", matmulWith(func(s *schedule.Schedule) {
		s.Tensors = []schedule.Tensor{shardedA, wholeB,
			{Name: "C", Axes: []schedule.Axis{schedule.Dim(schedule.M,
				schedule.Split{Kind: schedule.StreamAxis, Count: schedule.D, Uneven: true}),
				schedule.Dim(schedule.N)}}}
	}), []string{"Tensors[2].Axes[0].Outer[0].Uneven"}},
	{"a most of even parts, and none of rows", matmulWith(func(s *schedule.Schedule) {
		s.Tensors = []schedule.Tensor{
			{Name: "A", Axes: []schedule.Axis{schedule.Dim(schedule.M,
				schedule.Split{Kind: schedule.DeviceX, Count: schedule.D, Most: schedule.P}),
				schedule.Dim(schedule.K)}}, wholeB,
			{Name: "C", Axes: []schedule.Axis{schedule.Dim(schedule.M,
				schedule.Split{Kind: schedule.DeviceX, Count: schedule.D, Uneven: true, Most: schedule.M}),
				schedule.Dim(schedule.N)}}}
	}), []string{"Tensors[0].Axes[0].Outer[0].Most", "Tensors[2].Axes[0].Outer[0].Most"}},
	{"balanced even parts, and a most of balanced ones", matmulWith(func(s *schedule.Schedule) {
		most := schedule.Balanced(schedule.D)
		most.Most = schedule.P
		s.Tensors = []schedule.Tensor{
			{Name: "A", Axes: []schedule.Axis{schedule.Dim(schedule.M,
				schedule.Split{Kind: schedule.DeviceX, Count: schedule.D, Balanced: true}),
				schedule.Dim(schedule.K)}}, wholeB,
			{Name: "C", Axes: []schedule.Axis{schedule.Dim(schedule.M, most), schedule.Dim(schedule.N)}}}
	}), []string{"Tensors[0].Axes[0].Outer[0].Balanced", "Tensors[2].Axes[0].Outer[0].Most"}},
	{"nothing of that name to lie within", matmulWith(func(s *schedule.Schedule) {
		s.Tensors = []schedule.Tensor{{Name: "A", Axes: shardedA.Axes, Within: "Gathered"},
			{Name: "B", Axes: wholeB.Axes, Within: "B"}, streamedC}
	}), []string{"Tensors[0].Within", "Tensors[1].Within"}},
	{"an operand within an operand, and placements without a place", matmulWith(func(s *schedule.Schedule) {
		s.Tensors = []schedule.Tensor{{Name: "A", Axes: shardedA.Axes, Within: "B"},
			{Name: "B", Axes: wholeB.Axes, Within: "C"}, streamedC}
	}), []string{"Tensors[0].Within", "Tensors[1].Within"}},
	{"within each other", matmulWith(func(s *schedule.Schedule) {
		s.Tensors = []schedule.Tensor{{Name: "A", Axes: shardedA.Axes, Within: "C"}, wholeB,
			{Name: "C", Axes: streamedC.Axes, Within: "A"}}
	}), []string{"Tensors[0].Within", "Tensors[2].Within"}},
	{"a type twice", matmulWith(func(s *schedule.Schedule) {
		s.Types = []schedule.Type{schedule.BF16, "", schedule.BF16}
	}),
		[]string{"Types[1]", "Types[2]"}},
	{"constants that disagree", matmulWith(func(s *schedule.Schedule) {
		s.Tensors = []schedule.Tensor{
			{Name: "A", Axes: []schedule.Axis{
				schedule.Dim(schedule.M, schedule.DIDx(schedule.D)), schedule.Dim("4096")}},
			{Name: "B", Axes: []schedule.Axis{schedule.Dim("8192"), schedule.Dim("512")}}, streamedC}
	}), []string{"Tensors[1].Axes[0].Extent", "Tensors[2].Axes[1].Extent"}},
	{"a constant number of ranks", scheduletest.Of("sum", []schedule.Tensor{
		{Name: "A", Axes: []schedule.Axis{schedule.Dim("4", schedule.DIDx(schedule.D)), schedule.Dim(schedule.M),
			schedule.Dim(schedule.N)}},
		{Name: "C", Axes: []schedule.Axis{schedule.Dim(schedule.M), schedule.Dim(schedule.N)}}}...),
		[]string{"Tensors[0].Axes[0].Extent"}},
}

func TestValidate(t *testing.T) {
	for _, test := range slices.Concat(validateCases, tensorCases) {
		t.Run(test.name, test.run)
	}
}

func (test validateCase) run(t *testing.T) {
	var paths []string
	for _, e := range schedule.FieldErrors(test.s.Validate()) {
		paths = append(paths, e.Path)
		if e.Msg == "" || e.Hint == "" {
			t.Errorf("%s: an error without message or hint: %v", e.Path, e)
		}
	}
	if diff := cmp.Diff(test.paths, paths); diff != "" {
		t.Errorf("field paths (-want +got):\n%s", diff)
	}
}

func TestPlaceWithin(t *testing.T) {
	dims := func(axes ...schedule.Axis) schedule.Tensor { return schedule.Tensor{Name: "T", Axes: axes} }
	m, n := schedule.Dim(schedule.M), schedule.Dim(schedule.N)
	rows := dims(schedule.Dim(schedule.M, schedule.DIDx(schedule.D)), n)
	for name, x := range map[string]struct {
		inner, outer schedule.Tensor
		want         schedule.Place
	}{
		"rows of all":    {rows, dims(m, n), schedule.PartOf},
		"rows of a term": {rows, dims(schedule.Dim(schedule.D, schedule.DIDx(schedule.D)), m, n), schedule.PartOf},
		"a term as the whole": {dims(schedule.Dim(schedule.D, schedule.DIDx(schedule.D)), m, n),
			dims(schedule.Dim(schedule.M, schedule.Stream(schedule.D)), n), schedule.AllOf},
		"all of rows":  {dims(m, n), rows, ""},
		"rows of rows": {rows, rows, schedule.AllOf},
		"columns":      {dims(m, schedule.Dim(schedule.N, schedule.DIDx(schedule.D))), dims(m, n), ""},
		"other rows":   {rows, dims(schedule.Dim(schedule.K), n), ""},
		"uneven rows": {dims(schedule.Dim(schedule.M,
			schedule.Split{Kind: schedule.DeviceX, Count: schedule.D, Uneven: true}), n), dims(m, n), ""},
		"shifted rows": {dims(schedule.Dim(schedule.M,
			schedule.Split{Kind: schedule.DeviceX, Count: schedule.D, Shift: 1}), n), dims(m, n), ""},
		"rows of each of two steps": {
			dims(schedule.Dim(schedule.M, schedule.Stream("2"), schedule.DIDx(schedule.D)), n),
			dims(m, n), ""},
		"of rank 0 alone": {rows, schedule.Tensor{Name: "T", Axes: []schedule.Axis{m, n}, Root: true}, ""},
		"an index of all": {dims(schedule.Dim(schedule.D, schedule.DIDx(schedule.D))),
			dims(schedule.Dim(schedule.D, schedule.DIDx(schedule.D))), schedule.AllOf},
	} {
		if got, ok := x.inner.PlaceWithin(x.outer); got != x.want || ok != (x.want != "") {
			t.Errorf("%s: %s in %s: %q, %v, want %q", name, x.inner, x.outer, got, ok, x.want)
		}
	}
}

func TestTensorString(t *testing.T) {
	tests := map[string][]schedule.Axis{
		"[DIDx(D), M/D, K]": {schedule.Dim(schedule.M, schedule.DIDx(schedule.D)), schedule.Dim(schedule.K)},
		"[8, DIDx(D), M/(8*D), K]": {schedule.Dim(schedule.M, schedule.Split{Kind: schedule.Plain, Count: "8"},
			schedule.DIDx(schedule.D)), schedule.Dim(schedule.K)},
		"[N]": {schedule.Dim(schedule.N)},
	}
	for want, axes := range tests {
		if got := (schedule.Tensor{Axes: axes}).String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
