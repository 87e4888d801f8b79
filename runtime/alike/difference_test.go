//go:build cgo

package alike_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ovgen/generated/allreducenorm"
	_ "ovgen/generated/host" // its kernels, for the simulator
	"ovgen/runtime/alike"
	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/launch"
	"ovgen/runtime/launcher"
	"ovgen/verify/sim"
	"ovgen/verify/simtest"
)

// norm is a plan of AllReduceNorm on a rank, and its buffers.
type norm struct {
	*allreducenorm.Plan
	at map[string]device.Ptr
}

// newNorm makes the plan and binds it to zeros.
func newNorm(ctx context.Context, g *group.Group) (n norm, err error) {
	n.at = map[string]device.Ptr{}
	for _, name := range []string{"A", "Residual", "Norm", "R", "C"} {
		if n.at[name], err = g.Driver().MemAlloc(4096); err == nil {
			err = g.Driver().MemcpyHtoD(n.at[name], make([]byte, 4096))
		}
		if err != nil {
			return n, err
		}
	}
	n.Plan, err = allreducenorm.New(ctx, g, allreducenorm.Shape{M: 4, N: 64, Type: driver.FP32})
	if err == nil {
		err = n.Bind(ctx, allreducenorm.Buffers{A: n.at["A"], Residual: n.at["Residual"], Norm: n.at["Norm"],
			R: n.at["R"], C: n.at["C"]})
	}
	return n, err
}

// changed is where one bit of an operand differs.
type changed struct {
	operand string
	bytes   int // of it
	ranks   []int
}

// set sets the last bit of the operand on its ranks.
func (c changed) set(n norm, bit byte) error {
	if !slices.Contains(c.ranks, n.Rank()) {
		return nil
	}
	return n.Group().Driver().MemcpyHtoD(n.at[c.operand]+device.Ptr(c.bytes-1), []byte{bit})
}

// differs compares a run's error with the change.
func (c changed) differs(n norm, err error) error {
	var e *alike.DifferenceError
	ranks := c.ranks
	if slices.Contains(ranks, 0) { // against rank 0, all others differ
		ranks = []int{1, 2}
	}
	if !errors.As(err, &e) || len(e.Operands) != 1 || e.Operands[0].Operand != c.operand ||
		!slices.Equal(e.Operands[0].Ranks, ranks) || e.Plan != n.String() || !strings.Contains(err.Error(), e.Error()) {
		return fmt.Errorf("%+v: rank %d gets %w", c, n.Rank(), err)
	}
	return nil
}

// changes has one bit of each operand that must be the same differ, on one rank and on two.
var changes = []changed{{"Residual", 4 * 64 * 4, []int{2}}, {"Norm", 64 * 4, []int{1}}, {"Norm", 64 * 4, []int{0}},
	{"Residual", 4 * 64 * 4, []int{1, 2}}}

// compared runs the plan in each way with one bit that differs, and then without.
func compared(ctx context.Context, g *group.Group) error {
	n, err := newNorm(ctx, g)
	if err != nil {
		return err
	}
	stream, err := device.NewStream(g.Driver(), device.Normal)
	if err != nil {
		return err
	}
	once := func() error { return n.Run(ctx) }
	for _, c := range changes {
		for _, run := range []func() error{once, func() error { return n.Enqueue(stream.Handle()) },
			func() error { return n.Replay(stream.Handle()) }} {
			if err := errors.Join(c.set(n, 1), c.differs(n, run()), c.set(n, 0), run(), once()); err != nil {
				return err
			}
		}
	}
	own := changed{"A", 4, []int{1}} // a part of each rank's own
	return errors.Join(own.set(n, 1), once(), behind(n, stream), stream.Synchronize(), stream.Close(), n.Close(ctx))
}

// behind enqueues a run behind what makes an operand the same on all ranks, and that behind a post that comes later.
func behind(n norm, s *device.Stream) error {
	d := n.Group().Driver()
	word, err := device.Alloc(d, 4)
	if err != nil {
		return err
	}
	other, err := device.NewStream(d, device.Normal)
	if err != nil {
		return err
	}
	batch := func(on *device.Stream, kind driver.MemOpKind) error {
		return d.StreamBatchMemOp(on.Handle(), []driver.MemOp{{Kind: kind, Value: 1, Address: word.Ptr()}})
	}
	err = errors.Join(word.Set(make([]byte, 4)), changes[1].set(n, 1), batch(s, driver.WaitEqual),
		d.MemsetD32Async(n.at["Norm"], 0, 64, s.Handle()))
	posted := make(chan error)
	go func() {
		time.Sleep(10 * time.Millisecond)
		posted <- batch(other, driver.Write)
	}()
	return errors.Join(err, n.Enqueue(s.Handle()), <-posted, s.Synchronize(), other.Close(), word.Close())
}

