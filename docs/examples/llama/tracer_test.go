package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"ovgen/runtime/driver"
	"ovgen/runtime/driver/around"
	"ovgen/runtime/group"
)

// tracer is a rank's driver that sets timing events into the graphs that are captured: at both ends, and where all is
// set behind each operation. It leaves out launches of kernels of a name, and sums up the time of the host's calls.
type tracer struct {
	driver.Decorator
	all      bool
	without  string // how their names begin; empty: it leaves out none
	names    map[driver.Function]string
	products map[driver.Product]string
	spare    []driver.Event
	graphs   []*traced // in the order of their captures

	mu     sync.Mutex // a step waits on a goroutine of its own
	host   map[string]time.Duration
	calls  time.Duration // of the driver, so far
	inRank time.Duration // Launch and Wait of the rank, in the last step
}

// clocked is a rank of which a tracer also sums up the time that is no driver's call, of Launch and of Wait.
type clocked struct {
	*Rank
	of *tracer
}

func (c clocked) Launch(rows Batch, none *bool) error {
	c.of.inRank = 0
	defer c.of.tookGo("Launch in Go", time.Now(), c.of.calls)
	return c.Rank.Launch(rows, none)
}

func (c clocked) Wait(all bool, best *[]Best) error {
	defer c.of.tookGo("Wait in Go", time.Now(), c.of.calls)
	return c.Rank.Wait(all, best)
}

// tookGo adds the time since then but for the driver's calls, which took so much before.
func (t *tracer) tookGo(name string, since time.Time, before time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	whole := time.Since(since)
	t.inRank += whole
	t.host[name] += whole - (t.calls - before)
}

// traced is a captured graph: operation i runs between events i and i+1.
type traced struct {
	stream driver.Stream
	names  []string
	events []driver.Event
	open   bool
}

// spareEvents are more than a graph of 16 layers takes. They are made ahead of its capture.
const spareEvents = 512

// traces has the crews that start from now on trace, and returns the tracers by their ranks' devices.
func traces(all bool, without string) (tracers map[int]*tracer, restore func()) {
	var mu sync.Mutex
	before, tracers := decorated, map[int]*tracer{}
	decorated = func(c group.Config) group.Config {
		c.Decorate = func(d driver.Driver) driver.Driver {
			t := &tracer{all: all, without: without, names: map[driver.Function]string{},
				products: map[driver.Product]string{}, host: map[string]time.Duration{}}
			t.Driver = around.New(d, t.each)
			mu.Lock()
			defer mu.Unlock()
			tracers[d.Properties().Ordinal] = t
			return t
		}
		return c
	}
	return tracers, func() { decorated = before }
}

// each sets an event behind an operation of a graph that is being captured, where it is on the graph's first stream:
// steps that decode have no other.
func (t *tracer) each(c *around.Call) error {
	g := t.capturing()
	if g == nil {
		defer t.took(c.Name, time.Now())
		return c.Pass()
	}
	name := t.name(c)
	if t.without != "" && strings.HasPrefix(name, t.without) {
		return nil
	}
	err := c.Pass()
	if err != nil || !c.Enqueues {
		return err
	}
	g.names = append(g.names, name)
	if !t.all || c.Stream != g.stream {
		return nil
	}
	return t.mark(g)
}

// name is what an operation is called in a table.
func (t *tracer) name(c *around.Call) string {
	switch c.Name {
	case "LaunchKernel":
		name, _, _ := strings.Cut(t.names[c.Function], "_")
		return name
	case "Matmul":
		return t.products[c.Product]
	}
	return c.Name
}

func (t *tracer) capturing() *traced {
	if n := len(t.graphs); n > 0 && t.graphs[n-1].open {
		return t.graphs[n-1]
	}
	return nil
}

// mark records an event that is part of the graph.
func (t *tracer) mark(g *traced) error {
	if len(t.spare) == 0 {
		return errors.New("a graph of a trace has more operations than spareEvents")
	}
	e := t.spare[0]
	g.events, t.spare = append(g.events, e), t.spare[1:]
	return t.Driver.EventRecordWithFlags(e, g.stream, driver.External)
}

