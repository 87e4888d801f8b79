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
		{"normed rows in parts", catalog.LayerNormLinear, "X", s.Pull{Parts: 2}},
		{"normed rows in parts with their step", catalog.LayerNormLinear, "X", s.Pull{Parts: 3, WithStep: true}},
	} {
		y := scheduletest.Clone(x.Schedule)
		y.Moves = []s.Move{{Of: x.of, Way: x.way}}
		isCrossed(t, x.name, y, 1, 2, 3, 4, 8)
	}
}
