package served

import (
	"slices"
	"testing"

	s "ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/scheduletest"
)

// across are chains whose own rows go on from a sum in parts.
var across = []declared{
	{"a block", "through a norm", form{catalog.BlockBehindAttention}.by("R", s.Slots{Parts: 2}), served},
	{"a block in three parts", "through a norm", form{catalog.BlockBehindAttention}.by("R", s.Slots{Parts: 3}),
		served},
	{"a layer", "with attention before it", form{catalog.LlamaLayer}.by("R", s.Slots{Parts: 2}), served},
	{"without a norm", "the sum is gathered as it is", of(
		"O[M K/D] Wo[N K/D] R[M/D N] X[M/D N] Wq[F/D N] Q[M:D F/D]", s.Linear("X", "O", "Wo", s.Add("R")),
		s.Linear("Q", "X", "Wq")).by("X", s.Slots{Parts: 2}), served},
	{"turned heads behind it", "a table has parts too", of(
		"O[M K/D] Wo[N K/D] Norm[N] T[M W] Wq[F/D N] Q[M:D F/D]", s.Linear("X", "O", "Wo"),
		s.Copy("Y", "X", s.RMSNorm("Norm")), s.Linear("Q", "Y", "Wq", s.Rotary("T"))).
		by("X", s.Slots{Parts: 2}), served},
	{"two blocks", "in as many parts", twoBlocks(s.Slots{Parts: 2}, s.Slots{Parts: 2}), served},
	{"two blocks, one of them whole", "parts of the other", twoBlocks(s.Slots{Parts: 4}, nil), served},
	{"two blocks in other parts", "the rows are cut once", twoBlocks(s.Slots{Parts: 2}, s.Slots{Parts: 3}),
		at("Moves[1].Way.Parts", "all sums of a chain go on in as many parts")},
	{"two blocks, one of them by NCCL", "in as many parts", twoBlocks(s.NCCL{Parts: 2}, s.Slots{Parts: 2}), served},
	{"two blocks, one of them by NCCL", "in more parts", twoBlocks(s.NCCL{Parts: 3}, s.Slots{Parts: 2}),
		at("Moves[1].Way.Parts", "R2 goes on in 2 parts, and other rows of its stage are in 3 (write the same")},
	{"two blocks, one of them by NCCL", "in fewer parts", twoBlocks(s.NCCL{Parts: 2}, s.Slots{Parts: 3}),
		at("Moves[1].Way.Parts", "R2 goes on in 3 parts, and other rows of its stage are in 2 (write the same")},
	{"two blocks", "of whose rows in parts columns travel", twoBlocks(s.Slots{Parts: 4}, nil).columnsBehind(5),
		at("Moves[0].Way.Parts", "parts of the columns of Y travel, and rows that it is made of are in parts")},
	{"two blocks", "of whose rows in parts columns travel, behind products", twoBlocks(s.Slots{Parts: 4}, nil).
		columnsBehind(6), at("Moves[0].Way.Parts", "parts of the columns of Y travel")},
	{"a sum that ends the chain", "nothing follows", form{catalog.BlockBehindAttention}.by("C", s.Slots{Parts: 2}),
		at("Moves[0].Way.Parts", "no stage gathers what the own rows of C lead to")},
	{"an all-reduce", "every rank has all rows", of(
		"O[M K/D] Wo[N K/D] X[M N] W1[F/D N] W2[N F/D] C[M N]", s.Linear("X", "O", "Wo"),
		s.Linear("H", "X", "W1", s.GELU()), s.Linear("C", "H", "W2")).by("X", s.Slots{Parts: 2}), served},
	{"gathered by NCCL", "all rows come at once", form{catalog.BlockBehindAttention}.by("R", s.Slots{Parts: 2}).
		by("X", s.NCCL{}), at("Moves[0].Way.Parts", "X comes at once")},
	{"a product of own rows alone", "it stands before the gather", of(
		"O[M K/D] Wo[N K/D] W[N2 N] Wq[F/D N2] Q[M:D F/D]", s.Linear("X", "O", "Wo"), s.Linear("Y", "X", "W"),
		s.Linear("Q", "Y", "Wq")).by("X", s.Slots{Parts: 2}),
		at("Moves[0].Way.Parts", "no stage gathers what the own rows of X lead to")},
}

// acrossBy is such a chain, without further sums, whose rows come by a way.
func acrossBy(way s.Way) form {
	return of("O[M K/D] Wo[N K/D] Norm[N] A[M/D N] Wq[F/D N] Q[M:D F/D]", s.Linear("X", "O", "Wo", s.Add("A")),
		s.Copy("Y", "X", s.RMSNorm("Norm")), s.Linear("Q", "Y", "Wq")).by("X", s.Slots{Parts: 2}).by("Y", way)
}

// TestAcrossBy: the rows behind a sum in parts come by every way that brings them in pieces.
func TestAcrossBy(t *testing.T) {
	ways := []s.Way{s.Pull{}, s.Pull{WithStep: true}, s.Push{}, s.Grouped{}, s.Ring{}, s.Ring{Direction: s.Backward},
		s.PushRing{}, s.Broadcast{}}
	var list []declared
	for _, way := range ways {
		list = append(list, declared{s.WayName(way), "behind a sum in parts", acrossBy(way), served})
	}
	explored(t, "Across", list)
}

// twoBlocks are two MLPs behind a projection, each behind a norm.
func twoBlocks(first, second s.Way) form {
	f := of("O[M K/D] Wo[N K/D] Norm[N] W1[F/D N] W2[N F/D] Norm2[N] W3[F/D N] W4[N F/D] C[M/D N]",
		s.Linear("R", "O", "Wo"), s.Copy("X", "R", s.RMSNorm("Norm")), s.Linear("H", "X", "W1", s.GELU()),
		s.Linear("R2", "H", "W2", s.Add("R")), s.Copy("Y", "R2", s.RMSNorm("Norm2")),
		s.Linear("H2", "Y", "W3", s.GELU()), s.Linear("C", "H2", "W4", s.Add("R2")))
	for of, w := range map[string]s.Way{"R": first, "R2": second} {
		if w != nil && of == "R" {
			f.Moves = append([]s.Move{{Of: of, Way: w}}, f.Moves...)
		} else if w != nil {
			f = f.by(of, w)
		}
	}
	return f
}

// columnsBehind are such blocks with the second norm exchanged for columns, as operation i.
func (f form) columnsBehind(i int) form {
	f.Ops = slices.Insert(f.Ops, i, s.Copy("More", "Y"))
	f.Tensors = append(f.Tensors, scheduletest.Tensors("More[M N/D]")...)
	return f
}

// TestAcross holds each against its verdict.
func TestAcross(t *testing.T) {
	for i := range across {
		d := &across[i]
		if _, err := d.holds(t); err != nil {
			t.Errorf("%s: %v", d.id, err)
		}
	}
}
