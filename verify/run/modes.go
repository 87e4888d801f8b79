package run

import (
	"context"
	"flag"
	"time"

	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/verify/harness"
	"ovgen/verify/inject"
	"ovgen/verify/reference"
)

// Ways to run a plan.
const (
	modeEager    = "eager"
	modeReplayed = "replayed"
	modeCaptured = "captured"   // in a graph of the caller
	modeOwn      = "own stream" // Run of a program that can't be replayed
	modeRow      = "in a row"   // enqueued one after the other, before the host looks at any result
	modeReal     = "real"
)

// runner runs a plan in a mode.
type runner struct {
	r     *rank
	plan  harness.Plan
	turn  int           // of the replayed runs
	graph *device.Graph // the caller's graph, in which the captured runs are
}

// capture captures the plan, if the mode needs a graph.
func (c *runner) capture(mode string) (err error) {
	if s := c.r.Caller.Handle(); mode == modeCaptured {
		c.graph, err = device.Capture(c.r.drv, s, func() error { return c.plan.Enqueue(s) })
	}
	return err
}

// release frees the captured graph.
func (c *runner) release() (err error) {
	if c.graph != nil {
		err, c.graph = c.graph.Close(), nil
	}
	return err
}

// start runs the plan once: after the work of s or, replayed, by itself. Every second replayed run is a Replay on s.
func (c *runner) start(ctx context.Context, mode string, s driver.Stream) error {
	switch mode {
	case modeCaptured:
		return c.graph.Launch(s)
	case modeEager, modeReal:
		return c.plan.Enqueue(s)
	}
	if c.turn++; c.turn%2 == 0 && mode == modeReplayed {
		return c.plan.Replay(s)
	}
	if err := c.r.drv.StreamSynchronize(s); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, c.r.timeout)
	defer cancel()
	return c.plan.Run(ctx)
}

// disturbing says how runs are disturbed.
type disturbing struct{ delays, straggler bool }

func (d *disturbing) bind(f *flag.FlagSet) {
	f.BoolVar(&d.delays, "delays", false, "")
	f.BoolVar(&d.straggler, "straggler", false, "")
}

// delay delays random operations, if the flags ask for it; the rank has joined with a filter.
func (d disturbing) delay(r *rank) {
	if d.delays {
		r.filter.Before = inject.Delay(r.Kernels.SpinFor, uint64(r.seed)<<8+uint64(r.Rank()), 4, 100*time.Microsecond)
	}
}

// disturb makes this rank late, as the flags say.
func (d disturbing) disturb(r *rank, run uint32, s driver.Stream) error {
	chance := reference.Hash(r.Seed, int64(run)<<8|0xff)
	if d.straggler && int(chance%uint32(r.Size())) == r.Rank() {
		if chance>>16&1 == 0 {
			time.Sleep(2 * time.Millisecond) // the host is late, else the device
		} else if err := r.Kernels.SpinFor(s, 2*time.Millisecond); err != nil {
			return err
		}
	}
	if !d.delays {
		return nil
	}
	own := reference.Hash(r.Seed, int64(run)<<8|int64(r.Rank()))
	return r.Kernels.SpinFor(s, time.Duration(own%200)*time.Microsecond)
}
