package run

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/verify/harness"
)

// warmUp is the number of rounds that are not counted.
const warmUp = 3

// sample is one measurement on one rank.
type sample struct {
	device float64 // ms from start to end on the stream
	host   float64 // us the host spent to enqueue it
}

// series are the samples of one variant, one a round.
type series struct {
	variant variant
	gated   bool
	rounds  []sample
}

// rounds are the rounds of bench and tune.
type rounds struct{ iters int }

func (c *rounds) bind(f *flag.FlagSet) { f.IntVar(&c.iters, "iters", 0, "") }

func (c *rounds) check() error {
	if c.iters < 0 {
		return errIters
	}
	return nil
}

var errIters = errors.New("-iters must be positive")

// number is the number of measured rounds.
func (c *rounds) number() int {
	if c.iters == 0 {
		return 16
	}
	return c.iters
}

// few is the number of rounds of a shape, at most the default.
func (c *rounds) few() int { return warmUp + min(c.number(), 16) }

// benchCommand measures every program in every type and shape, and prints as it goes. Programs that are named together
// are measured together.
type benchCommand struct {
	running
	rounds
	json    bool
	nosteps bool // measure also without step words
	inturn  bool // measure all named programs in one run
}

func (c *benchCommand) bind(f *flag.FlagSet) {
	c.name, c.typed, c.shaped = "bench", true, func(p *harness.Program, onGPU bool) []harness.Shape {
		if len(c.shapes) > 0 {
			return c.shapes
		}
		return p.BenchShapes(c.ranks, onGPU)
	}
	c.running.bind(f)
	c.rounds.bind(f)
	f.IntVar(&c.hosts, "hosts", 1, "")
	f.Float64Var(&c.network, "network", 0, "")
	f.UintVar(&c.seed, "seed", 1, "")
	f.BoolVar(&c.json, "json", false, "")
	f.BoolVar(&c.nosteps, "nosteps", false, "")
	f.BoolVar(&c.inturn, "inturn", false, "")
}

func (c *benchCommand) settle(f *flag.FlagSet, names []string, programs []harness.Program) error {
	if err := c.running.settle(f, names, programs, c.rounds.check()); err != nil {
		return err
	}
	c.filters = c.nosteps
	return errors.Join(c.taken(), c.fit(c.shapes))
}

func (c *benchCommand) run(code *driver.Code) int {
	if c.together = c.arguments; c.inturn {
		c.together = [][]*harness.Program{slices.Concat(c.arguments...)}
	}
	return c.measure(code, measuring{
		json: c.json, groups: c.arguments, do: c.bench,
		// The products too, whole and in chunks, gated and not.
		runs: func(programs int) int { return (2*programs + 2) * 2 * c.few() },
	})
}

func (c *benchCommand) bench(ctx context.Context, r *rank) error {
	list := slices.Collect(slices.Chunk(c.arguments, 1))
	if c.inturn {
		list = [][][]*harness.Program{c.arguments}
	}
	for _, arguments := range list {
		first := arguments[0][0]
		for _, typ := range c.typesOf(first) {
			for _, s := range c.shapesOf(first, typ, r.onGPU()) {
				if err := c.benchShape(ctx, r, arguments, s); err != nil {
					return fmt.Errorf("bench %s, %s %s: %w", first.Name, s, s.Type, err)
				}
			}
		}
	}
	return nil
}

// benchShape measures the programs of some arguments, all of them in each round. The programs of one argument share
// tensors.
func (c *benchCommand) benchShape(ctx context.Context, r *rank, arguments [][]*harness.Program,
	s harness.Shape) (err error) {
	var labs []*lab
	defer func() {
		for _, l := range labs {
			err = errors.Join(err, l.free(ctx))
		}
	}()
	var all []*series
	ends := []int{0} // of each lab's series
	for _, programs := range arguments {
		l, err := r.newLab(ctx, programs, s)
		if err != nil {
			return err
		}
		labs = append(labs, l)
		variants, err := l.variants(ctx, c.nosteps)
		if err != nil {
			return err
		}
		for _, v := range variants {
			all = append(all, &series{variant: v}, &series{variant: v, gated: true})
		}
		ends = append(ends, len(all))
	}
	merged, err := labs[0].measure(ctx, all, c.number())
	if err != nil || r.Rank() != 0 {
		return err
	}
	for i, l := range labs {
		l.print(merged[ends[i]:ends[i+1]], c.json)
	}
	return nil
}

