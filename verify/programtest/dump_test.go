//go:build cgo

package programtest

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"ovgen/generated/allgatherlinear"
	"ovgen/generated/allgatherlinearhandlesinloop"
	"ovgen/generated/allgatherlinearnccl"
	"ovgen/generated/allreduceoneshot"
	"ovgen/generated/rotaryattention"
	"ovgen/generated/tuned"
	"ovgen/runtime/driver"
	_ "ovgen/runtime/dump"
	"ovgen/runtime/group"
	"ovgen/runtime/plan"
	"ovgen/runtime/tuning"
	"ovgen/verify/sim"
	"ovgen/verify/simtest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// numbers are addresses, handles, hashes and stamps.
var numbers = regexp.MustCompile(`0x[0-9a-f]+|[0-9a-f]{16,}`)

// dumped is what rank 0 of two writes about a plan that bind makes and binds to memory at x, with numbers masked.
func dumped(t *testing.T, words string, bind func(ctx context.Context, g *group.Group, x driver.Ptr) error) []byte {
	t.Helper()
	var text bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		c := simtest.Config{Config: sim.Config{Devices: 2}, Change: func(c *group.Config) {
			if c.Dump, c.DumpTo = words, io.Discard; c.Rank == 0 {
				c.DumpTo = &text
			}
		}}
		err := simtest.Run(t.Context(), c, func(ctx context.Context, g *group.Group) error {
			x, err := g.Driver().MemAlloc(1 << 20)
			if err != nil {
				return err
			}
			return bind(ctx, g, x)
		})
		if err != nil {
			t.Error(err)
		}
	})
	return numbers.ReplaceAll(text.Bytes(), []byte("*"))
}

