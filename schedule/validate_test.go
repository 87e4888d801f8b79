package schedule_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
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

func TestValidate(t *testing.T) {
	a := schedule.Tensor{Name: "A", Axes: []schedule.Axis{schedule.Dim(schedule.M, schedule.DIDx(schedule.D)), schedule.Dim(schedule.K)}}
	b := schedule.Tensor{Name: "B", Axes: []schedule.Axis{schedule.Dim(schedule.K), schedule.Dim(schedule.N)}}
	c := schedule.Tensor{Name: "C", Axes: []schedule.Axis{schedule.Dim(schedule.M, schedule.Stream(schedule.D)), schedule.Dim(schedule.N)}}
	with := func(f func(*schedule.Schedule)) schedule.Schedule {
		s := schedule.Schedule{Op: schedule.Matmul, Tensors: []schedule.Tensor{a, b, c}}
		f(&s)
		return s
	}
	tests := []struct {
		name  string
		s     schedule.Schedule
		paths []string
	}{
		{"good", with(func(*schedule.Schedule) {}), nil},
		{"empty", schedule.Schedule{}, []string{"Op"}},
		{"unknown operation", with(func(s *schedule.Schedule) { s.Op = "convolution" }), []string{"Op"}},
		{"tensor missing", with(func(s *schedule.Schedule) { s.Tensors = s.Tensors[:2] }), []string{"Tensors"}},
		{"tensor twice", with(func(s *schedule.Schedule) { s.Tensors = append(s.Tensors, a) }), []string{"Tensors[3].Name"}},
		{"bias of a matmul", with(func(s *schedule.Schedule) {
			s.Tensors = append(s.Tensors, schedule.Tensor{Name: "Bias", Axes: []schedule.Axis{schedule.Dim(schedule.N)}})
		}), []string{"Tensors[3].Name"}},
		{"too few axes", with(func(s *schedule.Schedule) { s.Tensors = []schedule.Tensor{a, {Name: "B", Axes: b.Axes[:1]}, c} }), []string{"Tensors[1].Axes"}},
		{"wrong extent", with(func(s *schedule.Schedule) {
			s.Tensors = []schedule.Tensor{a, {Name: "B", Axes: []schedule.Axis{schedule.Dim(schedule.N), schedule.Dim(schedule.N)}}, c}
		}), []string{"Tensors[1].Axes[0].Extent"}},
		{"constants", with(func(s *schedule.Schedule) {
			s.Tensors = []schedule.Tensor{a, {Name: "B", Axes: []schedule.Axis{schedule.Dim("0"), schedule.Dim("-3")}}, c}
		}), []string{"Tensors[1].Axes[0].Extent", "Tensors[1].Axes[1].Extent"}},
		{"constants that are too large", with(func(s *schedule.Schedule) {
			s.Tensors = []schedule.Tensor{a, {Name: "B", Axes: []schedule.Axis{b.Axes[0], schedule.Dim("17179869200")}},
				{Name: "C", Axes: []schedule.Axis{c.Axes[0], schedule.Dim("17179869200")}}}
		}), []string{"Tensors[1].Axes[1].Extent", "Tensors[2].Axes[1].Extent"}},
		{"parts that are too many", with(func(s *schedule.Schedule) {
			s.Tensors = []schedule.Tensor{{Name: "A", Axes: []schedule.Axis{schedule.Dim(schedule.M, schedule.Split{Kind: schedule.Plain, Count: "1073741825"}), schedule.Dim(schedule.K)}}, b, c}
		}), []string{"Tensors[0].Axes[0].Outer[0].Count"}},
		{"splits", with(func(s *schedule.Schedule) {
			s.Tensors = []schedule.Tensor{{Name: "A", Axes: []schedule.Axis{
				schedule.Dim(schedule.M, schedule.DIDx("2"), schedule.DIDx(schedule.D)),
				schedule.Dim(schedule.K, schedule.Split{Kind: "Vectorize", Count: "4"}, schedule.Stream("x"))}}, b, c}
		}), []string{"Tensors[0].Axes[0].Outer[0].Count", "Tensors[0].Axes[1].Outer[0].Kind", "Tensors[0].Axes[1].Outer[1].Count", "Tensors[0].Axes"}},
		{"choices, all at once", with(func(s *schedule.Schedule) {
			s.Pipeline = schedule.Pipeline{Kind: "p2p", Order: "random", Chunks: 3}
			s.Transport.Copy = "tma"
			s.Streams = schedule.Streams{Compute: -1, Priority: "rising", Start: "late"}
			s.Types = []schedule.Type{schedule.BF16, "fp8"}
		}), []string{"Pipeline.Kind", "Pipeline.Order", "Transport.Copy", "Streams.Priority", "Streams.Start", "Types[1]", "Pipeline.Chunks", "Streams.Compute"}},
		{"second result missing", with(func(s *schedule.Schedule) {
			s.Tensors = append(s.Tensors, schedule.Tensor{Name: "B2", Axes: []schedule.Axis{schedule.Dim(schedule.K), schedule.Dim(schedule.N2)}})
		}), []string{"Tensors"}},
		{"uneven steps", with(func(s *schedule.Schedule) {
			s.Tensors = []schedule.Tensor{a, b, {Name: "C", Axes: []schedule.Axis{schedule.Dim(schedule.M, schedule.Split{Kind: schedule.StreamAxis, Count: schedule.D, Uneven: true}), schedule.Dim(schedule.N)}}}
		}), []string{"Tensors[2].Axes[0].Outer[0].Uneven"}},
		{"a most of even parts, and none of rows", with(func(s *schedule.Schedule) {
			s.Tensors = []schedule.Tensor{
				{Name: "A", Axes: []schedule.Axis{schedule.Dim(schedule.M, schedule.Split{Kind: schedule.DeviceX, Count: schedule.D, Most: schedule.P}), schedule.Dim(schedule.K)}}, b,
				{Name: "C", Axes: []schedule.Axis{schedule.Dim(schedule.M, schedule.Split{Kind: schedule.DeviceX, Count: schedule.D, Uneven: true, Most: schedule.M}), schedule.Dim(schedule.N)}}}
		}), []string{"Tensors[0].Axes[0].Outer[0].Most", "Tensors[2].Axes[0].Outer[0].Most"}},
		{"nothing of that name to lie within", with(func(s *schedule.Schedule) {
			s.Tensors = []schedule.Tensor{{Name: "A", Axes: a.Axes, Within: "Gathered"}, {Name: "B", Axes: b.Axes, Within: "B"}, c}
		}), []string{"Tensors[0].Within", "Tensors[1].Within"}},
		{"an operand within an operand, and placements without a place", with(func(s *schedule.Schedule) {
			s.Tensors = []schedule.Tensor{{Name: "A", Axes: a.Axes, Within: "B"}, {Name: "B", Axes: b.Axes, Within: "C"}, c}
		}), []string{"Tensors[0].Within", "Tensors[1].Within"}},
		{"within each other", with(func(s *schedule.Schedule) {
			s.Tensors = []schedule.Tensor{{Name: "A", Axes: a.Axes, Within: "C"}, b, {Name: "C", Axes: c.Axes, Within: "A"}}
		}), []string{"Tensors[0].Within", "Tensors[2].Within"}},
		{"fused without kernels", with(func(s *schedule.Schedule) {
			s.Transport = schedule.Transport{Copy: schedule.CopyKernel, Steps: schedule.Fused}
		}), []string{"Transport.Steps"}},
		{"order among streams taken in turn", with(func(s *schedule.Schedule) {
			s.Streams = schedule.Streams{Compute: 2, Priority: schedule.Falling}
		}), []string{"Streams.Priority"}},
		{"direction of a shift", with(func(s *schedule.Schedule) { s.Pipeline.Direction = schedule.Both }), []string{"Pipeline.Direction"}},
		{"parts of a ring", with(func(s *schedule.Schedule) { s.Pipeline = schedule.Pipeline{Order: schedule.Ring, Parts: 2} }), []string{"Pipeline.Parts"}},
		{"parts of groups", with(func(s *schedule.Schedule) {
			s.Pipeline = schedule.Pipeline{Products: schedule.Grouped, Parts: 2}
		}), []string{"Pipeline.Parts"}},
		{"parts below none", with(func(s *schedule.Schedule) { s.Pipeline.Parts = -1 }), []string{"Pipeline.Parts"}},
		{"ring of collectives", with(func(s *schedule.Schedule) {
			s.Pipeline = schedule.Pipeline{Kind: schedule.Collective, Chunks: 2, Order: schedule.Ring}
		}), []string{"Pipeline.Order"}},
		{"collective without chunks", with(func(s *schedule.Schedule) { s.Pipeline.Kind = schedule.Collective }), []string{"Pipeline.Kind"}},
		{"fewer chunks than none", with(func(s *schedule.Schedule) { s.Pipeline.Kind, s.Pipeline.Chunks = schedule.Collective, -1 }), []string{"Pipeline.Chunks"}},
		{"a type twice", with(func(s *schedule.Schedule) { s.Types = []schedule.Type{schedule.BF16, "", schedule.BF16} }), []string{"Types[1]", "Types[2]"}},
		{"constants that disagree", with(func(s *schedule.Schedule) {
			s.Tensors = []schedule.Tensor{
				{Name: "A", Axes: []schedule.Axis{schedule.Dim(schedule.M, schedule.DIDx(schedule.D)), schedule.Dim("4096")}},
				{Name: "B", Axes: []schedule.Axis{schedule.Dim("8192"), schedule.Dim("512")}}, c}
		}), []string{"Tensors[1].Axes[0].Extent", "Tensors[2].Axes[1].Extent"}},
		{"a constant number of ranks", schedule.Schedule{Op: schedule.Sum, Tensors: []schedule.Tensor{
			{Name: "A", Axes: []schedule.Axis{schedule.Dim("4", schedule.DIDx(schedule.D)), schedule.Dim(schedule.M), schedule.Dim(schedule.N)}},
			{Name: "C", Axes: []schedule.Axis{schedule.Dim(schedule.M), schedule.Dim(schedule.N)}}}}, []string{"Tensors[0].Axes[0].Extent"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
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
		})
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
		"rows of all":               {rows, dims(m, n), schedule.PartOf},
		"rows of a term":            {rows, dims(schedule.Dim(schedule.D, schedule.DIDx(schedule.D)), m, n), schedule.PartOf},
		"a term as the whole":       {dims(schedule.Dim(schedule.D, schedule.DIDx(schedule.D)), m, n), dims(schedule.Dim(schedule.M, schedule.Stream(schedule.D)), n), schedule.AllOf},
		"all of rows":               {dims(m, n), rows, ""},
		"rows of rows":              {rows, rows, ""},
		"columns":                   {dims(m, schedule.Dim(schedule.N, schedule.DIDx(schedule.D))), dims(m, n), ""},
		"other rows":                {rows, dims(schedule.Dim(schedule.K), n), ""},
		"uneven rows":               {dims(schedule.Dim(schedule.M, schedule.Split{Kind: schedule.DeviceX, Count: schedule.D, Uneven: true}), n), dims(m, n), ""},
		"shifted rows":              {dims(schedule.Dim(schedule.M, schedule.Split{Kind: schedule.DeviceX, Count: schedule.D, Shift: 1}), n), dims(m, n), ""},
		"rows of each of two steps": {dims(schedule.Dim(schedule.M, schedule.Stream("2"), schedule.DIDx(schedule.D)), n), dims(m, n), ""},
		"of rank 0 alone":           {rows, schedule.Tensor{Name: "T", Axes: []schedule.Axis{m, n}, Root: true}, ""},
		"an index of all":           {dims(schedule.Dim(schedule.D, schedule.DIDx(schedule.D))), dims(schedule.Dim(schedule.D, schedule.DIDx(schedule.D))), ""},
	} {
		if got, ok := x.inner.PlaceWithin(x.outer); got != x.want || ok != (x.want != "") {
			t.Errorf("%s: %s in %s: %q, %v, want %q", name, x.inner, x.outer, got, ok, x.want)
		}
	}
}

func TestTensorString(t *testing.T) {
	tests := map[string][]schedule.Axis{
		"[DIDx(D), M/D, K]":        {schedule.Dim(schedule.M, schedule.DIDx(schedule.D)), schedule.Dim(schedule.K)},
		"[8, DIDx(D), M/(8*D), K]": {schedule.Dim(schedule.M, schedule.Split{Kind: schedule.Plain, Count: "8"}, schedule.DIDx(schedule.D)), schedule.Dim(schedule.K)},
		"[N]":                      {schedule.Dim(schedule.N)},
	}
	for want, axes := range tests {
		if got := (schedule.Tensor{Axes: axes}).String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
