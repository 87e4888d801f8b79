package served

import (
	"testing"

	s "ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/verify/sampling"
)

// TestStreamsOfSums: sums that ask for no number of streams, and for no priority, follow those that do.
func TestStreamsOfSums(t *testing.T) {
	sampling.Test(t, 0, 3)
	block := form{catalog.BlockBehindAttention}
	for _, way := range []s.Way{s.Staged{}, s.Staged{Buffers: 3}, s.RingSum{Streams: 2}, s.RingAccumulate{},
		s.Slots{Equal: true}, s.Slots{Streams: 3}, s.Stores{Equal: true}, s.Stores{Streams: 2}} {
		isCrossed(t, "the rest silent", block.by("R", way).Schedule, 1, 2, 3, 4, 8)
		isCrossed(t, "stores behind", block.by("R", way).by("C", s.Stores{}).Schedule, 1, 2, 3, 4, 8)
	}
	for _, way := range []s.Way{s.Slots{Equal: true}, s.Slots{Streams: 2}, s.Stores{Streams: 3}} {
		isCrossed(t, "the first silent", block.by("C", way).Schedule, 1, 2, 3, 4, 8)
		isCrossed(t, "buffers of as many", block.by("R", s.Staged{}).by("C", way).Schedule, 1, 2, 3, 4, 8)
	}
	first := of("A[M K/D] B[N K/D] X[M N] W1[F/D N] W2[N F/D] C[M N]", s.Linear("X", "A", "B"),
		s.Linear("H", "X", "W1"), s.Linear("C", "H", "W2"))
	others := "all stages of a chain have the same streams"
	explored(t, "Streams", []declared{
		{"two numbers", "of streams", block.by("R", s.Slots{Streams: 3}).by("C", s.Stores{Streams: 2}),
			at("Moves[1].Way.Streams", others)},
		{"two numbers", "of buffers and of streams", block.by("R", s.Staged{Buffers: 3}).by("C", s.Slots{Streams: 2}),
			at("Moves[1].Way.Streams", others)},
		{"one priority", "beside streams in turn", block.by("R", s.Slots{Streams: 3}).by("C", s.Slots{Equal: true}),
			at("Moves[1].Way.Equal", "streams that steps take in turn have one priority")},
		{"streams in turn", "beside one priority", block.by("R", s.Slots{Equal: true}).by("C", s.Slots{Streams: 3}),
			at("Moves[0].Way.Equal", "streams that steps take in turn have one priority")},
		{"parts for all ranks", "of the first sum", first.by("X", s.Slots{Parts: 4}), served},
		{"parts for all ranks", "of a second sum", first.by("C", s.Slots{Parts: 4}), at("Moves[0].Way.Parts",
			"parts of the sums C for all ranks are of products that begin the schedule")},
		{"parts by NCCL", "behind rows at once", form{gatedMLP(s.GatherShot{}, s.NCCL{Parts: 2})},
			at("Moves[1].Way.Parts", "parts of the sums C are of rows that do not travel, and A does")}})
}