// TestDump holds what OVGEN_DUMP writes of a plan with products and copies, of one with a kernel that signals, of one
// by NCCL, of one that exchanges handles in its loop, and of a tuned one.
func TestDump(t *testing.T) {
	allGather := allgatherlinear.Shape{M: 32, K: 16, N: 24, Type: driver.BF16}
	for _, x := range []struct {
		name, words string
		bind        func(ctx context.Context, g *group.Group, x driver.Ptr) error
	}{
		{"products", "host,ops,plans", func(ctx context.Context, g *group.Group, x driver.Ptr) error {
			p, err := allgatherlinear.New(ctx, g, allGather)
			if err != nil {
				return err
			}
			return p.Bind(ctx, allgatherlinear.Buffers{A: x, B: x + 4096, Bias: x + 8192, C: x + 12288})
		}},
		{"kernel", "ops, plans", func(ctx context.Context, g *group.Group, x driver.Ptr) error {
			p, err := allreduceoneshot.New(ctx, g, allreduceoneshot.Shape{M: 1, N: 64, Type: driver.FP32})
			if err != nil {
				return err
			}
			return p.Bind(ctx, allreduceoneshot.Buffers{A: x, C: x + 4096})
		}},
		{"nccl", "ops", func(ctx context.Context, g *group.Group, x driver.Ptr) error {
			s := allgatherlinearnccl.Shape{M: 32, K: 16, N: 24, Type: driver.BF16}
			p, err := allgatherlinearnccl.New(ctx, g, s)
			if err != nil {
				return err
			}
			return p.Bind(ctx, allgatherlinearnccl.Buffers{A: x, B: x + 4096, Bias: x + 8192, C: x + 12288})
		}},
		{"loop", "ops", func(ctx context.Context, g *group.Group, x driver.Ptr) error {
			// Peers' addresses come in a run.
			s := allgatherlinearhandlesinloop.Shape{M: 32, K: 16, N: 24, Type: driver.BF16}
			p, err := allgatherlinearhandlesinloop.New(ctx, g, s)
			if err != nil {
				return err
			}
			return p.Bind(ctx, allgatherlinearhandlesinloop.Buffers{A: x, B: x + 4096, Bias: x + 8192, C: x + 12288})
		}},
		{"tuned", "plans,json", func(ctx context.Context, g *group.Group, x driver.Ptr) error {
			p, err := tuned.NewAllGatherLinear(ctx, g, &tuning.Table{}, allGather)
			if err != nil {
				return err
			}
			return p.Bind(ctx, allgatherlinear.Buffers{A: x, B: x + 4096, Bias: x + 8192, C: x + 12288})
		}},
	} {
		t.Run(x.name, func(t *testing.T) {
			got := dumped(t, x.words, x.bind)
			golden := filepath.Join("testdata", "dump", x.name+".golden")
			if *update {
				if err := os.WriteFile(golden, got, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestTunedTiles: a launch takes the kernel that a tuning names, of the shape that it was measured at, and is told so
// before the first Bind.
func TestTunedTiles(t *testing.T) {
	measured, beside := allgatherlinear.Shape{M: 32, K: 16, N: 24, Type: driver.BF16},
		allgatherlinear.Shape{M: 64, K: 16, N: 24, Type: driver.BF16}
	for _, x := range []struct {
		shape       allgatherlinear.Shape
		tiles, want string
	}{{measured, "tiles3", "tiles3_bf16"}, {measured, "tiles4", "tiles4_bf16"}, {measured, "", "tiles_bf16"},
		{beside, "tiles3", "tiles_bf16"}} {
		text := dumped(t, "ops", func(ctx context.Context, g *group.Group, at driver.Ptr) error {
			to := &tuning.Table{}
			to.Put(tuning.Measured{Operation: "allgatherlinear", GPU: g.Driver().Properties().Name, Ranks: 2,
				Shape: measured.String(), Program: "allgatherlineartiles", Tiles: x.tiles, Milliseconds: 1})
			p, err := tuned.NewAllGatherLinear(ctx, g, to, x.shape)
			if err != nil {
				return err
			}
			err = p.Bind(ctx, allgatherlinear.Buffers{A: at, B: at + 8192, Bias: at + 16384, C: at + 24576})
			if late := p.Base().UseTiles("tiles"); late == nil {
				t.Error("a plan that is bound takes other tiles")
			}
			return err
		})
		if !bytes.Contains(text, []byte(x.want)) {
			t.Errorf("tuned to %q at %s, run at %s: no %s in\n%s", x.tiles, measured, x.shape, x.want, text)
		}
	}
}

// TestDumpCalls: a function of the caller's is listed, and not called for it.
func TestDumpCalls(t *testing.T) {
	for words, listed := range map[string]int{"": 0, "ops": 1} {
		called := 0
		text := dumped(t, words, func(ctx context.Context, g *group.Group, x driver.Ptr) error {
			p, err := rotaryattention.New(ctx, g, rotaryattention.Shape{M: 2, K: 16, N: 256, N2: 256, W: 128,
				Type: driver.FP32})
			if err != nil {
				return err
			}
			p.Attention = func(driver.Stream, plan.Range, []plan.Range) error {
				if g.Rank() == 0 {
					called++
				}
				return nil
			}
			at := func(n driver.Ptr) driver.Ptr { return x + n*65536 }
			return p.Bind(ctx, rotaryattention.Buffers{A: at(0), Norm: at(1), Angles: at(2), Wq: at(3), Wk: at(4),
				Wv: at(5), Wo: at(6), C: at(7)})
		})
		if n := bytes.Count(text, []byte("call Attention\n")); called != 0 || n != listed {
			t.Errorf("%q: called %d times, listed %d times, want 0 and %d", words, called, n, listed)
		}
	}
}

// full is a disk without room, at first.
type full struct{ writes int }

func (f *full) Write(text []byte) (int, error) {
	if f.writes++; f.writes == 1 {
		return 0, io.ErrShortWrite
	}
	return len(text), nil
}

// TestDumpFails: a rank whose dump cannot be written does not bind its plan, and a Bind again binds it.
func TestDumpFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := simtest.Config{Config: sim.Config{Devices: 2}, Change: func(c *group.Config) {
			if c.Rank == 0 {
				c.Dump, c.DumpTo = "host", &full{}
			}
		}}
		err := simtest.Run(t.Context(), c, func(ctx context.Context, g *group.Group) error {
			x, err := g.Driver().MemAlloc(1 << 20)
			if err != nil {
				return err
			}
			p, err := allreduceoneshot.New(ctx, g, allreduceoneshot.Shape{M: 1, N: 64, Type: driver.FP32})
			if err != nil {
				return err
			}
			buffers := allreduceoneshot.Buffers{A: x, C: x + 4096}
			if err := p.Bind(ctx, buffers); errors.Is(err, io.ErrShortWrite) != (g.Rank() == 0) {
				t.Errorf("rank %d: bind: %v", g.Rank(), err)
			}
			if err := p.Enqueue(0); errors.Is(err, plan.ErrNotBound) != (g.Rank() == 0) {
				t.Errorf("rank %d: enqueue: %v", g.Rank(), err)
			}
			if g.Rank() == 0 {
				err = errors.Join(p.Bind(ctx, buffers), p.Enqueue(0))
			}
			return errors.Join(err, p.Close(ctx))
		})
		if err != nil {
			t.Error(err)
		}
	})
}
