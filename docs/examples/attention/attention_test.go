//go:build cgo

package attention

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"testing/synctest"

	_ "ovgen/generated/host"
	"ovgen/generated/rotaryattention"
	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/verify/reference"
	"ovgen/verify/sim"
	"ovgen/verify/simtest"
)

// most is how far from float64 an element may be, in standard deviations of the numbers that the half of a layer adds
// to its row.
var most = map[device.Type]float64{device.FP32: 1e-5, device.FP16: .02, device.BF16: .15}

// keys lists how many heads of keys a rank has. Each serves two heads of queries or more.
var keys = []int{1, 2}

// TestAttention runs it in the simulator.
func TestAttention(t *testing.T) {
	const ranks = 2
	for typ := range most {
		for _, n := range keys {
			synctest.Test(t, func(t *testing.T) {
				shape := rotaryattention.Shape{M: 12, K: 24, N: 8 * 2 * n * ranks, N2: 8 * n * ranks, W: 8, Type: typ}
				err := simtest.Run(t.Context(), simtest.Config{Config: sim.Config{Devices: ranks, Seed: 1}},
					func(ctx context.Context, g *group.Group) error { return hold(ctx, t, g, shape, 1) })
				if err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestOnGPUs runs it on as many GPUs as OVGEN_GPUS says, with heads as Llama has them.
func TestOnGPUs(t *testing.T) {
	text := os.Getenv("OVGEN_GPUS")
	if text == "" {
		t.Skip("OVGEN_GPUS is not set")
	}
	ranks, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	groups, err := group.JoinAll(t.Context(), group.Config{Backend: "cuda", Size: ranks})
	if err != nil {
		t.Fatal(err)
	}
	for _, typ := range []device.Type{device.FP32, device.FP16, device.BF16} {
		for _, n := range keys {
			shape := rotaryattention.Shape{
				M: 192, K: 512, N: 128 * 4 * n * ranks, N2: 128 * n * ranks, W: 128, Type: typ,
			}
			err = errors.Join(err, groups.Each(func(g *group.Group) error { return hold(t.Context(), t, g, shape, 3) }))
		}
	}
	if err := errors.Join(err, groups.Close(context.Background())); err != nil {
		t.Error(err)
	}
}

// rank is one rank's plan, its memory and the caller's stream and graph.
type rank struct {
	*group.Group
	plan   *rotaryattention.Plan
	memory rotaryattention.Buffers
	stream driver.Stream
	graph  *device.Graph
}

// hold runs a shape with several inputs, each eager, replayed and captured: an element is as near float64 as most says,
// and the three have the same bits. A rank that fails otherwise takes the others with it.
func hold(ctx context.Context, t *testing.T, g *group.Group, s rotaryattention.Shape, inputs uint64) (failed error) {
	r, d := &rank{Group: g}, g.Driver()
	var err error
	if r.plan, err = rotaryattention.New(ctx, g, s); err != nil {
		return err
	}
	defer func() { failed = errors.Join(failed, r.plan.Close(ctx)) }()
	if r.stream, err = d.StreamCreateWithPriority(driver.Normal); err != nil {
		return err
	}
	defer func() { failed = errors.Join(failed, d.StreamDestroy(r.stream)) }()
	for _, x := range draw(s, 0).parts(g.Rank(), g.Size(), &r.memory) {
		if *x.to, err = d.MemAlloc(s.Type.Bytes(len(x.at))); err != nil {
			return err
		}
		defer func() { failed = errors.Join(failed, d.MemFree(*x.to)) }()
	}
	if err := r.plan.Bind(ctx, r.memory); err != nil {
		return err
	}
	if r.graph, err = device.Capture(d, r.stream, func() error { return r.plan.Enqueue(r.stream) }); err != nil {
		return err
	}
	defer func() { failed = errors.Join(failed, r.graph.Close()) }()
	for seed := range inputs {
		if err := r.near(t, draw(s, seed+1)); err != nil {
			g.Abort(err) // before Close, which waits for the peers
			return fmt.Errorf("rank %d, %s: %w", g.Rank(), s, err)
		}
	}
	return nil
}

// near compares the three ways to run with float64 and with each other.
func (r *rank) near(t *testing.T, l *layer) error {
	parts := l.parts(r.Rank(), r.Size(), &r.memory)
	for _, x := range parts {
		if err := r.Driver().MemcpyHtoD(*x.to, l.encoded(x.matrix)); err != nil {
			return err
		}
	}
	mine := parts[0].matrix // has the rows of the result
	want := matrix{mine.rows, l.K, l.made().at[r.Rank()*mine.rows*l.K:][:mine.rows*l.K]}
	var first []byte
	for _, run := range []struct {
		name  string
		start func() error
	}{
		{"eager", func() error { return r.plan.Enqueue(r.stream) }},
		{"replayed", func() error { return r.plan.Replay(r.stream) }},
		{"captured", func() error { return r.graph.Launch(r.stream) }},
	} {
		got := bytes.Repeat([]byte{0xff}, len(l.encoded(want)))
		if err := errors.Join(r.Driver().MemcpyHtoD(r.memory.C, got), run.start(),
			r.Driver().StreamSynchronize(r.stream), r.Err(), r.Driver().MemcpyDtoH(got, r.memory.C)); err != nil {
			return fmt.Errorf("%s: %w", run.name, err)
		}
		if first == nil {
			first = got
			t.Logf("rank %d, %s: within %.2g", r.Rank(), l.Shape, l.far(t, got, want, mine))
		}
		if !bytes.Equal(first, got) {
			t.Errorf("rank %d, %s: %s makes other bits than eager", r.Rank(), l.Shape, run.name)
		}
	}
	return nil
}

// far is how far the furthest element is from float64.
func (l *layer) far(t *testing.T, coded []byte, want, residual matrix) (worst float64) {
	got, err := reference.Decode(l.Type, coded)
	if err != nil {
		t.Error(err)
		return math.Inf(1)
	}
	for i := range want.rows {
		squares := 0.0
		for k, w := range want.row(i) {
			squares += math.Pow(w-residual.row(i)[k], 2) / float64(l.K)
		}
		for k, w := range want.row(i) {
			x := float64(got[i*l.K+k])
			off := math.Abs(x-w) / math.Sqrt(squares)
			if !(off <= most[l.Type]) && worst <= most[l.Type] { // NaN too
				t.Errorf("%s: row %d, column %d is %.9g, and %.9g in float64, %.2g off", l.Shape, i, k, x, w, off)
			}
			worst = max(worst, off)
		}
	}
	return worst
}

// part is a rank's part of a tensor, and the variable that gets its address.
type part struct {
	to *device.Ptr
	matrix
}

// parts are a rank's, its rows first and the result last.
func (l *layer) parts(rank, ranks int, b *rotaryattention.Buffers) []part {
	rows := func(m matrix) matrix {
		n := m.rows / ranks
		return matrix{n, m.columns, m.at[rank*n*m.columns:][:n*m.columns]}
	}
	n := l.N / ranks
	return []part{{&b.A, rows(l.a)}, {&b.Norm, l.norm}, {&b.Angles, l.angles}, {&b.Wq, rows(l.wq)}, {&b.Wk, rows(l.wk)},
		{&b.Wv, rows(l.wv)}, {&b.Wo, l.wo.columnsOf(rank*n, n)}, {&b.C, newMatrix(l.M/ranks, l.K)}}
}

// draw draws a layer, of numbers that the type has.
func draw(s rotaryattention.Shape, seed uint64) *layer {
	from := rand.New(rand.NewPCG(seed, 14))
	of := func(rows, columns int, size float64) matrix {
		m := newMatrix(rows, columns)
		values := make([]float32, len(m.at))
		for i := range values {
			values[i] = float32(size * (2*from.Float64() - 1))
		}
		held, _ := reference.Decode(s.Type, reference.Encode(s.Type, values)) // which encodes as many
		for i, v := range held {
			m.at[i] = float64(v)
		}
		return m
	}
	each := func(terms int) float64 { return 2 / math.Sqrt(float64(terms)) } // so that sums are about 1
	return &layer{s, of(s.M, s.K, 1), of(1, s.K, 1), of(s.M, s.W, 1), of(s.N, s.K, each(s.K)), of(s.N2, s.K, each(s.K)),
		of(s.N2, s.K, each(s.K)), of(s.K, s.N, each(s.N))}
}

// encoded is a matrix as a device has it.
func (l *layer) encoded(m matrix) []byte {
	values := make([]float32, len(m.at))
	for i, v := range m.at {
		values[i] = float32(v)
	}
	return reference.Encode(l.Type, values)
}
