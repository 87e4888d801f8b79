package run

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/runtime/plan"
	"ovgen/verify/harness"
)

// The rows per bucket and rank of layers, where no shape is asked for.
const (
	bucketRows, simulatedBucketRows = 32, 4
)

// bucketShapes are the shapes of a program's plans. -buckets says how many numbers of rows there are, up to m; each but
// the last is a multiple of the number of ranks.
func (c *layersCommand) bucketShapes(onGPU bool) []harness.Shape {
	most := harness.Shape{M: c.buckets * c.ranks * simulatedBucketRows, K: 64, N: 48}
	if onGPU {
		most = harness.Shape{M: c.buckets * c.ranks * bucketRows, K: 8192, N: 8192}
	}
	if len(c.shapes) > 0 {
		most = c.shapes[0]
	}
	var list []harness.Shape
	for i := range c.buckets {
		s := most
		if i < c.buckets-1 {
			each := c.buckets * c.ranks
			s.M = (most.M*(i+1) + each - 1) / each * c.ranks
		}
		list = append(list, s)
	}
	return list
}

// operation is one operation of a model's layers: the plans of a program by bucket, and the memory of each layer in the
// order of Bind.
type operation struct {
	program *harness.Program
	shapes  []harness.Shape
	plans   []*plan.Plan
	layers  [][]driver.Ptr
}

// model is the plans and memory of a model's layers.
type model struct {
	*layersCommand
	r          *rank
	operations []*operation
	memory     []*device.Buffer
	standing   standing
}

// standing is the output of layers for one rank: times and bytes.
type standing struct {
	Layers     int    `json:"layers"`
	Operations int    `json:"operations"`
	Buckets    int    `json:"buckets"`
	Ranks      int    `json:"ranks"`
	Driver     string `json:"driver"`
	Rows       []int  `json:"rows"` // of each bucket

	// New: time of each plan's New.
	// First: time of each plan's first Bind, which is collective.
	// Bind: time of a Bind of each layer's weights.
	// Again: time of another such Bind, with the memory of another layer in between.
	New   spread `json:"new_us"`
	First spread `json:"first_bind_us"`
	Bind  spread `json:"bind_us"`
	Again spread `json:"bind_again_us"`
	// Replay: the host's part of each layer's first Replay, which captures the plan's graph.
	// Replayed: the host's part of later replays. Both are of the largest bucket.
	Replay   spread `json:"first_replay_us"`
	Replayed spread `json:"replay_us"`
	// Capture: time of capturing all layers and operations in one graph of the caller, for each bucket.
	// Step: time of a run of that graph, for each bucket.
	Capture spread `json:"capture_us"`
	Step    spread `json:"step_us"`

	Weights     int64 `json:"weights_bytes"`     // of all layers
	Activations int64 `json:"activations_bytes"` // of the memory that the layers share
	Staging     int64 `json:"staging_bytes"`     // of the arena
	Words       int64 `json:"words"`             // of the arena, 4 bytes each
	Workspaces  int64 `json:"workspaces_bytes"`
	Heap        int64 `json:"heap_bytes"` // of Go, by the plans
}

// spread is of several times, in microseconds.
type spread struct {
	N      int     `json:"n"`
	Median float64 `json:"median"`
	Most   float64 `json:"most"`
	Sum    float64 `json:"sum"`
}

func spreadOf(times []time.Duration) (s spread) {
	slices.Sort(times)
	for _, t := range times {
		s.Sum += microseconds(t)
	}
	if s.N = len(times); s.N > 0 {
		s.Median, s.Most = microseconds(times[s.N/2]), microseconds(times[s.N-1])
	}
	return s
}

func microseconds(t time.Duration) float64 { return float64(t) / float64(time.Microsecond) }

// layersCommand makes a model's plans in one group, binds each plan to every layer's weights, and prints the times and
// the memory. It compares no results: verify does.
type layersCommand struct {
	running
	json    bool
	layers  int // of the model
	buckets int // the numbers of rows that the model takes
}

func (c *layersCommand) bind(f *flag.FlagSet) {
	c.name, c.typed = "layers", true
	c.shaped = func(_ *harness.Program, onGPU bool) []harness.Shape { return c.bucketShapes(onGPU) }
	c.running.bind(f)
	f.IntVar(&c.hosts, "hosts", 1, "")
	f.BoolVar(&c.json, "json", false, "")
	f.IntVar(&c.layers, "layers", 80, "")
	f.IntVar(&c.buckets, "buckets", 20, "")
}

