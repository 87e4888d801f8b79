//go:build !nosim

package record_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"ovgen/generated/programs"
	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/runtime/driver/sim"
	"ovgen/runtime/group"
	"ovgen/runtime/group/store"
	"ovgen/runtime/plan"
	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/verify/harness"
	"ovgen/verify/ops"
	"ovgen/verify/prove"
	"ovgen/verify/record"
)

// What an emitted package enqueues, eager and under capture, is what its host
// program unrolls to, on every rank of every mesh size, and is proven as well.
func TestRecordedIsUnrolled(t *testing.T) {
	for _, n := range catalog.All() {
		t.Run(n.Name, func(t *testing.T) {
			t.Parallel()
			i := slices.IndexFunc(programs.All, func(p harness.Program) bool { return p.Name == strings.ToLower(n.Name) })
			if i < 0 {
				t.Fatal("there is no such generated package (go generate ./schedule/catalog)")
			}
			program, err := lower.Lower(n.Name, n.Schedule)
			if err != nil {
				t.Fatal(err)
			}
			for d := 2; d <= 8; d++ {
				synctest.Test(t, func(t *testing.T) { compare(t, &subject{program, &programs.All[i], shape(program, d)}) })
			}
		})
	}
}

// subject is a generated package with the program it was made of, and a shape.
type subject struct {
	*hostir.Program
	made *harness.Program
	at   ops.Case
}

// shape is a small one that the program accepts.
func shape(p *hostir.Program, d int) ops.Case {
	env := map[schedule.Extent]int64{schedule.M: 3, schedule.K: 5, schedule.N: 4, schedule.N2: 6, schedule.N3: 7, schedule.F: 2}
	for _, c := range p.Checks {
		by := max(c.Times, 1)
		if c.By == schedule.D {
			by *= int64(d)
		}
		if env[c.Extent]%by != 0 {
			env[c.Extent] *= by
		}
	}
	counts := counts(p, d)
	if counts != nil {
		env[schedule.M] = 0
		for _, n := range counts {
			env[schedule.M] += n
		}
	}
	if counts != nil {
		env[schedule.P] = slices.Max(counts) + 1
	}
	at := ops.Case{Ranks: d, Counts: counts, M: env[schedule.M], K: env[schedule.K], N: env[schedule.N], ElementSize: 4, Extents: map[string]int64{}}
	for _, e := range []schedule.Extent{schedule.N2, schedule.N3, schedule.F, schedule.P} {
		at.Extents[string(e)] = env[e]
	}
	return at
}

// counts of the program's uneven parts, each another than the one before.
func counts(p *hostir.Program, d int) []int64 {
	var list []int64
	for _, b := range p.Buffers {
		for q := range int64(d) {
			for c := range int64(d) {
				i, err := b.Counts.Eval(hostir.Env{"q": q, "c": c, "D": int64(d)})
				for err == nil && int64(len(list)) <= i {
					list = append(list, int64(1+len(list)%3))
				}
			}
		}
	}
	return list
}

// bytes of a buffer on every rank.
func (s *subject) bytes(b hostir.Buffer) (int64, error) {
	env := hostir.Env{"D": int64(s.at.Ranks), "M": s.at.M, "K": s.at.K, "N": s.at.N}
	maps.Copy(env, s.at.Extents)
	maps.Copy(env, s.Constants)
	n, err := b.Elements.Eval(env)
	return n * s.at.ElementSize, err
}

// plan makes the package's plan and binds it to new memory.
func (s *subject) plan(ctx context.Context, g *group.Group) (p harness.Plan, memory []driver.Ptr, err error) {
	p, err = s.made.New(ctx, g, harness.Shape{M: int(s.at.M), K: int(s.at.K), N: int(s.at.N), N2: int(s.at.Extents["N2"]),
		N3: int(s.at.Extents["N3"]), F: int(s.at.Extents["F"]), P: int(s.at.Extents["P"]), Type: driver.FP32})
	if err != nil {
		return nil, nil, err
	}
	to := harness.Buffers{At: map[string]driver.Ptr{}}
	for _, n := range s.at.Counts {
		to.Counts = append(to.Counts, int(n))
	}
	for _, b := range s.Buffers {
		if b.Owner != hostir.Caller || b.Tensor.Root && g.Rank() != 0 {
			continue
		}
		n, err := s.bytes(b)
		if err != nil {
			return nil, nil, err
		}
		at, err := g.Driver().MemAlloc(n)
		if err != nil {
			return nil, nil, err
		}
		to.At[b.Name], memory = at, append(memory, at)
	}
	return p, memory, p.Bind(ctx, to)
}

