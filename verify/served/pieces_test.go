package served

import (
	"strings"
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
		{"rows that go round, then sums", catalog.GatedMLP, "A", s.Ring{}},
		{"rows that go back round with their step, then sums", catalog.GatedMLP, "A",
			s.Ring{Direction: s.Backward, WithStep: true}},
		{"rows of an operation that go round", catalog.BlockBehindAttention, "X", s.Ring{By: s.Kernels}},
		{"normed rows that go round both ways", catalog.LayerNormLinear, "X", s.Ring{Direction: s.Both}},
		{"rows that are passed on, then sums", catalog.GatedMLP, "A", s.PushRing{}},
		{"rows of an operation that are passed on", catalog.BlockBehindAttention, "X", s.PushRing{}},
		{"normed rows that are passed on both ways, on streams in turn", catalog.LayerNormLinear, "X",
			s.PushRing{Direction: s.Both, Streams: 2, By: s.Kernels}},
		{"rows from a root after the other, then sums", catalog.GatedMLP, "A", s.Broadcast{}},
		{"rows from a root after the other by kernels, then sums", catalog.GatedMLP, "A", s.Broadcast{By: s.Kernels}},
		{"rows of an operation from a root after the other", catalog.BlockBehindAttention, "X", s.Broadcast{}},
		{"normed rows from a root after the other, on streams in turn", catalog.LayerNormLinear, "X",
			s.Broadcast{Streams: 2}},
		{"normed rows in two blocks", catalog.LayerNormLinear, "X", s.Grouped{}},
		{"normed rows in parts by NCCL", catalog.LayerNormLinear, "X", s.NCCL{Parts: 3}},
		{"a batch of rows a round", catalog.AllGatherLinearCollective2, "A", s.Collective{}},
		{"a batch of rows a round, on streams in turn", catalog.AllGatherLinearCollective8, "A",
			s.Collective{Streams: 2, By: s.Kernels}},
		{"all batches in a round, by kernels", catalog.AllGatherLinearBatches, "A", s.Pull{By: s.Kernels}},
		{"normed rows in parts", catalog.LayerNormLinear, "X", s.Pull{Parts: 2}},
		{"normed rows in parts with their step", catalog.LayerNormLinear, "X", s.Pull{Parts: 3, WithStep: true}},
	} {
		y := scheduletest.Clone(x.Schedule)
		y.Moves = []s.Move{{Of: x.of, Way: x.way}}
		isCrossed(t, x.name, y, 1, 2, 3, 4, 8)
		if strings.HasSuffix(x.name, "then sums") {
			y.Moves = append(y.Moves, s.Move{Of: "C", Way: s.Shot{}})
			isCrossed(t, x.name+" of one kernel", y, 2, 3, 8)
		}
	}
}