func (c *layersCommand) settle(f *flag.FlagSet, names []string, programs []harness.Program) error {
	var own error
	if c.layers < 1 || c.buckets < 1 {
		own = fmt.Errorf("-layers %d, -buckets %d: at least 1 of each", c.layers, c.buckets)
	}
	if err := c.running.settle(f, names, programs, own); err != nil {
		return err
	}
	c.graphs = c.layers + 1
	shapes := c.shapes
	if len(shapes) > 0 {
		shapes = c.bucketShapes(false)
	}
	return errors.Join(c.taken(), c.single(), c.fit(shapes))
}

func (c *layersCommand) run(code *driver.Code) int {
	return c.measure(code, measuring{json: c.json, groups: c.arguments, do: c.stand,
		runs: func(int) int { return 2 * c.layers * c.buckets }}) // two runs of each bucket, by the largest one
}

func (c *layersCommand) stand(ctx context.Context, r *rank) (err error) {
	m := &model{layersCommand: c, r: r, standing: standing{Layers: c.layers, Operations: len(c.programs),
		Buckets: c.buckets, Ranks: r.Size(), Driver: r.drv.Name()}}
	defer func() { err = errors.Join(err, m.close(ctx)) }()
	for i := range c.programs {
		if err := m.allocate(&c.programs[i]); err != nil {
			return err
		}
	}
	for _, step := range []func(context.Context) error{m.make, m.bind, m.replay, m.capture} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	r.shown.clear()
	if r.Rank() == 0 {
		return m.standing.print(c.json)
	}
	return nil
}

// allocate makes the memory of an operation, as its largest bucket needs it: for each layer the buffers that no peer
// uses and no run writes, and one set of the other buffers.
func (m *model) allocate(p *harness.Program) error {
	op := &operation{program: p, layers: make([][]driver.Ptr, m.layers)}
	t := m.typesOf(p)[0]
	op.shapes = m.shapesOf(p, t, m.r.onGPU())
	if len(op.shapes) != m.buckets {
		return fmt.Errorf("%s has %d different numbers of rows (-buckets %[2]d, or more rows)", p.Name, len(op.shapes))
	}
	var need plan.Memory
	for i, s := range op.shapes {
		one, err := p.Memory(m.r.Size(), s)
		if err != nil {
			return fmt.Errorf("measure %s, %s: %w", p.Name, s, err)
		}
		if i == 0 {
			need = one
		}
		need.Cover(one)
		m.standing.Words += one.Words
	}
	m.standing.Staging = max(m.standing.Staging, need.Staging)
	m.standing.Rows = nil
	for _, s := range op.shapes {
		m.standing.Rows = append(m.standing.Rows, s.M)
	}
	x, err := p.Problem(op.shapes[0], m.r.Size())
	if err != nil {
		return err
	}
	for _, b := range need.Buffers {
		own := !b.Shared && !x.Result(b.Name)
		var at driver.Ptr
		for l := range op.layers {
			if l == 0 || own {
				memory, err := device.Alloc(m.r.drv, b.Bytes)
				if err != nil {
					return fmt.Errorf("allocate %s of layer %d of %s: %w", b.Name, l, p.Name, err)
				}
				m.memory = append(m.memory, memory)
				at = memory.Ptr()
				if own {
					m.standing.Weights += b.Bytes
				} else {
					m.standing.Activations += b.Bytes
				}
			}
			op.layers[l] = append(op.layers[l], at)
		}
	}
	m.operations = append(m.operations, op)
	return nil
}

