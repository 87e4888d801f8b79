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

// seat is the place of a rank of one process: its number, and where the ranks meet.
type seat struct {
	rank    int
	network store.Network
}

// rank is one rank of a verify or a bench.
type rank struct {
	harness.Member
	o      *options
	drv    driver.Driver
	filter *inject.Filter // around the driver, if asked for
	tracer *trace.Driver  // likewise
	// spinner makes the delays of a network that is played, unseen by the tracer.
	spinner *harness.Kernels
	shown   progress
}

// networkLatency is the latency of each exchange over a played network, the same as in package cost.
const networkLatency = 25 * time.Microsecond

// arenaSlack is room for a plan's staging beside A.
const arenaSlack = 2 << 20

func join(ctx context.Context, o *options, code *driver.Code) (*rank, error) {
	r := &rank{Member: harness.Member{Seed: o.seed}, o: o}
	c := group.Config{Backend: cmp.Or(o.driver, os.Getenv(launcher.EnvDriver), "auto"), Timeout: o.timeout,
		Cache: o.cache, Arena: group.ArenaBytes(o.staging(true)+arenaSlack, 0)}
	if c.Backend == "sim" {
		o.timeout += o.slowest() // every rank of a launch comes to the same
		c.Timeout = o.timeout
		c.Arena = group.ArenaBytes(o.staging(false)+arenaSlack, 0)
	}
	if s := o.seat; s != nil {
		c.Rank, c.Size, c.Job, c.Local, c.Network = s.rank, o.ranks, "of one process", true, s.network
		c.Host = launcher.PlayedHost(s.rank, o.ranks, o.hosts)
	}
	if o.network > 0 { // Join sets NCCL_HOSTID where the variable names the host, and NCCL would use its sockets
		c.Host = cmp.Or(c.Host, os.Getenv(launcher.EnvHost))
	}
	switch {
	case o.command.name == "layers":
		c.Arena = group.ArenaBytes(o.staging(c.Backend != "sim")+arenaSlack, o.words(c.Backend != "sim"))
		c.Graphs = o.layers + 1
	case o.command.name == "trace", o.delays, o.nosteps, o.network > 0:
		c.Decorate = r.decorated
	}
	var err error
	if r.Group, err = group.Join(ctx, c); err != nil {
		return nil, err
	}
	if n := r.Hosts(); n != o.hosts {
		err := fmt.Errorf("-hosts %d: the ranks are on %d (set %s for each)", o.hosts, n, launcher.EnvHost)
		return nil, errors.Join(err, r.close(ctx))
	}
	if err := r.prepare(code); err != nil {
		return nil, errors.Join(err, r.close(ctx))
	}
	return r, nil
}

// decorated wraps the driver in the decorators that the options ask for.
func (r *rank) decorated(d driver.Driver) driver.Driver {
	if r.o.delays || r.o.nosteps || r.o.network > 0 {
		r.filter = inject.New(d)
		d = r.filter
	}
	if r.o.command.name == "trace" { // the delays of a network are part of its exchanges
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
	if r.o.delays {
		r.filter.Before = inject.Delay(r.Kernels.SpinFor, uint64(r.o.seed)<<8+uint64(r.Rank()), 4,
			100*time.Microsecond)
	}
	if r.o.network > 0 {
		if r.spinner, err = harness.LoadKernels(r.filter, code); err != nil {
			return err
		}
		r.filter.Before = inject.Network(r.spinner.SpinFor, r.o.network*1e9, networkLatency)
	}
	r.shown = progress{to: os.Stderr, on: r.Rank() == 0, terminal: os.Getenv(showProgress) != ""}
	return nil
}

// close leaves the group; it is bounded.
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

// greet prints the number of ranks, the device and the driver.
func (r *rank) greet() {
	if r.Rank() != 0 {
		return
	}
	simulated := "simulated: these times say nothing of a GPU's"
	if r.onGPU() || r.o.command.name == "verify" {
		simulated = ""
	}
	if r.o.json {
		if simulated != "" {
			fmt.Fprintln(os.Stderr, simulated)
		}
		return
	}
	fmt.Printf("%d ranks on %s, driver %s\n", r.Size(), r.drv.Properties().Name, r.Choice())
	if simulated != "" {
		fmt.Println(simulated)
	}
	if r.o.network > 0 {
		fmt.Printf("the network is played: each exchange waits %v and its bytes at %g GB/s, and goes as on one host\n",
			networkLatency, r.o.network)
	}
	for _, p := range r.o.programs {
		fmt.Printf("%s: %s\n", p.Name, p.Proof)
	}
}

// progress is one line on a terminal for work that takes more than two seconds, elsewhere a
// line every half minute.
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
