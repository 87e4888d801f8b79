//go:build cgo

package programtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"

	"ovgen/generated/allgatherlinear"
	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/plan"
	"ovgen/verify/inject"
	"ovgen/verify/reference"
	"ovgen/verify/sim"
	"ovgen/verify/simtest"
)

// TestEqualAlgorithms: ranks whose devices tune a product to other algorithms make a whole result of the same bits, by
// that of rank 0, whichever ranks have another one.
func TestEqualAlgorithms(t *testing.T) {
	inOne, inHalves := gatheredBy(t, 1, nil)[0], gatheredBy(t, 1, func(int) bool { return true })[0]
	if bytes.Equal(inOne, inHalves) {
		t.Fatal("both algorithms make the same bits")
	}
	for name, x := range map[string]struct {
		halves func(rank int) bool
		want   []byte
	}{
		"rank 0 alone": {func(rank int) bool { return rank == 0 }, inHalves},
		"rank 2 alone": {func(rank int) bool { return rank == 2 }, inOne},
		"all but one":  {func(rank int) bool { return rank != 1 }, inHalves},
		"none":         {nil, inOne},
	} {
		for rank, got := range gatheredBy(t, 3, x.halves) {
			if !bytes.Equal(got, x.want) {
				t.Errorf("%s: rank %d has other bits than one device by the algorithm of rank 0", name, rank)
			}
		}
	}
}

// TestRefusedAlgorithm: where a rank's device refuses the algorithm of rank 0, New fails on all ranks.
func TestRefusedAlgorithm(t *testing.T) {
	refused := errors.New("not on this device")
	synctest.Test(t, func(t *testing.T) {
		c := simtest.Config{Config: sim.Config{Devices: 3, Halves: func(rank int) bool { return rank > 0 }}}
		c.Change = func(c *group.Config) {
			if c.Rank == 1 {
				f := inject.New(c.Driver)
				f.Before = inject.Fail("MatmulBy", 1, refused)
				c.Driver = f
			}
		}
		err := simtest.Run(t.Context(), c, func(ctx context.Context, g *group.Group) error {
			_, err := gathered(ctx, g)
			var of *plan.RankError
			if own := g.Rank() == 1; own != errors.Is(err, refused) || !own && !errors.As(err, &of) {
				return fmt.Errorf("New says: %w", err)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// gatheredBy are the results of some ranks, of which these add in halves.
func gatheredBy(t *testing.T, ranks int, halves func(rank int) bool) [][]byte {
	t.Helper()
	results := make([][]byte, ranks)
	synctest.Test(t, func(t *testing.T) {
		err := simtest.Run(t.Context(), simtest.Config{Config: sim.Config{Devices: ranks, Halves: halves}},
			func(ctx context.Context, g *group.Group) (err error) {
				results[g.Rank()], err = gathered(ctx, g)
				return err
			})
		if err != nil {
			t.Fatal(err)
		}
	})
	return results
}

// gathered is the result of AllGatherLinear on a rank, of equal random operands whatever the ranks.
func gathered(ctx context.Context, g *group.Group) ([]byte, error) {
	const m, k, n = 6, 96, 32
	random := rand.New(rand.NewPCG(1, 1))
	at := map[string]device.Ptr{}
	for _, x := range []struct {
		name     string
		elements int
	}{{"A", m * k}, {"B", n * k}, {"Bias", n}, {"C", m * n}} {
		values := make([]float32, x.elements)
		for i := range values {
			values[i] = random.Float32() - .5
		}
		if x.name == "A" {
			part := len(values) / g.Size()
			values = values[g.Rank()*part:][:part]
		}
		b, err := device.Alloc(g.Driver(), int64(4*len(values)))
		if err == nil {
			err = g.Driver().MemcpyHtoD(b.Ptr(), reference.Encode(driver.FP32, values))
		}
		if err != nil {
			return nil, err
		}
		at[x.name] = b.Ptr()
	}
	p, err := allgatherlinear.New(ctx, g, allgatherlinear.Shape{M: m, K: k, N: n, Type: driver.FP32})
	if err != nil {
		return nil, err
	}
	got := make([]byte, 4*m*n)
	return got, errors.Join(p.Bind(ctx, allgatherlinear.Buffers{A: at["A"], B: at["B"], Bias: at["Bias"], C: at["C"]}),
		p.Run(ctx), g.Driver().MemcpyDtoH(got, at["C"]), p.Close(ctx))
}
