// Package product makes a product of the caller's own by the library of products.
package product

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"example.com/user/generated/ownproduct"
	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/plan"
	"ovgen/verify/reference"
	"ovgen/verify/sim"
	"ovgen/verify/simtest"

	_ "example.com/user/generated/host"
)

const m, k, n = 12, 18, 10

func a(row, column int) float32 { return float32((row*7+column*3)%5 - 2) }
func b(row, column int) float32 { return float32((row*5+column)%7 - 3) }

// TestProduct: every element is the whole sum, on 1 to 3 ranks.
func TestProduct(t *testing.T) {
	for ranks := 1; ranks <= 3; ranks++ {
		synctest.Test(t, func(t *testing.T) {
			c := simtest.Config{Config: sim.Config{Devices: ranks, Seed: 1}}
			if err := simtest.Run(t.Context(), c, run); err != nil {
				t.Error(err)
			}
		})
	}
}

// run holds the rows of one rank.
func run(ctx context.Context, g *group.Group) error {
	p, err := ownproduct.New(ctx, g, ownproduct.Shape{M: m, K: k, N: n, Type: device.FP32})
	if err != nil {
		return err
	}
	d, columns, rows := g.Driver(), k/g.Size(), m/g.Size()
	product, err := d.MatmulCreate(driver.MatmulDesc{M: m, K: columns, N: n, Type: device.FP32, Transposed: true})
	if err != nil {
		return err
	}
	space, err := d.MemAlloc(driver.WorkspaceBytes)
	if err != nil {
		return err
	}
	p.MyGEMM = func(on driver.Stream, to plan.Range, from []plan.Range) error {
		return d.Matmul(product, driver.Operands{C: to.At, A: from[0].At, B: from[1].At, Workspace: space}, on)
	}
	part := func(rows int, of func(row, column int) float32) (list []float32) {
		for i := range rows * columns {
			list = append(list, of(i/columns, g.Rank()*columns+i%columns))
		}
		return list
	}
	var x ownproduct.Buffers
	for to, values := range map[*driver.Ptr][]float32{&x.A: part(m, a), &x.B: part(n, b),
		&x.C: make([]float32, rows*n)} {
		at, err := d.MemAlloc(int64(4 * len(values)))
		if err = errors.Join(err, d.MemcpyHtoD(at, reference.Encode(device.FP32, values))); err != nil {
			return err
		}
		*to = at
	}
	got := make([]byte, 4*rows*n)
	if err := errors.Join(p.Bind(ctx, x), p.Run(ctx), d.MemcpyDtoH(got, x.C)); err != nil {
		return err
	}
	var want []float32
	for i := range rows * n {
		sum := float32(0)
		for j := range k {
			sum += a(g.Rank()*rows+i/n, j) * b(i%n, j)
		}
		want = append(want, sum)
	}
	have, err := reference.Decode(device.FP32, got)
	if err == nil && !slices.Equal(have, want) {
		err = fmt.Errorf("rank %d has %v, want %v", g.Rank(), have, want)
	}
	return errors.Join(err, d.MatmulDestroy(product), p.Close(ctx))
}
