//go:build !nosim

package record_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"ovgen/generated/allgatherlinear"
	"ovgen/generated/allgatherlinearkernels"
	"ovgen/generated/allgathermatmul"
	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/runtime/driver/sim"
	"ovgen/runtime/group"
	"ovgen/runtime/group/store"
	"ovgen/runtime/plan"
	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/lower"
	"ovgen/verify/ops"
	"ovgen/verify/prove"
	"ovgen/verify/record"
)

// A bound plan of a generated package.
type runner interface {
	Enqueue(driver.Stream) error
	Close(context.Context) error
	Base() *plan.Plan
}

// pkg is a generated package with the schedule it was made of.
type pkg struct {
	name     string
	schedule schedule.Schedule
	make     func(ctx context.Context, g *group.Group, m, k, n int, a, b, bias, c driver.Ptr) (runner, error)
}

var packages = []pkg{
	{"AllGatherMatmul", catalog.AllGatherMatmul, func(ctx context.Context, g *group.Group, m, k, n int, a, b, bias, c driver.Ptr) (runner, error) {
		p, err := allgathermatmul.New(ctx, g, allgathermatmul.Shape{M: m, K: k, N: n, Type: device.FP32})
		if err != nil {
			return nil, err
		}
		return p, p.Bind(ctx, allgathermatmul.Buffers{A: a, B: b, C: c})
	}},
	{"AllGatherLinear", catalog.AllGatherLinear, func(ctx context.Context, g *group.Group, m, k, n int, a, b, bias, c driver.Ptr) (runner, error) {
		p, err := allgatherlinear.New(ctx, g, allgatherlinear.Shape{M: m, K: k, N: n, Type: device.FP32})
		if err != nil {
			return nil, err
		}
		return p, p.Bind(ctx, allgatherlinear.Buffers{A: a, B: b, Bias: bias, C: c})
	}},
	{"AllGatherLinearKernels", catalog.AllGatherLinearKernels, func(ctx context.Context, g *group.Group, m, k, n int, a, b, bias, c driver.Ptr) (runner, error) {
		p, err := allgatherlinearkernels.New(ctx, g, allgatherlinearkernels.Shape{M: m, K: k, N: n, Type: device.FP32})
		if err != nil {
			return nil, err
		}
		return p, p.Bind(ctx, allgatherlinearkernels.Buffers{A: a, B: b, Bias: bias, C: c})
	}},
}

// What an emitted package enqueues, eager and under capture, is what its host
// program unrolls to, on every rank of every mesh size, and is proven as well.
func TestRecordedIsUnrolled(t *testing.T) {
	for _, p := range packages {
		for d := 2; d <= 8; d++ {
			t.Run(fmt.Sprintf("%s/%d", p.name, d), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { compare(t, p, d) })
			})
		}
	}
}

// extents of the tests: rows a rank, depth, columns.
const rows, depth, columns = 3, 5, 4

func compare(t *testing.T, p pkg, d int) {
	program, err := lower.Lower(p.name, p.schedule)
	if err != nil {
		t.Fatal(err)
	}
	w := sim.NewWorld(sim.Config{Devices: d, Seed: 1})
	defer w.Close()
	network := store.Memory()
	all := map[string][][]ops.Op{"eager": make([][]ops.Op, d), "captured": make([][]ops.Op, d)}
	var ranks errgroup.Group
	for r := range d {
		ranks.Go(func() error {
			want, err := ops.Unroll(program, ops.Case{Ranks: d, Rank: r, M: int64(rows * d), K: depth, N: columns, ElementSize: 4})
			if err != nil {
				return err
			}
			inner, err := w.Open(r)
			if err != nil {
				return err
			}
			rec := record.New(inner)
			got, err := runs(rec, p, d, r, network)
			for mode := range all {
				all[mode][r] = got[mode]
				if diff := cmp.Diff(ops.Lines(want), ops.Lines(got[mode])); diff != "" && err == nil {
					t.Errorf("rank %d, %s: the package enqueues other operations than its program has (-program +package):\n%s", r, mode, diff)
				}
			}
			return err
		})
	}
	if err := ranks.Wait(); err != nil {
		t.Fatal(err)
	}
	model, err := prove.Of(program, ops.Case{Ranks: d, M: int64(rows * d), K: depth, N: columns, ElementSize: 4})
	if err != nil {
		t.Fatal(err)
	}
	for mode, lists := range all {
		if _, err := prove.Lists(context.Background(), model, lists, 0); err != nil {
			t.Errorf("%s, as recorded: %v", mode, err)
		}
	}
}

// runs joins, makes the plan and records its second eager run and one that is
// captured into a graph of the caller.
func runs(rec *record.Driver, p pkg, d, rank int, network store.Network) (map[string][]ops.Op, error) {
	ctx := context.Background()
	g, err := group.Join(ctx, group.Config{Rank: rank, Size: d, Job: "record", Driver: rec, Arena: 1 << 20, Timeout: 10 * time.Second, Network: network})
	if err != nil {
		return nil, err
	}
	got, err := recordIn(ctx, g, rec, p)
	if err != nil {
		g.Abort(err)
	}
	return got, errors.Join(err, g.Close(ctx), rec.Close())
}

func recordIn(ctx context.Context, g *group.Group, rec *record.Driver, p pkg) (_ map[string][]ops.Op, err error) {
	d := g.Size()
	var at [4]driver.Ptr
	for i, elements := range []int{rows * depth, depth * columns, columns, rows * d * columns} {
		if at[i], err = rec.MemAlloc(int64(4 * elements)); err != nil {
			return nil, err
		}
	}
	run, err := p.make(ctx, g, rows*d, depth, columns, at[0], at[1], at[2], at[3])
	if err != nil {
		return nil, err
	}
	stream, err := device.NewStream(rec, driver.Normal)
	if err != nil {
		return nil, err
	}
	got := map[string][]ops.Op{}
	if err := run.Enqueue(stream.Handle()); err != nil {
		return nil, err
	}
	if got["eager"], err = recorded(rec, run, stream); err != nil {
		return nil, err
	}
	if err := stream.Synchronize(); err != nil {
		return nil, err
	}
	graph, err := device.Capture(rec, stream.Handle(), func() (err error) {
		got["captured"], err = recorded(rec, run, stream)
		return err
	})
	if err != nil {
		return nil, err
	}
	err = errors.Join(graph.Close(), stream.Close(), run.Close(ctx))
	for _, p := range at {
		err = errors.Join(err, rec.MemFree(p))
	}
	return got, err
}

// recorded enqueues one run and returns what it enqueued.
func recorded(rec *record.Driver, run runner, s *device.Stream) ([]ops.Op, error) {
	names := record.Names{Streams: run.Base().Streams()}
	names.Streams[s.Handle()] = "main"
	for _, r := range run.Base().Layout() {
		names.Regions = append(names.Regions, record.Region{Base: r.Base, Bytes: r.Bytes, Rank: r.Rank, Buffer: r.Name})
	}
	rec.Start(names)
	if err := run.Enqueue(s.Handle()); err != nil {
		return nil, err
	}
	return rec.Stop()
}