// TestDifference has one bit of an operand differ on a rank: no rank runs, each gets an error with the operand, the
// plan and the ranks, and the next run is right.
func TestDifference(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := simtest.Config{Config: sim.Config{Devices: 3}, Change: func(c *group.Config) { c.Check = true }}
		if err := simtest.Run(t.Context(), c, compared); err != nil {
			t.Error(err)
		}
	})
}

// TestUnread frees an operand on one rank, which can't read it then: all ranks get an error at once.
func TestUnread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := simtest.Config{Config: sim.Config{Devices: 3}, Change: func(c *group.Config) { c.Check = true }}
		err := simtest.Run(t.Context(), c, func(ctx context.Context, g *group.Group) error {
			n, err := newNorm(ctx, g)
			if err != nil {
				return err
			}
			says := "rank 1 could not read its operands"
			if n.Rank() == 1 {
				says, err = "read Norm: ", g.Driver().MemFree(n.at["Norm"])
			}
			if err != nil {
				return err
			}
			if err := n.Run(ctx); err == nil || !strings.Contains(err.Error(), says) {
				return fmt.Errorf("rank %d gets %w, want %q in it", n.Rank(), err, says)
			}
			return n.Close(ctx)
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// TestDifferenceUnchecked has the bit differ where nothing compares: all ranks run.
func TestDifferenceUnchecked(t *testing.T) {
	simtest.Ranks(t, 3, func(ctx context.Context, g *group.Group) error {
		n, err := newNorm(ctx, g)
		if err != nil {
			return err
		}
		return errors.Join(changes[0].set(n, 1), n.Run(ctx), n.Close(ctx))
	})
}

// TestDifferenceCaptured captures a run: a graph's launches can't meet, so nothing is compared.
func TestDifferenceCaptured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := simtest.Config{Config: sim.Config{Devices: 3}, Change: func(c *group.Config) { c.Check = true }}
		err := simtest.Run(t.Context(), c, func(ctx context.Context, g *group.Group) error {
			n, err := newNorm(ctx, g)
			if err != nil {
				return err
			}
			stream, err := device.NewStream(g.Driver(), device.Normal)
			if err != nil {
				return err
			}
			if err := changes[0].set(n, 1); err != nil {
				return err
			}
			on := stream.Handle()
			graph, err := device.Capture(g.Driver(), on, func() error { return n.Enqueue(on) })
			if err != nil {
				return err
			}
			return errors.Join(graph.Launch(on), g.Watch(ctx, on), graph.Close(), stream.Close(), n.Close(ctx))
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// TestOneCompares has one rank alone compare, which is refused on all.
func TestOneCompares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := simtest.Config{Config: sim.Config{Devices: 3}, Change: func(c *group.Config) { c.Check = c.Rank == 1 }}
		err := simtest.Run(t.Context(), c, func(context.Context, *group.Group) error { return nil })
		if err == nil || strings.Count(err.Error(), "check operands: rank 0 has Config.Check false, rank 1 true") != 3 {
			t.Error(err)
		}
	})
}

// envRank makes the test binary a rank of TestDifferenceOfProcesses.
const envRank = "OVGEN_TEST_ALIKE"

// TestMain is the rank.
func TestMain(m *testing.M) {
	if os.Getenv(envRank) == "" {
		os.Exit(m.Run())
	}
	ctx := context.Background()
	g, err := group.Join(ctx, group.Config{})
	if err == nil {
		err = errors.Join(compared(ctx, g), g.Close(ctx))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// TestDifferenceOfProcesses is TestDifference with a process a rank, which fails where OVGEN_CHECK is empty.
func TestDifferenceOfProcesses(t *testing.T) {
	if sim.Missing() != nil {
		t.Skip(sim.Missing())
	}
	for _, check := range []string{"1", ""} {
		var text bytes.Buffer
		l := launch.Command{Ranks: 3, Driver: "sim", Stdout: &text, Stderr: &text,
			Env: []string{envRank + "=1", launcher.EnvCheck + "=" + check}}
		if err := l.Run(t.Context()); (err == nil) != (check != "") {
			t.Errorf("%s=%s: %v: %s", launcher.EnvCheck, check, err, &text)
		}
	}
}
