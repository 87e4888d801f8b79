package served

import (
	"testing"

	s "ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/scheduletest"
)

// TestPiecesOfChains: the rows that a chain gathers come on the streams of its products, or in parts of a rank's.
func TestPiecesOfChains(t *testing.T) {
	for _, x := range []struct {
		name string
		s.Schedule
		of  string
		way s.Way
	}{
		{"rows with their step, then sums", catalog.GatedMLP, "A", s.Pull{WithStep: true}},
		{"rows of an operation with their step", catalog.BlockBehindAttention, "X", s.Pull{WithStep: true}},
		{"normed rows with their step", catalog.LayerNormLinear, "X", s.Pull{WithStep: true}},
		{"normed rows with their step, on streams in turn", catalog.LayerNormLinear, "X",
			s.Pull{WithStep: true, Streams: 2}},
		{"rows that are pushed, then sums", catalog.GatedMLP, "A", s.Push{}},
		{"rows that kernels push, then sums", catalog.GatedMLP, "A", s.Push{By: s.Kernels}},
		{"rows of an operation that are pushed", catalog.BlockBehindAttention, "X", s.Push{}},
		{"normed rows that are pushed in parts", catalog.LayerNormLinear, "X", s.Push{Parts: 2}},
		{"normed rows that are pushed, on streams in turn", catalog.LayerNormLinear, "X",
			s.Push{Streams: 2, By: s.OneKernel}},
		{"normed rows in parts", catalog.LayerNormLinear, "X", s.Pull{Parts: 2}},
		{"normed rows in parts with their step", catalog.LayerNormLinear, "X", s.Pull{Parts: 3, WithStep: true}},
	} {
		y := scheduletest.Clone(x.Schedule)
		y.Moves = []s.Move{{Of: x.of, Way: x.way}}
		isCrossed(t, x.name, y, 1, 2, 3, 4, 8)
	}
}