// make makes the plans, and binds each plan for the first time.
func (m *model) make(ctx context.Context) error {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var made, first []time.Duration
	workspaces := map[driver.Ptr]bool{}
	for _, op := range m.operations {
		for i, s := range op.shapes {
			m.r.shown.show("%s: plan %d of %d", op.program.Name, i+1, len(op.shapes))
			start := time.Now()
			p, err := op.program.New(ctx, m.r.Group, s)
			if err != nil {
				return fmt.Errorf("make plan of %s, %s: %w", op.program.Name, s, err)
			}
			made = append(made, time.Since(start))
			base := p.(plan.Runner).Base()
			op.plans = append(op.plans, base)
			start = time.Now()
			if err := base.Bind(ctx, op.layers[0]...); err != nil {
				return err
			}
			first = append(first, time.Since(start))
			for _, at := range base.Layout() {
				if strings.HasPrefix(at.Name, "workspace[") {
					workspaces[at.Base] = true
				}
			}
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	x := &m.standing
	x.New, x.First = spreadOf(made), spreadOf(first)
	x.Workspaces = int64(len(workspaces)) * driver.WorkspaceBytes
	x.Heap = int64(after.HeapAlloc) - int64(before.HeapAlloc)
	return nil
}

// each calls f for every layer and operation of a bucket, in the order of the model, with the plan bound.
func (m *model) each(ctx context.Context, bucket int, f func(*plan.Plan) error) error {
	for l := range m.layers {
		for _, op := range m.operations {
			p := op.plans[bucket]
			if err := p.Bind(ctx, op.layers[l]...); err != nil {
				return err
			}
			if err := f(p); err != nil {
				return fmt.Errorf("layer %d: %w", l, err)
			}
		}
	}
	return nil
}

// bind binds every layer's weights to every plan, twice.
func (m *model) bind(ctx context.Context) error {
	for _, to := range []*spread{&m.standing.Bind, &m.standing.Again} {
		var times []time.Duration
		for bucket := range m.buckets {
			for l := range m.layers {
				for _, op := range m.operations {
					start := time.Now()
					if err := op.plans[bucket].Bind(ctx, op.layers[l]...); err != nil {
						return err
					}
					times = append(times, time.Since(start))
				}
			}
		}
		*to = spreadOf(times)
	}
	return nil
}

// replay replays the largest bucket layer by layer, twice.
func (m *model) replay(ctx context.Context) error {
	if m.eager() {
		return nil
	}
	for _, to := range []*spread{&m.standing.Replay, &m.standing.Replayed} {
		m.r.shown.show("replay %d layers", m.layers)
		var times []time.Duration
		err := m.each(ctx, m.buckets-1, func(p *plan.Plan) error {
			start := time.Now()
			err := p.Replay(m.r.Caller.Handle())
			times = append(times, time.Since(start))
			return err
		})
		if err = errors.Join(err, m.r.Watch(ctx, m.r.Caller.Handle())); err != nil {
			return err
		}
		*to = spreadOf(times)
	}
	return nil
}

// eager reports whether some program can't be captured.
func (m *model) eager() bool {
	return slices.ContainsFunc(m.operations, func(op *operation) bool { return op.program.Eager })
}

// capture captures all layers of each bucket in one graph, as a server does, and launches each graph once to warm up
// and once for its time.
func (m *model) capture(ctx context.Context) error {
	if m.eager() {
		return nil
	}
	var captured, steps []time.Duration
	for bucket := range m.buckets {
		m.r.shown.show("bucket %d of %d", bucket+1, m.buckets)
		s := m.r.Caller
		start := time.Now()
		g, err := device.Capture(m.r.drv, s.Handle(), func() error {
			return m.each(ctx, bucket, func(p *plan.Plan) error { return p.Enqueue(s.Handle()) })
		})
		if err != nil {
			return err
		}
		captured = append(captured, time.Since(start))
		var step time.Duration
		for range 2 {
			start = time.Now()
			if err = errors.Join(g.Launch(s.Handle()), m.r.Watch(ctx, s.Handle())); err != nil {
				break
			}
			step = time.Since(start)
		}
		if err = errors.Join(err, g.Close()); err != nil {
			return err
		}
		steps = append(steps, step)
	}
	m.standing.Capture, m.standing.Step = spreadOf(captured), spreadOf(steps)
	return nil
}

// close frees everything.
func (m *model) close(ctx context.Context) error {
	var errs []error
	for _, op := range m.operations {
		for _, p := range op.plans {
			errs = append(errs, p.Close(ctx))
		}
	}
	if m.r.Err() != nil {
		return nil // the call that the abort ended has reported it
	}
	for _, b := range m.memory {
		errs = append(errs, b.Close())
	}
	return errors.Join(errs...)
}

// print writes rank 0's figures.
func (x *standing) print(asJSON bool) error {
	if asJSON {
		return json.NewEncoder(os.Stdout).Encode(x)
	}
	fmt.Printf("%d layers, %d operations, %d buckets of %d to %d rows: %d plans\n", x.Layers, x.Operations, x.Buckets,
		x.Rows[0], x.Rows[len(x.Rows)-1], x.Operations*x.Buckets)
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "us\tn\tmedian\tmost\tsum\t")
	for _, s := range []struct {
		name string
		spread
	}{
		{"New", x.New}, {"first Bind", x.First}, {"Bind, layer by layer", x.Bind}, {"and again", x.Again},
		{"first Replay of a layer", x.Replay}, {"Replay", x.Replayed},
		{"capture of a bucket", x.Capture}, {"its run", x.Step},
	} {
		if s.N > 0 {
			fmt.Fprintf(w, "%s\t%d\t%.1f\t%.1f\t%.0f\t\n", s.name, s.N, s.Median, s.Most, s.Sum)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Printf("weights %s, activations %s, staging %s, %d semaphore words, workspaces %s, Go heap of the plans %s\n",
		mebibytes(x.Weights), mebibytes(x.Activations), mebibytes(x.Staging), x.Words, mebibytes(x.Workspaces),
		mebibytes(x.Heap))
	return nil
}
