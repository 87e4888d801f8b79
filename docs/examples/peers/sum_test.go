//go:build cgo

package peers_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"ovgen/docs/examples/peers"
	_ "ovgen/docs/examples/peers/host"
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/group/store"
	"ovgen/verify/sim"
	"ovgen/verify/simtest"
)

// inBubble runs f as each of n ranks, in virtual time. A race is an error.
func inBubble(t *testing.T, n int, seed uint64, f func(ctx context.Context, g *group.Group) error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		if err := simtest.Run(t.Context(), simtest.Config{Config: sim.Config{Devices: n, Seed: seed}}, f); err != nil {
			t.Error(err)
		}
	})
}

func bytesOf(x []float32) (b []byte) {
	for _, v := range x {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

// rank is a rank's memory and its Sum.
type rank struct {
	*peers.Sum
	g       *group.Group
	d       driver.Driver
	mine    driver.Ptr
	dst     driver.Ptr
	on      driver.Stream
	floats  int
	sources []float32
}

func newRank(ctx context.Context, g *group.Group, floats int) (r *rank, err error) {
	r = &rank{g: g, d: g.Driver(), floats: floats}
	if r.mine, err = r.d.MemAlloc(4 * int64(floats)); err != nil {
		return nil, err
	}
	if r.dst, err = r.d.MemAlloc(4 * int64(floats)); err != nil {
		return nil, err
	}
	if r.on, err = r.d.StreamCreateWithPriority(driver.Normal); err != nil {
		return nil, err
	}
	r.Sum, err = peers.New(ctx, g, r.mine, floats)
	return r, err
}

// free checks that the memory is the peers' no more.
func (r *rank) free(ctx context.Context) error {
	return errors.Join(r.Close(ctx), r.d.MemFree(r.mine), r.d.MemFree(r.dst), r.d.StreamDestroy(r.on))
}

// fill writes the numbers that rank r adds in a run.
func (r *rank) fill(run int) error {
	x := make([]float32, r.floats)
	for i := range x {
		x[i] = float32(1000*r.g.Rank() + 7*run + i)
	}
	return r.d.MemcpyHtoD(r.mine, bytesOf(x))
}

// check compares a run's sum.
func (r *rank) check(run int) error {
	if err := r.d.StreamSynchronize(r.on); err != nil {
		return err
	}
	got, want := make([]byte, 4*r.floats), make([]float32, r.floats)
	for i := range want {
		for from := range r.g.Size() {
			want[i] += float32(1000*from + 7*run + i)
		}
	}
	if err := r.d.MemcpyDtoH(got, r.dst); err != nil {
		return err
	}
	if !slices.Equal(got, bytesOf(want)) {
		return fmt.Errorf("run %d: wrong sums", run)
	}
	return nil
}

// TestSum runs it eagerly and from a graph, with other numbers each time.
func TestSum(t *testing.T) {
	for ranks := 1; ranks <= 3; ranks++ {
		inBubble(t, ranks, uint64(ranks), func(ctx context.Context, g *group.Group) error { return sums(ctx, g, 700) })
	}
}

func sums(ctx context.Context, g *group.Group, floats int) error {
	r, err := newRank(ctx, g, floats)
	if err != nil {
		return err
	}
	if err := r.d.StreamBeginCapture(r.on); err != nil {
		return err
	}
	enqueued := r.Enqueue(r.dst, r.on)
	graph, err := r.d.StreamEndCapture(r.on)
	if err := errors.Join(enqueued, err); err != nil {
		return err
	}
	exec, err := r.d.GraphInstantiate(graph)
	if err != nil {
		return err
	}
	for run := range 4 {
		if err := r.fill(run); err != nil {
			return err
		}
		if run%2 == 0 {
			err = r.Enqueue(r.dst, r.on)
		} else {
			err = r.d.GraphLaunch(exec, r.on)
		}
		if err := errors.Join(err, r.check(run)); err != nil {
			return err
		}
	}
	return errors.Join(r.d.GraphExecDestroy(exec), r.d.GraphDestroy(graph), r.free(ctx))
}

// TestAbort leaves a kernel waiting for a rank that does not come: an abort ends it with an error on all ranks.
func TestAbort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := simtest.Run(t.Context(), simtest.Config{Config: sim.Config{Devices: 2, NoRaces: true}}, ended)
		if err != nil {
			t.Error(err)
		}
	})
}

func ended(ctx context.Context, g *group.Group) error {
	r, err := newRank(ctx, g, 8)
	if err != nil {
		return err
	}
	if g.Rank() == 0 {
		if err := r.Enqueue(r.dst, r.on); err != nil {
			return err
		}
	} else {
		time.Sleep(time.Second)
		g.Abort(errors.New("rank 1 has other things to do"))
	}
	var aborted *group.AbortError
	err = r.d.StreamSynchronize(r.on)
	<-g.Done()
	if err != nil || !errors.As(g.Err(), &aborted) || aborted.By != 1 {
		return fmt.Errorf("%w, %w", err, g.Err())
	}
	if err := r.Close(ctx); !errors.As(err, &aborted) {
		return fmt.Errorf("close: %w", err)
	}
	if _, err := peers.New(ctx, g, r.mine, 8); !errors.As(err, &aborted) {
		return fmt.Errorf("new: %w", err)
	}
	return errors.Join(r.d.MemFree(r.mine), r.d.MemFree(r.dst), r.d.StreamDestroy(r.on))
}

// TestOnGPUs does both on as many GPUs as OVGEN_EXAMPLE_GPUS says, two at least, with all ranks in this process.
func TestOnGPUs(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("OVGEN_EXAMPLE_GPUS"))
	if err != nil {
		t.Skip("OVGEN_EXAMPLE_GPUS says no number of GPUs")
	}
	if n < 2 {
		t.Skip("a rank alone has no peer that ends its wait: OVGEN_EXAMPLE_GPUS is below 2")
	}
	cuda, err := driver.Lookup("cuda")
	if err != nil {
		t.Fatal(err)
	}
	switch have, err := cuda.Count(); {
	case err != nil:
		t.Fatal(err)
	case have < n:
		t.Skipf("%d ranks need a GPU each, and there are %d", n, have)
	}
	for name, run := range map[string]func(ctx context.Context, g *group.Group) error{
		"sums": func(ctx context.Context, g *group.Group) error { return sums(ctx, g, 1<<20+7) }, "abort": ended} {
		network := store.Memory()
		err := group.Each(n, func(rank int) error {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			g, err := group.Join(ctx, group.Config{Rank: rank, Size: n, Job: name, Backend: "cuda", Local: true,
				Network: network, Timeout: 10 * time.Second})
			if err != nil {
				return err
			}
			return errors.Join(run(ctx, g), g.Close(ctx))
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPTX holds the PTX against its head and the source that lies here.
func TestPTX(t *testing.T) {
	text, err := os.ReadFile("sum.cu")
	if err != nil {
		t.Fatal(err)
	}
	texts := [][]byte{text}
	for _, m := range regexp.MustCompile(`(?m)^#include "(.*)"$`).FindAllSubmatch(text, -1) {
		header, err := os.ReadFile(string(m[1]))
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, header)
	}
	ptx, err := os.ReadFile("sum_sm80.ptx")
	if err != nil {
		t.Fatal(err)
	}
	c := driver.Code{Name: "peers", Source: driver.Digest(texts...), PTX: ptx}
	if err := c.Check(); err != nil {
		t.Errorf("%v: go generate .", err)
	}
}
