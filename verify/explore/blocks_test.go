package explore_test

import (
	"errors"
	"testing"

	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/verify/explore"
	"ovgen/verify/ops"
	"ovgen/verify/prove"
)

// Kernels whose blocks signal each for itself: the prover, which follows one block for all, and the
// explorer, which runs two, agree on what such kernels need of each other.
func TestBlocks(t *testing.T) {
	program, err := lower.Lower("AllReduceInPlace", catalog.AllReduceInPlace)
	if err != nil {
		t.Fatal(err)
	}
	gets := func(change func(o *ops.Op)) func(list []ops.Op) {
		return func(list []ops.Op) {
			for i := range list {
				if list[i].Kernel == "get" {
					change(&list[i])
				}
			}
		}
	}
	for _, c := range []struct {
		name   string
		change func(list []ops.Op)
		breaks explore.Property // empty: safe
	}{
		{"as they are", func([]ops.Op) {}, ""},
		{"a copy by all blocks together, behind sums by each", gets(func(o *ops.Op) { o.ByBlocks = false }),
			explore.AtRest},
		{"a copy into parts that lie across those of the sums", gets(func(o *ops.Op) {
			for i := range o.Uses {
				if u := &o.Uses[i]; u.Write && u.At.Offset > 0 {
					u.At.Offset -= u.Bytes / 2
				}
			}
		}), explore.NoRace},
		{"a copy of half as many bytes", gets(func(o *ops.Op) {
			for i := range o.Uses {
				o.Uses[i].Bytes /= 2
			}
		}), explore.Contents},
	} {
		t.Run(c.name, func(t *testing.T) {
			shape := explore.ShapeOf(program, 3)
			shape.Extents["M"] *= 2
			lists, err := shape.Unroll(program)
			if err != nil {
				t.Fatal(err)
			}
			for _, list := range lists {
				c.change(list)
			}
			model, err := prove.Of(program, shape.At(0))
			if err != nil {
				t.Fatal(err)
			}
			_, err = prove.Lists(t.Context(), model, lists, 0)
			sys, wrong := explore.Of(program, shape, lists, explore.Eager, explore.Eager)
			if wrong != nil {
				t.Fatal(wrong)
			}
			verdict := explore.Explore(sys)
			if c.breaks == "" {
				if err != nil {
					t.Error(err)
				}
				safe(t, verdict)
				return
			}
			if refused := (*prove.Counterexample)(nil); !errors.As(err, &refused) || refused.Property != prove.Blocks {
				t.Errorf("the prover says %v, want it to refuse %q", err, prove.Blocks)
			}
			if !verdict.Broke(c.breaks) {
				t.Errorf("the explorer says %v, want broken: %s", verdict.Violations, c.breaks)
			}
		})
	}
}

// TestBlocksAndOthers: one semaphore for words of blocks and for words of whole launches is refused, also where nothing
// is left in a word when the other use of it begins.
func TestBlocksAndOthers(t *testing.T) {
	p := lowered(t, "X", catalog.BlockBehindAttentionTiles)
	p.Body = hostir.Rewrite(p.Body, hostir.Parts{Word: func(w hostir.Word) hostir.Word {
		if w.Semaphore == "Xready" {
			w.Semaphore = "Rfree"
		}
		return w
	}})
	sys, err := explore.Of(p, explore.ShapeOf(p, 2), nil, explore.Eager, explore.Eager)
	if err != nil {
		t.Fatal(err)
	}
	if v := explore.Explore(sys); !v.Broke(explore.WellFormed) {
		t.Errorf("it breaks %v", v.Violations)
	}
}
