package schedule_test

import (
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
	if free, same := (s.Schedule{}), (s.Schedule{Invariant: true}); free.Signature() == same.Signature() {
		t.Errorf("equal bits are promised or not by one signature, %q", free.Signature())
	}
}
