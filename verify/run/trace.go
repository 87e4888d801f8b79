package run

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"ovgen/runtime/driver"
	"ovgen/runtime/plan"
	"ovgen/verify/harness"
	"ovgen/verify/timeline"
	"ovgen/verify/trace"
)

// traceCommand makes a few eager runs of each program, and writes when each operation of the last run was at work on
// every rank. That run is queued before the ranks start, so that the pace of the host, which events slow down, does not
// show.
type traceCommand struct {
	running
	out, svg string
}

func (c *traceCommand) bind(f *flag.FlagSet) {
	c.name, c.traces = "trace", true
	c.running.bind(f)
	f.IntVar(&c.hosts, "hosts", 1, "")
	f.Float64Var(&c.network, "network", 0, "")
	f.UintVar(&c.seed, "seed", 1, "")
	f.StringVar(&c.out, "o", "trace.json", "")
	f.StringVar(&c.svg, "svg", "", "")
}

func (c *traceCommand) settle(f *flag.FlagSet, names []string, programs []harness.Program) error {
	if err := c.running.settle(f, names, programs, nil); err != nil {
		return err
	}
	for _, p := range c.programs {
		if len(c.typesOf(&p)) == 0 {
			return fmt.Errorf("trace %s: it takes %v only", p.Name, p.Types)
		}
	}
	if len(c.types) > 1 {
		return fmt.Errorf("trace takes one type, not %d", len(c.types))
	}
	return errors.Join(c.single(), c.fit(c.shapes))
}

func (c *traceCommand) run(code *driver.Code) int {
	return c.measure(code, measuring{groups: c.arguments, do: c.trace, runs: func(int) int { return warmUp + 1 }})
}

func (c *traceCommand) trace(ctx context.Context, r *rank) error {
	var panels []timeline.Panel
	for i := range c.programs {
		p := &c.programs[i]
		typ := c.typesOf(p)[0]
		s := c.shapesOf(p, typ, r.onGPU())[0]
		spans, err := r.traced(ctx, p, s)
		if err != nil {
			return fmt.Errorf("trace %s, %s %s: %w", p.Name, s, s.Type, err)
		}
		panels = append(panels,
			timeline.Panel{Title: fmt.Sprintf("%s %s %s, %d ranks on %s", p.Name, s, s.Type, r.Size(),
				r.drv.Properties().Name), Spans: spans})
	}
	if r.Rank() != 0 {
		return nil
	}
	if c.svg != "" {
		if err := toFile(c.svg, func(w io.Writer) error { return timeline.SVG(w, panels...) }); err != nil {
			return err
		}
	}
	for i, panel := range panels {
		name := c.out
		if len(panels) > 1 {
			name = filepath.Join(filepath.Dir(name), c.programs[i].Name+"."+filepath.Base(name))
		}
		if err := toFile(name,
			func(w io.Writer) error { return timeline.Perfetto(w, panel.Spans) }); err != nil {
			return err
		}
	}
	return nil
}

// toFile writes a file and prints its name.
func toFile(name string, write func(io.Writer) error) (err error) {
	f, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := write(f); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	fmt.Printf("written to %s\n", name)
	return nil
}

// traced runs one program and gathers the spans of all ranks. Time zero is when the ranks' streams have met.
func (r *rank) traced(ctx context.Context, p *harness.Program, s harness.Shape) (spans []timeline.Span, err error) {
	l, err := r.newLab(ctx, []*harness.Program{p}, s)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.free(ctx)) }()
	t, err := r.newTimer()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	for range warmUp {
		if _, err := t.measure(l.plans[0].Enqueue, false); err != nil {
			return nil, err
		}
	}
	if _, err := t.measure(func(s driver.Stream) error {
		if err := r.tracer.Start(s); err != nil {
			return err
		}
		return l.plans[0].Enqueue(s)
	}, true); err != nil {
		return nil, err
	}
	mine, err := r.tracer.Stop(streamNames(base(l.plans[0])))
	if err != nil {
		return nil, err
	}
	trace.Name(mine, base(l.plans[0]).Steps())
	return r.gatherSpans(ctx, mine)
}

// tilesOf are the kernels of tiles that a plan could take.
func tilesOf(p harness.Plan) []string { return base(p).Tiles() }

// base is the part of a generated plan that all packages have in common.
func base(p harness.Plan) *plan.Plan { return p.(interface{ Base() *plan.Plan }).Base() }

// streamNames gives the plan's streams their names; the caller's stream stands for main.
func streamNames(p *plan.Plan) func(driver.Stream) string {
	names := p.Streams()
	return func(s driver.Stream) string {
		if name, ok := names[s]; ok {
			return name
		}
		return plan.MainStream
	}
}

func (r *rank) gatherSpans(ctx context.Context, mine []timeline.Span) ([]timeline.Span, error) {
	for i := range mine {
		mine[i].Rank = r.Rank()
	}
	text, err := json.Marshal(mine)
	if err != nil {
		return nil, err
	}
	blobs, err := r.Gather(ctx, "spans", text)
	if err != nil {
		return nil, err
	}
	var all []timeline.Span
	for _, b := range blobs {
		var some []timeline.Span
		if err := json.Unmarshal(b, &some); err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}
