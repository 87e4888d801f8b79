//go:build cgo

package programtest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"

	"ovgen/generated/programs"
	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/verify/harness"
	"ovgen/verify/sim"
	"ovgen/verify/simtest"
)

// TestTwoShotsAlike: sums by packets in two shots have the same bits on every rank as sums by packets in one shot, and
// as sums that read the peers. The terms of three ranks or more are drawn so that another order of ranks has other
// bits.
func TestTwoShotsAlike(t *testing.T) {
	for ranks := 2; ranks <= 8; ranks++ {
		s := harness.Shape{M: 7, N: 8 * ranks, Type: driver.FP32}
		want := sums(t, "allreducetwoshotpackets", s, ranks)
		for r, sum := range want {
			if len(sum) == 0 || !bytes.Equal(sum, want[0]) {
				t.Errorf("%d ranks: rank %d has another sum than rank 0", ranks, r)
			}
		}
		if ranks > 2 && bytes.Equal(want[0], inReverse(s, ranks)) {
			t.Errorf("%d ranks: the terms have one sum in any order", ranks)
		}
		for _, name := range []string{"allreducepackets", "allreducetwoshot"} {
			if have := sums(t, name, s, ranks); !slices.EqualFunc(have, want, bytes.Equal) {
				t.Errorf("%d ranks: %s has another sum", ranks, name)
			}
		}
	}
}

// TestManyRanks runs products whose sums go by packets in two shots, and rows that the kernel sends which makes them,
// on more ranks than Run does.
func TestManyRanks(t *testing.T) {
	for _, name := range []string{"linearallreducetwoshotpackets", "allgatherquantisedrows"} {
		i := slices.IndexFunc(programs.All, func(p harness.Program) bool { return p.Name == name })
		p := &programs.All[i]
		for ranks := 5; ranks <= 8; ranks++ {
			s := p.TestShapes(p.Types[0], ranks)[0]
			synctest.Test(t, func(t *testing.T) {
				if err := runShape(t.Context(), p, s, ranks, 1, uint64(ranks)); err != nil {
					t.Errorf("%s, %d ranks, %s: %v", name, ranks, s, err)
				}
			})
		}
	}
}

// TestOwnersAlike: norms that the owners of rows make have the bits of norms that every rank makes, on every rank.
func TestOwnersAlike(t *testing.T) {
	for ranks := 2; ranks <= 8; ranks++ {
		s := harness.Shape{M: 3 * ranks, N: 40, Type: driver.FP32}
		want := sums(t, "allreducenorm", s, ranks)
		for _, name := range []string{"allreducenormtwoshot", "reducescatternormgatherpackets"} {
			for r, made := range sums(t, name, s, ranks) {
				if len(made) == 0 || !bytes.Equal(made, want[0]) || !bytes.Equal(made, want[r]) {
					t.Errorf("%s, %d ranks: rank %d has other norms", name, ranks, r)
				}
			}
		}
	}
}

// terms are a rank's partial result.
func terms(rank int, s harness.Shape) (list []float32) {
	random := rand.New(rand.NewPCG(uint64(rank), 0))
	for range s.M * s.N {
		list = append(list, float32(random.NormFloat64()))
	}
	return list
}

// inReverse is the sum from the last rank on.
func inReverse(s harness.Shape, ranks int) []byte {
	sum := make([]float32, s.M*s.N)
	for r := range ranks {
		for i, x := range terms(ranks-1-r, s) {
			sum[i] += x
		}
	}
	return inBytes(sum)
}

func inBytes(list []float32) (b []byte) {
	for _, x := range list {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// sums are each rank's results of the second run of a program.
func sums(t *testing.T, name string, s harness.Shape, ranks int) [][]byte {
	t.Helper()
	i := slices.IndexFunc(programs.All, func(p harness.Program) bool { return p.Name == name })
	p, sums := &programs.All[i], make([][]byte, ranks)
	c := simtest.Config{Config: sim.Config{Devices: ranks, Seed: 5}, Change: func(c *group.Config) {
		c.Arena = p.Arena(s, ranks)
	}}
	synctest.Test(t, func(t *testing.T) {
		err := simtest.Run(t.Context(), c, func(ctx context.Context, g *group.Group) (err error) {
			sums[g.Rank()], err = summed(ctx, g, p, s)
			return err
		})
		if err != nil {
			t.Errorf("%s, %d ranks: %v", name, ranks, err)
		}
	})
	return sums
}

// summed is a rank's result of the second run of a program.
func summed(ctx context.Context, g *group.Group, p *harness.Program, s harness.Shape) ([]byte, error) {
	in, beside := inBytes(terms(g.Rank(), s)), inBytes(terms(99, s))
	at, sum := map[string]device.Ptr{}, make([]byte, len(in))
	for _, tensor := range p.Schedule.Tensors {
		b, err := device.Alloc(g.Driver(), int64(len(in)))
		if err != nil {
			return nil, err
		}
		defer b.Close()
		at[tensor.Name] = b.Ptr()
		fill := beside // the same on all ranks, or a rank's rows of that
		if tensor.Name == "A" {
			fill = in
		} else if _, _, spread := tensor.Sharded(); spread {
			fill = fill[g.Rank()*len(fill)/g.Size():]
		}
		if err := g.Driver().MemcpyHtoD(b.Ptr(), fill); err != nil {
			return nil, err
		}
	}
	plan, err := p.New(ctx, g, s)
	if err != nil {
		return nil, err
	}
	err = plan.Bind(ctx, harness.Buffers{At: at})
	for run := 0; run < 2 && err == nil; run++ {
		err = plan.Run(ctx)
	}
	return sum, errors.Join(err, g.Driver().MemcpyDtoH(sum, at["C"]), plan.Close(ctx))
}
