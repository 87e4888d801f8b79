package record

import (
	"fmt"
	"sync"

	"ovgen/runtime/driver"
	"ovgen/verify/ops"
)

// Driver passes every call on and takes down, between Start and Stop, those that
// enqueue. It must wrap the driver before the group is joined, so that it knows
// every product and kernel.
type Driver struct {
	driver.Driver

	mu       sync.Mutex
	products map[driver.Product]driver.MatmulDesc
	kernels  map[driver.Function]driver.Kernel
	codes    map[driver.Module]*driver.Code
	on       bool
	names    Names
	events   map[driver.Event]int // recorded since Start -> number
	list     []ops.Op
	err      error
}

// New wraps a driver.
func New(d driver.Driver) *Driver {
	return &Driver{Driver: d, products: map[driver.Product]driver.MatmulDesc{},
		kernels: map[driver.Function]driver.Kernel{}, codes: map[driver.Module]*driver.Code{}}
}

// Start begins a recording in which names resolve addresses and streams.
func (d *Driver) Start(names Names) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.on, d.names, d.list, d.err, d.events = true, names, nil, nil, map[driver.Event]int{}
}

// Stop ends the recording and returns its operations in enqueue order. An event
// that is waited for but was not recorded since Start is the end of the run before
// (After); one that is recorded last and not waited for is the end of this run (Done).
func (d *Driver) Stop() ([]ops.Op, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.on = false
	if d.err != nil {
		return nil, fmt.Errorf("record a run: %w", d.err)
	}
	return normalise(d.list), nil
}

// normalise numbers the events that are used and names the run's two ends.
func normalise(list []ops.Op) []ops.Op {
	used := map[int]bool{}
	for _, o := range list {
		if o.Kind == ops.WaitEvent {
			used[o.Event] = true
		}
	}
	number := map[int]int{}
	var out []ops.Op
	for _, o := range list {
		if o.Kind == ops.Record && !used[o.Event] {
			o = ops.Op{Kind: ops.Done, Stream: o.Stream}
		}
		if len(out) > 0 && (o.Kind == ops.After || o.Kind == ops.Done) && out[len(out)-1].Kind == o.Kind {
			continue // the group keeps two events where runs were captured by the caller
		}
		if o.Kind == ops.Record {
			number[o.Event] = len(number)
		}
		if o.Kind == ops.Record || o.Kind == ops.WaitEvent {
			o.Event = number[o.Event]
		}
		out = append(out, o)
	}
	return out
}

// add takes an operation down; f fills it in.
func (d *Driver) add(kind ops.Kind, s driver.Stream, f func(*ops.Op) error) {
	d.addAll(kind, s, func(op ops.Op) ([]ops.Op, error) {
		err := f(&op)
		return []ops.Op{op}, err
	})
}

// addAll takes down the operations that f makes of one.
func (d *Driver) addAll(kind ops.Kind, s driver.Stream, f func(ops.Op) ([]ops.Op, error)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.on || d.err != nil {
		return
	}
	name, err := d.names.stream(s)
	if err != nil && (kind == ops.Record || kind == ops.WaitEvent) {
		return // the group orders its runs on a stream of its own
	}
	var made []ops.Op
	if err == nil {
		made, err = f(ops.Op{Kind: kind, Stream: name})
	}
	if err != nil {
		d.err = fmt.Errorf("operation %d (%s): %w", len(d.list), kind, err)
		return
	}
	d.list = append(d.list, made...)
}

// MatmulCreate remembers what the product computes.
func (d *Driver) MatmulCreate(desc driver.MatmulDesc) (driver.Product, error) {
	p, err := d.Driver.MatmulCreate(desc)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.products[p] = desc
	return p, err
}

// ModuleLoadData remembers the code.
func (d *Driver) ModuleLoadData(code *driver.Code) (driver.Module, error) {
	m, err := d.Driver.ModuleLoadData(code)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.codes[m] = code
	return m, err
}

// ModuleGetFunction remembers the kernel.
func (d *Driver) ModuleGetFunction(m driver.Module, name string) (driver.Function, error) {
	f, err := d.Driver.ModuleGetFunction(m, name)
	d.mu.Lock()
	defer d.mu.Unlock()
	if code := d.codes[m]; code != nil {
		for _, k := range code.Kernels {
			if k.Name == name {
				d.kernels[f] = k
			}
		}
	}
	return f, err
}

