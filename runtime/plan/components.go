package plan

import (
	"slices"

	"ovgen/runtime/driver"
)

// Components are the parts of a bound plan on this rank, for a package that prints them.
type Components struct {
	Chosen     string // the schedule that a tuning chose, and why; else empty
	Buffers    []BufferPart
	Semaphores []SemaphorePart
	Streams    []StreamPart
	Products   []ProductPart
	Kernels    []KernelPart
	Events     []driver.Event
}

// BufferPart is a buffer. Its kind is caller, shared or staged; At has each rank's address, as mapped here.
type BufferPart struct {
	Name, Kind string
	Bytes      int64
	At         []driver.Ptr
	Alike      bool // all ranks must hold the same values in it
}

// SemaphorePart is a semaphore with the number of its words on a rank, and its address on each rank.
type SemaphorePart struct {
	Name  string
	Words int
	At    []driver.Ptr
}

// StreamPart is a stream of the plan.
type StreamPart struct {
	Name            string
	Priority        driver.Priority
	Handle          driver.Stream
	Step, Workspace driver.Ptr // Workspace is 0 where no product runs
}

// ProductPart is a product. A product without rows has no handle, and runs skip it.
type ProductPart struct {
	Desc   driver.MatmulDesc
	Handle driver.Product
}

// KernelPart is a kernel.
type KernelPart struct {
	Name   string
	Handle driver.Function
}

// Components returns the plan's components.
func (p *Plan) Components() Components {
	c := Components{Chosen: p.chosen, Events: p.events}
	for _, b := range slices.Concat(p.bindable, p.staged) {
		kind := "staged"
		switch {
		case b.shared:
			kind = "shared"
		case slices.Contains(p.bindable, b):
			kind = "caller"
		}
		c.Buffers = append(c.Buffers, BufferPart{b.name, kind, b.size(p.rank), b.at, b.alike})
	}
	for _, s := range p.semaphores {
		c.Semaphores = append(c.Semaphores, SemaphorePart{s.name, s.words(p.ranks), s.base})
	}
	for _, s := range p.streams {
		c.Streams = append(c.Streams, StreamPart{s.String(), s.priority, s.own, s.step, s.workspace})
	}
	for _, m := range p.products {
		c.Products = append(c.Products, ProductPart{m.desc, m.handle})
	}
	for _, k := range p.kernels {
		c.Kernels = append(c.Kernels, KernelPart{k.name, k.handle})
	}
	return c
}

// Listener receives the collectives and the functions of the caller that a run would call.
type Listener interface {
	Collective(on driver.Stream, d driver.CollectiveDesc, ranks int, recv, send driver.Ptr) error
	Function(on driver.Stream, name string, to Range, from []Range) error
}

// List issues a run of the bound plan to a driver and a listener that enqueue nothing.
func (p *Plan) List(d driver.Driver, to Listener) error {
	own := p.driver
	p.driver, p.queue.listener = d, to
	p.queue.start(p.main.own)
	p.issue(&p.queue)
	p.driver, p.queue.listener = own, nil
	return p.queue.err
}

// Step is the number of the step that is being issued.
func (p *Plan) Step() int { return p.queue.step }
