//go:build cgo

package programtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"unsafe"

	"ovgen/generated/invariantmlptiles"
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/plan"
	"ovgen/runtime/samebits"
	"ovgen/verify/sim"
	"ovgen/verify/simtest"
)

// TestSameBits: New fails on all ranks where a kernel of tiles makes other bits than a rank's library, and says which
// and where. Shapes differ, since a process compares a product once.
func TestSameBits(t *testing.T) {
	for i, c := range []struct {
		name string
		c    sim.Config
		idle string // a kernel that does nothing
		want string // in the error of rank 1
	}{
		{name: "equal"},
		{name: "a library that adds in halves", c: sim.Config{Halves: func(rank int) bool { return rank == 1 }},
			want: "with the library: kernel tiles_bf16: column "},
		{name: "a gather", idle: "tiles_bf16", want: "tiles_bf16: column 0 of row 0 has bits 0xffff, and "},
		{name: "another gather", idle: "tiles4_bf16", want: "tiles4_bf16: column 0 of row 0 has bits 0xffff"},
		{name: "a version", idle: "tiles4_bf16", want: "algorithm the simulator's of cuBLASLt 12.9.3, on "},
		{name: "no version", idle: "tiles4_bf16", want: "algorithm the simulator's of the library, on "},
		{name: "a sum", idle: "scatter_bf16", want: "scatter_bf16: column 0 of row 128 has bits 0xffff"},
		{name: "another sum", idle: "scatter3_bf16", want: "scatter3_bf16: column 0 of row 128 has bits 0xffff"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := invariantmlptiles.Shape{M: 8, K: 64 + 8*i, N: 40, F: 48 + 16*i, Type: driver.BF16}
			m, err := s.Memory(2)
			if err != nil {
				t.Fatal(err)
			}
			c.c.Devices = 2
			of := simtest.Config{Config: c.c}
			watches := make([]*watch, 2)
			of.Change = func(g *group.Config) {
				watches[g.Rank] = &watch{Driver: g.Driver}
				if g.Rank == 1 {
					watches[g.Rank].idle = c.idle
				}
				if g.Driver = watches[g.Rank]; strings.Contains(c.want, "cuBLASLt") {
					g.Driver = versioned{g.Driver}
				}
			}
			synctest.Test(t, func(t *testing.T) {
				err := simtest.Run(t.Context(), of, func(ctx context.Context, g *group.Group) error {
					watches[g.Rank()].most = 0
					p, err := invariantmlptiles.New(ctx, g, s)
					if most := watches[g.Rank()].most; most == 0 || most > m.Tuning {
						return fmt.Errorf("New allocates %d bytes, and Memory says %d", most, m.Tuning)
					}
					if c.want == "" && err == nil {
						return p.Close(ctx)
					}
					for range 2 { // it fails again
						of, differs := new(plan.RankError), new(samebits.DifferError)
						if own := g.Rank() == 1; err == nil || c.want == "" || !strings.Contains(err.Error(), c.want) ||
							own == errors.As(err, &of) || own != errors.As(err, &differs) || !own && of.Rank != 1 {
							return fmt.Errorf("New says: %w", err)
						}
						_, err = invariantmlptiles.New(ctx, g, s)
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// watch is a driver that leaves the launches of one kernel out, and notes the most bytes of an allocation.
type watch struct {
	driver.Driver
	idle string
	not  driver.Function
	most int64
}

// versioned is a driver whose library has a version.
type versioned struct{ driver.Driver }

func (versioned) LibraryVersion() int { return 120903 }

func (w *watch) MemAlloc(bytes int64) (driver.Ptr, error) {
	w.most = max(w.most, bytes)
	return w.Driver.MemAlloc(bytes)
}

func (w *watch) ModuleGetFunction(m driver.Module, name string) (driver.Function, error) {
	f, err := w.Driver.ModuleGetFunction(m, name)
	if name == w.idle {
		w.not = f
	}
	return f, err
}

func (w *watch) LaunchKernel(f driver.Function, grid, block driver.Dim3, s driver.Stream, params unsafe.Pointer) error {
	if f == w.not {
		return nil
	}
	return w.Driver.LaunchKernel(f, grid, block, s, params)
}