// EventRecordWithFlags records an event.
func (d *Driver) EventRecordWithFlags(e driver.Event, s driver.Stream, f driver.EventFlags) error {
	d.add(ops.Record, s, func(o *ops.Op) error {
		// A second record of an event is another event: waits refer to the last.
		o.Event = len(d.list)
		d.events[e] = o.Event
		return nil
	})
	return d.Driver.EventRecordWithFlags(e, s, f)
}

// StreamWaitEvent waits for an event.
func (d *Driver) StreamWaitEvent(s driver.Stream, e driver.Event, f driver.EventFlags) error {
	d.add(ops.WaitEvent, s, func(o *ops.Op) error {
		n, ok := d.events[e]
		if !ok {
			o.Kind = ops.After
		}
		o.Event = n
		return nil
	})
	return d.Driver.StreamWaitEvent(s, e, f)
}

// StreamBatchMemOp waits for and writes words.
func (d *Driver) StreamBatchMemOp(s driver.Stream, items []driver.MemOp) error {
	d.add(ops.Signal, s, func(o *ops.Op) error {
		for _, m := range items {
			if err := d.word(o, m.Address, m.Value, m.Kind == driver.Write); err != nil {
				return err
			}
		}
		return nil
	})
	return d.Driver.StreamBatchMemOp(s, items)
}

// word adds a word to a Signal. A step word's value holds the plan's id above the
// step, which is left out.
func (d *Driver) word(o *ops.Op, at driver.Ptr, value uint32, write bool) error {
	loc, err := d.names.loc(at)
	if err != nil {
		return err
	}
	if isStep(loc) {
		value &= 0xffff
	}
	o.Words = append(o.Words, ops.Word{Write: write, At: loc, Value: value})
	return nil
}

// MemcpyDtoDAsync copies by the copy engine.
func (d *Driver) MemcpyDtoDAsync(dst, src driver.Ptr, bytes int64, s driver.Stream) error {
	d.add(ops.Copy, s, func(o *ops.Op) error {
		return d.uses(o, use{src, bytes, false}, use{dst, bytes, true})
	})
	return d.Driver.MemcpyDtoDAsync(dst, src, bytes, s)
}

// Matmul multiplies.
func (d *Driver) Matmul(m driver.Product, c, a, b, bias, workspace driver.Ptr, s driver.Stream) error {
	d.add(ops.Product, s, func(o *ops.Op) error {
		p, ok := d.products[m]
		if !ok {
			return fmt.Errorf("product %#x was not made through the recorder", m)
		}
		size := p.Type.Size()
		rows, depth, columns := int64(p.M)*size, int64(p.K), int64(p.N)
		o.Form, o.Accumulate = form(p), p.Accumulate
		list := []use{{a, rows * depth, false}, {b, depth * columns * size, false}}
		if p.Bias {
			list = append(list, use{bias, columns * size, false})
		}
		if p.Accumulate {
			list = append(list, use{c, rows * columns, false})
		}
		if err := d.uses(o, append(list, use{c, rows * columns, true})...); err != nil {
			return err
		}
		at, err := d.names.loc(workspace)
		o.Uses = append(o.Uses, ops.Use{Write: true, At: at})
		return err
	})
	return d.Driver.Matmul(m, c, a, b, bias, workspace, s)
}

// form is how package ops names what a product computes.
func form(d driver.MatmulDesc) string {
	switch {
	case d.TransposedA:
		return "gradient"
	case d.Transposed && d.Gelu:
		return "linear gelu"
	case d.Transposed:
		return "linear"
	}
	return "matmul"
}

type use struct {
	at    driver.Ptr
	bytes int64
	write bool
}

func (d *Driver) uses(o *ops.Op, list ...use) error {
	for _, u := range list {
		at, err := d.names.loc(u.at)
		if err != nil {
			return err
		}
		o.Uses = append(o.Uses, ops.Use{Write: u.write, At: at, Bytes: u.bytes})
	}
	return nil
}
