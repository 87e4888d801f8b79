//go:build cgo

package programtest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"unsafe"

	"ovgen/generated/allreducepackets"
	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/verify/sim"
	"ovgen/verify/simtest"
)

// oneHalf launches kernels of packets that have no second half.
type oneHalf struct {
	driver.Driver
	functions map[driver.Function]bool
}

func (d *oneHalf) ModuleGetFunction(m driver.Module, name string) (driver.Function, error) {
	f, err := d.Driver.ModuleGetFunction(m, name)
	d.functions[f] = strings.HasPrefix(name, "packets_")
	return f, err
}

func (d *oneHalf) LaunchKernel(f driver.Function, grid, block driver.Dim3, s driver.Stream,
	params unsafe.Pointer) error {
	if !d.functions[f] {
		return d.Driver.LaunchKernel(f, grid, block, s, params)
	}
	const words, half = 27, 24 // of the parameters, for 8 ranks
	p := slices.Clone(unsafe.Slice((*uint64)(params), words))
	p[half] = 0
	return d.Driver.LaunchKernel(f, grid, block, s, unsafe.Pointer(&p[0]))
}

// TestOneHalf: where packets land in one half, and runs follow each other, the simulator finds a reset and the next
// packet in no order.
func TestOneHalf(t *testing.T) {
	const ranks = 3
	s := allreducepackets.Shape{M: 7, N: 40, Type: driver.BF16}
	need, err := s.Memory(ranks)
	if err != nil {
		t.Fatal(err)
	}
	for _, halves := range []int{2, 1} {
		synctest.Test(t, func(t *testing.T) {
			c := simtest.Config{Config: sim.Config{Devices: ranks, Seed: 3}, Change: func(c *group.Config) {
				if c.Arena = need.Arena(); halves == 1 {
					c.Driver = &oneHalf{c.Driver, map[driver.Function]bool{}}
				}
			}}
			err := simtest.Run(t.Context(), c, func(ctx context.Context, g *group.Group) error {
				return inARow(ctx, g, s)
			})
			if halves == 2 && err != nil || halves == 1 && (err == nil || !strings.Contains(err.Error(), "race on")) {
				t.Errorf("%d halves: %v", halves, err)
			}
		})
	}
}

// inARow enqueues runs for which no host waits.
func inARow(ctx context.Context, g *group.Group, s allreducepackets.Shape) error {
	bytes := s.Type.Bytes(s.M * s.N)
	var buffers [2]*device.Buffer
	for i := range buffers {
		b, err := device.Alloc(g.Driver(), bytes)
		if err != nil {
			return err
		}
		defer b.Close()
		buffers[i] = b
	}
	p, err := allreducepackets.New(ctx, g, s)
	if err != nil {
		return err
	}
	stream, err := device.NewStream(g.Driver(), driver.Normal)
	if err == nil {
		err = p.Bind(ctx, allreducepackets.Buffers{A: buffers[0].Ptr(), C: buffers[1].Ptr()})
	}
	for i := 0; i < 4 && err == nil; i++ {
		err = p.Enqueue(stream.Handle())
	}
	if err == nil {
		err = g.Watch(ctx, stream.Handle())
	}
	return errors.Join(err, p.Close(ctx), stream.Close())
}