// ModuleGetFunction keeps the name of a function.
func (t *tracer) ModuleGetFunction(m driver.Module, name string) (driver.Function, error) {
	f, err := t.Driver.ModuleGetFunction(m, name)
	t.names[f] = name
	return f, err
}

// MatmulCreate keeps the shape of a product.
func (t *tracer) MatmulCreate(d driver.MatmulDesc) (driver.Product, error) {
	p, err := t.Driver.MatmulCreate(d)
	t.products[p] = fmt.Sprintf("product %d x %d", d.K, d.N)
	return p, err
}

// StreamBeginCapture begins a graph by an event.
func (t *tracer) StreamBeginCapture(s driver.Stream) error {
	for len(t.spare) < spareEvents {
		e, err := t.EventCreate(true)
		if err != nil {
			return err
		}
		t.spare = append(t.spare, e)
	}
	if err := t.Driver.StreamBeginCapture(s); err != nil {
		return err
	}
	g := &traced{stream: s, open: true}
	t.graphs = append(t.graphs, g)
	return t.mark(g)
}

// StreamEndCapture ends a graph by an event.
func (t *tracer) StreamEndCapture(s driver.Stream) (driver.Graph, error) {
	g := t.capturing()
	var err error
	if !t.all {
		err = t.mark(g)
	}
	g.open = false
	made, failed := t.Driver.StreamEndCapture(s)
	return made, errors.Join(err, failed)
}

// took adds the time of a call of the host.
func (t *tracer) took(name string, since time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	took := time.Since(since)
	t.host[name] += took
	t.calls += took
}

// MemcpyHtoD, MemcpyDtoH, StreamQuery and StreamSynchronize are timed.
func (t *tracer) MemcpyHtoD(to driver.Ptr, from []byte) error {
	defer t.took("MemcpyHtoD", time.Now())
	return t.Driver.MemcpyHtoD(to, from)
}

func (t *tracer) MemcpyDtoH(to []byte, from driver.Ptr) error {
	defer t.took("MemcpyDtoH", time.Now())
	return t.Driver.MemcpyDtoH(to, from)
}

func (t *tracer) StreamQuery(s driver.Stream) (bool, error) {
	defer t.took("wait", time.Now())
	return t.Driver.StreamQuery(s)
}

func (t *tracer) StreamSynchronize(s driver.Stream) error {
	defer t.took("wait", time.Now())
	return t.Driver.StreamSynchronize(s)
}

// spans are the times between a graph's events in its last launch, in us.
func (t *tracer) spans(g *traced) (list []float64, err error) {
	for i := range g.events[1:] {
		ms, failed := t.EventElapsedTime(g.events[i], g.events[i+1])
		list, err = append(list, 1000*float64(ms)), errors.Join(err, failed)
	}
	return list, err
}

// row is a line of a trace: operations of one name and place in a layer.
type row struct {
	name  string
	count int
	us    float64 // of all
}

// byLayer joins the times of operations of equal places in layers. Operations before and behind the layers have rows of
// their own.
func byLayer(names []string, us []float64, layers int) (rows []row, launches int, err error) {
	first, behind := 1, 3 // the embedding; the head, its best tokens and those of all ranks
	launches = (len(names) - first - behind) / layers
	if len(names) != first+launches*layers+behind || len(us) != len(names) {
		return nil, 0, fmt.Errorf("%d operations are no %d equal layers", len(names), layers)
	}
	for i, name := range names {
		at := i
		switch inside := i - first; {
		case inside >= launches*layers:
			at = i - launches*(layers-1)
		case inside >= launches:
			at = first + inside%launches
		}
		if at == len(rows) {
			rows = append(rows, row{name: name})
		}
		if rows[at].name != name {
			return nil, 0, fmt.Errorf("operation %d is %s, and %s in the first layer", i, name, rows[at].name)
		}
		rows[at].count++
		rows[at].us += us[i]
	}
	return rows, launches, nil
}

// median of a list, which is sorted.
func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}
