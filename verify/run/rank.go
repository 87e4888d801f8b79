package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/group/store"
	"ovgen/runtime/launcher"
	"ovgen/verify/harness"
	"ovgen/verify/inject"
	"ovgen/verify/trace"
)

// seat is the place of a rank among the ranks of one process: its number, and where the ranks meet.
type seat struct {
	rank    int
	network store.Network
}

// joining says how the ranks of a command join.
type joining struct {
	hosts   int
	seed    uint
	network float64 // GB/s of a played network; 0: no network is played
	filters bool    // a filter is around the driver
	traces  bool    // a tracer is around the driver
	graphs  int     // the most graphs of the caller, where the plans of all shapes exist together; 0: the usual number
}

// rank is one rank of a command.
type rank struct {
	harness.Member
	joining
	timeout time.Duration
	drv     driver.Driver
	filter  *inject.Filter // around the driver, if asked for
	tracer  *trace.Driver  // around the driver, if asked for
	// spinner makes the delays of a played network, unseen by the tracer.
	spinner *harness.Kernels
	shown   progress
}

// networkLatency is the latency of each exchange over a played network, the same as in package cost.
const networkLatency = 25 * time.Microsecond

// arenaSlack is room for a plan's staging beside A.
const arenaSlack = 2 << 20

// join joins the ranks of a command.
func (o *running) join(ctx context.Context, s *seat, code *driver.Code) (*rank, error) {
	j := o.joining
	r := &rank{Member: harness.Member{Seed: uint32(j.seed)}, joining: j, timeout: o.timeout}
	c := group.Config{Backend: cmp.Or(o.driver, os.Getenv(launcher.EnvDriver), "auto"), Cache: o.cache,
		Graphs: j.graphs}
	if c.Backend == "sim" {
		r.timeout += o.slowest() // every rank of a launch computes the same time
	}
	onGPU, words := c.Backend != "sim", int64(0)
	if j.graphs > 0 {
		words = o.words(onGPU)
	}
	c.Timeout, c.Arena = r.timeout, group.ArenaBytes(o.staging(onGPU)+arenaSlack, words)
	if s != nil {
		c.Rank, c.Size, c.Job, c.Local, c.Network = s.rank, o.ranks, "of one process", true, s.network
		c.Host = launcher.PlayedHost(s.rank, o.ranks, j.hosts)
	}
	if j.network > 0 { // Join sets NCCL_HOSTID where the variable names the host, and then NCCL would use its sockets
		c.Host = cmp.Or(c.Host, os.Getenv(launcher.EnvHost))
	}
	if j.filters || j.traces || j.network > 0 {
		c.Decorate = r.decorated
	}
	var err error
	if r.Group, err = group.Join(ctx, c); err != nil {
		return nil, err
	}
	if n := r.Hosts(); n != j.hosts {
		err := fmt.Errorf("-hosts %d: the ranks are on %d (set %s for each)", j.hosts, n, launcher.EnvHost)
		return nil, errors.Join(err, r.close(ctx))
	}
	if err := r.prepare(code); err != nil {
		return nil, errors.Join(err, r.close(ctx))
	}
	return r, nil
}

// decorated wraps the driver in the command's decorators.
func (r *rank) decorated(d driver.Driver) driver.Driver {
	if r.filters || r.network > 0 {
		r.filter = inject.New(d)
		d = r.filter
	}
	if r.traces { // the delays of a network are part of its exchanges
		r.tracer = trace.New(d)
		d = r.tracer
	}
	return d
}

