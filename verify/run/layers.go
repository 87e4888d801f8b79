package run

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"ovgen/runtime/driver"
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
