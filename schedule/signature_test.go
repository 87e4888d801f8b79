package schedule_test

import (
	"slices"
	"testing"

	s "ovgen/schedule"
)

func TestSignature(t *testing.T) {
	with := func(a, c s.Axis) string {
		return s.Schedule{Ops: []s.Op{s.Matmul("C", "A", "B")}, Tensors: []s.Tensor{
			{Name: "A", Axes: []s.Axis{a, s.Dim(s.K)}}, {Name: "C", Axes: []s.Axis{c, s.Dim(s.N)}}}}.Signature()
	}
	gathered := with(s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.M, s.Stream(s.D)))
	chunked := func(n s.Extent) string {
		return with(s.Dim(s.M, s.Split{Kind: s.Plain, Count: n}, s.DIDx(s.D)),
			s.Dim(s.M, s.Stream(n), s.Split{Kind: s.Plain, Count: s.D}))
	}
	if got := chunked("1"); got != gathered {
		t.Errorf("one chunk is %q, want %q", got, gathered)
	}
	for name, other := range map[string]string{
		"eight chunks": chunked("8"),
		"scattered":    with(s.Dim(s.M), s.Dim(s.M, s.DIDx(s.D))),
		"shifted":      with(s.Dim(s.M, s.Split{Kind: s.DeviceX, Count: s.D, Shift: 1}), s.Dim(s.M)),
	} {
		if other == gathered {
			t.Errorf("%s has the signature of a gather: %q", name, other)
		}
	}
	eight := func(scaleA, scaleB string, rows s.Extent, moves ...s.Move) string {
		return s.Schedule{Ops: []s.Op{s.Linear("C", "A", "B")}, Moves: moves, Tensors: []s.Tensor{
			{Name: "A", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.K)}, Type: s.E4M3, Scale: scaleA},
			{Name: "B", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.K)}, Type: s.E4M3, Scale: scaleB},
			{Name: "S", Axes: []s.Axis{s.Dim(rows)}, Type: s.FP32},
			{Name: "T", Axes: []s.Axis{s.Dim(rows)}, Type: s.FP32}}}.Signature()
	}
	bytes := eight("S", "T", s.M)
	if got := eight("S", "T", s.M, s.Move{Of: "A", Way: s.Ring{}}); got != bytes {
		t.Errorf("rows of eight bits by another way are %q, want %q", got, bytes)
	}
	for name, other := range map[string]string{"scales of the other": eight("T", "S", s.M),
		"one scale": eight("S", "T", s.OneScale), "16 bits": gathered} {
		if other == bytes {
			t.Errorf("%s has the signature of eight bits: %q", name, other)
		}
	}
	free, same, few := s.Schedule{}, s.Schedule{Invariant: true}, s.Schedule{Invariant: true, FewRows: 8}
	if list := []string{free.Signature(), same.Signature(), few.Signature()}; list[0] == list[1] || list[1] == list[2] {
		t.Errorf("equal bits are promised or not, and by the library or not, by one signature of %q", list)
	}
}

// TestFamilies: schedules that compute the same are one family, which stands behind one that asks more of the caller.
func TestFamilies(t *testing.T) {
	of := func(constant bool, few int) s.Schedule {
		return s.Schedule{FewRows: few, Ops: []s.Op{s.Linear("C", "A", "B")}, Tensors: []s.Tensor{
			{Name: "A", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.K)}},
			{Name: "B", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.K)}, Constant: constant},
			{Name: "C", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.N)}}}}
	}
	list := map[string]s.Schedule{"a": of(false, 0), "b": of(true, 8), "c": of(false, 8), "d": {Invariant: true},
		"e": of(true, 16)}
	got := s.Families([]string{"a", "b", "c", "d", "e"}, func(name string) s.Schedule { return list[name] })
	want := [][]string{{"a", "c"}, {"b", "e", "a", "c"}, {"d"}}
	if !slices.EqualFunc(got, want, slices.Equal[[]string]) {
		t.Errorf("families are %q, want %q", got, want)
	}
}