func compare(t *testing.T, s *subject) {
	d := s.at.Ranks
	w := sim.NewWorld(sim.Config{Devices: d, Seed: 1})
	defer w.Close()
	network := store.Memory()
	all := map[string][][]ops.Op{"eager": make([][]ops.Op, d), "captured": make([][]ops.Op, d)}
	if s.made.Eager {
		delete(all, "captured")
	}
	var ranks errgroup.Group
	for r := range d {
		ranks.Go(func() error {
			c := s.at
			c.Rank = r
			want, err := ops.Unroll(s.Program, c)
			if err != nil {
				return err
			}
			inner, err := w.Open(r)
			if err != nil {
				return err
			}
			got, err := runs(record.New(inner), s, r, network)
			for mode := range all {
				all[mode][r] = got[mode]
				if diff := cmp.Diff(ops.Lines(want), ops.Lines(got[mode])); diff != "" && err == nil {
					t.Errorf("rank %d of %d, %s: the package enqueues other operations than its program has (-program +package):\n%s", r, d, mode, diff)
				}
			}
			return err
		})
	}
	if err := ranks.Wait(); err != nil {
		t.Fatalf("%d ranks: %v", d, err)
	}
	model, err := prove.Of(s.Program, s.at)
	if err != nil {
		t.Fatal(err)
	}
	for mode, lists := range all {
		if _, err := prove.Lists(context.Background(), model, lists, 0); err != nil {
			t.Errorf("%d ranks, %s, as recorded: %v", d, mode, err)
		}
	}
}

// runs joins, makes the plan and records its second eager run and one that is
// captured into a graph of the caller.
func runs(rec *record.Driver, s *subject, rank int, network store.Network) (map[string][]ops.Op, error) {
	ctx := context.Background()
	g, err := group.Join(ctx, group.Config{Rank: rank, Size: s.at.Ranks, Job: "record", Driver: rec, Arena: 1 << 20, Timeout: 10 * time.Second, Network: network})
	if err != nil {
		return nil, err
	}
	got, err := recordIn(ctx, g, rec, s)
	if err != nil {
		g.Abort(err)
	}
	return got, errors.Join(err, g.Close(ctx), rec.Close())
}

func recordIn(ctx context.Context, g *group.Group, rec *record.Driver, s *subject) (_ map[string][]ops.Op, err error) {
	run, memory, err := s.plan(ctx, g)
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
	if !s.made.Eager {
		graph, err := device.Capture(rec, stream.Handle(), func() (err error) {
			got["captured"], err = recorded(rec, run, stream)
			return err
		})
		if err != nil {
			return nil, err
		}
		if err := graph.Close(); err != nil {
			return nil, err
		}
	}
	err = errors.Join(stream.Close(), run.Close(ctx))
	for _, p := range memory {
		err = errors.Join(err, rec.MemFree(p))
	}
	return got, err
}

// recorded enqueues one run and returns what it enqueued.
func recorded(rec *record.Driver, run harness.Plan, s *device.Stream) ([]ops.Op, error) {
	base := run.(interface{ Base() *plan.Plan }).Base()
	names := record.Names{Streams: base.Streams()}
	names.Streams[s.Handle()] = "main"
	for _, r := range base.Layout() {
		names.Regions = append(names.Regions, record.Region{Base: r.Base, Bytes: r.Bytes, Rank: r.Rank, Buffer: r.Name})
	}
	rec.Start(names)
	if err := run.Enqueue(s.Handle()); err != nil {
		return nil, err
	}
	return rec.Stop()
}