// measure runs the rounds of all series in turn, including series of other labs, and merges the ranks' times.
func (l *lab) measure(ctx context.Context, all []*series, rounds int) (merged []*series, err error) {
	t, err := l.r.newTimer()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	for i := range warmUp + rounds {
		for _, x := range all {
			l.r.shown.show("%s %s %s: round %d of %d, %s", l.names(), l.Shape, l.Shape.Type, i+1,
				warmUp+rounds, x.variant.name)
			one, err := t.measure(x.variant.enqueue, x.gated)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", x.variant.name, err)
			}
			if i >= warmUp {
				x.rounds = append(x.rounds, one)
			}
		}
	}
	l.r.shown.clear()
	return l.merge(ctx, all)
}

// names of the programs that are measured together.
func (l *lab) names() string {
	var names []string
	for _, p := range l.programs {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}

// timer measures the work enqueued on the caller's stream.
type timer struct {
	r          *rank
	barrier    *barrier
	start, end *device.Event
}

func (r *rank) newTimer() (t *timer, err error) {
	t = &timer{r: r}
	if t.barrier, err = r.newBarrier(); err != nil {
		return nil, err
	}
	if t.start, err = device.NewEvent(r.drv, true); err != nil {
		return nil, err
	}
	t.end, err = device.NewEvent(r.drv, true)
	return t, err
}

func (t *timer) close() error {
	return errors.Join(t.barrier.close(), t.start.Close(), t.end.Close())
}

// measure times one enqueue from the moment when the ranks' streams have met. Ungated, the host begins to enqueue only
// then; gated, everything is queued before.
func (t *timer) measure(enqueue func(driver.Stream) error, gated bool) (x sample, err error) {
	s := t.r.Caller
	if gated {
		err = t.barrier.hold(s.Handle())
	}
	if err = errors.Join(err, t.barrier.meet(s.Handle())); err != nil {
		return x, err
	}
	if !gated {
		if err := t.barrier.met.wait(t.r.Size(), t.r.Err); err != nil {
			return x, err
		}
	}
	if err := t.start.Record(s); err != nil {
		return x, err
	}
	began := time.Now()
	err = enqueue(s.Handle())
	x.host = float64(time.Since(began)) / float64(time.Microsecond)
	if err = errors.Join(err, t.end.Record(s)); err != nil {
		return x, err
	}
	if gated {
		if err := t.barrier.open(); err != nil {
			return x, err
		}
	}
	if err := t.synchronize(); err != nil {
		return x, err
	}
	ms, err := t.end.Since(t.start)
	x.device = float64(ms)
	return x, err
}

func (t *timer) synchronize() error {
	if err := t.r.Caller.Synchronize(); err != nil {
		return err
	}
	return t.r.Err()
}

// merge gathers all ranks' samples, and keeps the slowest rank's sample of each round.
func (l *lab) merge(ctx context.Context, all []*series) ([]*series, error) {
	var mine []byte
	for _, x := range all {
		for _, one := range x.rounds {
			mine = binary.LittleEndian.AppendUint64(mine, math.Float64bits(one.device))
			mine = binary.LittleEndian.AppendUint64(mine, math.Float64bits(one.host))
		}
	}
	blobs, err := l.r.Gather(ctx, fmt.Sprintf("times of %s %s %s", l.names(), l.Shape, l.Shape.Type), mine)
	if err != nil {
		return nil, err
	}
	for from, b := range blobs {
		if len(b) != len(mine) {
			return nil, fmt.Errorf("rank %d sent %d bytes of times, not %d "+
				"(all ranks must run the same command)", from, len(b), len(mine))
		}
		next := func() float64 {
			v := math.Float64frombits(binary.LittleEndian.Uint64(b))
			b = b[8:]
			return v
		}
		for _, x := range all {
			for i := range x.rounds {
				x.rounds[i].device = max(x.rounds[i].device, next())
				x.rounds[i].host = max(x.rounds[i].host, next())
			}
		}
	}
	return all, nil
}