func (r *rank) prepare(code *driver.Code) (err error) {
	r.drv = r.Driver()
	if r.Kernels, err = harness.LoadKernels(r.drv, code); err != nil {
		return err
	}
	if r.Caller, err = device.NewStream(r.drv, driver.Low); err != nil {
		return err
	}
	if r.Space, err = r.drv.MemAlloc(driver.WorkspaceBytes); err != nil {
		return fmt.Errorf("allocate a workspace: %w", err)
	}
	if r.network > 0 {
		if r.spinner, err = harness.LoadKernels(r.filter, code); err != nil {
			return err
		}
		r.filter.Before = inject.Network(r.spinner.SpinFor, r.network*1e9, networkLatency)
	}
	r.shown = progress{to: os.Stderr, on: r.Rank() == 0, terminal: os.Getenv(showProgress) != ""}
	return nil
}

// close leaves the group, within a bounded time.
func (r *rank) close(ctx context.Context) error {
	r.shown.clear()
	var errs []error
	if r.Space != 0 {
		errs = append(errs, r.drv.MemFree(r.Space))
	}
	if r.Caller != nil {
		errs = append(errs, r.Caller.Close())
	}
	for _, k := range []*harness.Kernels{r.Kernels, r.spinner} {
		if k != nil {
			errs = append(errs, k.Close())
		}
	}
	if err := r.Group.Close(ctx); err != nil && r.Group.Err() == nil {
		errs = append(errs, err) // the call that an abort ended has reported it
	}
	return errors.Join(errs...)
}

// onGPU reports whether the ranks run on GPUs.
func (r *rank) onGPU() bool { return r.drv.Name() == "cuda" }

// greet prints the number of ranks, the device and the driver. Where the command measures in the simulator, it says
// that the times mean nothing.
func (o *running) greet(r *rank, measures, json bool) {
	if r.Rank() != 0 {
		return
	}
	simulated := "simulated: these times say nothing of a GPU's"
	if r.onGPU() || !measures {
		simulated = ""
	}
	if json {
		if simulated != "" {
			fmt.Fprintln(os.Stderr, simulated)
		}
		return
	}
	fmt.Printf("%d ranks on %s, driver %s\n", r.Size(), r.drv.Properties().Name, r.Choice())
	if simulated != "" {
		fmt.Println(simulated)
	}
	if r.network > 0 {
		fmt.Printf("the network is played: each exchange waits %v and its bytes at %g GB/s, and goes as on one host\n",
			networkLatency, r.network)
	}
	for _, p := range o.programs {
		fmt.Printf("%s: %s\n", p.Name, p.Proof)
	}
}

// measuring is work in one group that compares no results.
type measuring struct {
	json   bool
	groups [][]*harness.Program // of programs that are measured together
	runs   func(programs int) int
	do     func(context.Context, *rank) error
}

// measure joins, measures, and leaves.
func (o *running) measure(code *driver.Code, m measuring) int {
	return o.start(func(ctx context.Context, s *seat) (right bool, err error) {
		r, err := o.join(ctx, s, code)
		if err != nil {
			return false, err
		}
		defer func() { err = errors.Join(err, r.close(ctx)) }()
		o.greet(r, true, m.json)
		if err := o.affordable(r, m.groups, m.runs); err != nil {
			return false, err
		}
		return true, m.do(ctx, r)
	})
}

// progress is one line on a terminal, for work that takes more than two seconds; elsewhere it is a line every half
// minute.
type progress struct {
	to           io.Writer
	on, terminal bool
	began, last  time.Time
	drawn        bool
}

// show replaces the line.
func (p *progress) show(format string, args ...any) {
	now := time.Now()
	if p.began.IsZero() {
		p.began, p.last = now, now
	}
	switch {
	case !p.on:
	case p.terminal && now.Sub(p.began) >= 2*time.Second && now.Sub(p.last) >= 200*time.Millisecond:
		p.last, p.drawn = now, true
		fmt.Fprintf(p.to, "\r\x1b[K"+format, args...)
	case !p.terminal && now.Sub(p.last) >= 30*time.Second:
		p.last = now
		fmt.Fprintf(p.to, format+"\n", args...)
	}
}

// clear removes the line.
func (p *progress) clear() {
	if p.drawn {
		fmt.Fprint(p.to, "\r\x1b[K")
	}
	p.drawn = false
}
