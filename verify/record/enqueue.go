package record

import (
	"fmt"
	"slices"
	"unsafe"

	"ovgen/runtime/driver"
	"ovgen/schedule"
	"ovgen/verify/ops"
)

// EventRecordWithFlags records that an event marks a stream's work so far.
func (d *Driver) EventRecordWithFlags(e driver.Event, s driver.Stream, _ driver.EventFlags) error {
	return d.take(call{stream: s, kind: ops.Record, event: e})
}

// StreamWaitEvent records that a stream waits for an event.
func (d *Driver) StreamWaitEvent(s driver.Stream, e driver.Event, _ driver.EventFlags) error {
	return d.take(call{stream: s, kind: ops.WaitEvent, event: e})
}

// StreamBatchMemOp records waits for words and writes to them.
func (d *Driver) StreamBatchMemOp(s driver.Stream, items []driver.MemOp) error {
	items = slices.Clone(items)
	return d.take(call{stream: s, kind: ops.Signal, operations: func(n *Names, o ops.Op) ([]ops.Op, error) {
		for _, m := range items {
			if err := n.word(&o, m.Address, m.Value, m.Kind == driver.Write); err != nil {
				return nil, err
			}
		}
		return []ops.Op{o}, nil
	}})
}

// MemcpyDtoDAsync records a copy by the copy engine.
func (d *Driver) MemcpyDtoDAsync(dst, src driver.Ptr, bytes int64, s driver.Stream) error {
	return d.take(call{stream: s, kind: ops.Copy, operations: func(n *Names, o ops.Op) ([]ops.Op, error) {
		return []ops.Op{o}, n.uses(&o, use{src, bytes, false}, use{dst, bytes, true})
	}})
}

// Memcpy2DAsync records a copy of rows by the copy engine.
func (d *Driver) Memcpy2DAsync(c driver.Memcpy2D, s driver.Stream) error {
	return d.take(call{stream: s, kind: ops.Copy, operations: func(n *Names, o ops.Op) ([]ops.Op, error) {
		from, err := n.rows(c.Src, c.SrcPitch, c.Width, c.Height)
		if err != nil {
			return nil, err
		}
		to, err := n.rows(c.Dst, c.DstPitch, c.Width, c.Height)
		to.Write = true
		o.Uses = append(o.Uses, from, to)
		return []ops.Op{o}, err
	}})
}

// Matmul records a product.
func (d *Driver) Matmul(m driver.Product, x driver.Operands, s driver.Stream) error {
	d.mu.Lock()
	p, made := d.products[m]
	d.mu.Unlock()
	return d.take(call{stream: s, kind: ops.Product, operations: func(n *Names, o ops.Op) ([]ops.Op, error) {
		if !made {
			return nil, fmt.Errorf("product %#x was not made by MatmulCreate", m)
		}
		if p.Type != n.Type {
			return nil, fmt.Errorf("a product of %s in a plan of %s", p.Type, n.Type)
		}
		var err error
		if o.Form, err = form(p); err != nil {
			return nil, err
		}
		o.Accumulate, o.InOrder = p.Accumulate, p.InOrder
		size := p.Type.Size()
		rows, columns := int64(p.M)*size, int64(p.N)
		list := []use{{x.A, p.Operand().Bytes(p.M * p.K), false}, {x.B, p.OperandB().Bytes(p.K * p.N), false}}
		if a, b := p.Scales(); a > 0 {
			o.Scales, o.InBlocks = 2, p.BlockScales
			o.Codes = ops.CodesOf(schedule.Type(p.Operand().String()), schedule.Type(p.OperandB().String()))
			list = append(list, use{x.ScaleA, driver.FP32.Bytes(a), false}, use{x.ScaleB, driver.FP32.Bytes(b), false})
		}
		if p.Bias {
			list = append(list, use{x.Bias, columns * size, false})
		}
		if p.Accumulate {
			list = append(list, use{x.C, rows * columns, false})
		}
		if err := n.uses(&o, append(list, use{x.C, rows * columns, true})...); err != nil {
			return nil, err
		}
		at, err := n.loc(x.Workspace)
		o.Uses = append(o.Uses, ops.Use{Write: true, At: at})
		return []ops.Op{o}, err
	}})
}

// form is the name of a product's form in package ops.
func form(d driver.MatmulDesc) (string, error) {
	name, then := "matmul", ""
	switch {
	case d.Of != 0 && !d.Scaled(), d.Transposed && d.TransposedA:
		return "", fmt.Errorf("no product of a host program is %+v", d)
	case d.Transposed:
		name = "linear"
	case d.TransposedA:
		name = "gradient"
	}
	if d.Func != "" {
		then = " " + string(d.Func)
	}
	return name + then, nil
}

// LaunchKernel records a launch of one of the package's kernels.
func (d *Driver) LaunchKernel(f driver.Function, grid, block driver.Dim3, s driver.Stream,
	params unsafe.Pointer) error {
	d.mu.Lock()
	k, known := d.kernels[f]
	var l *launch
	if known && k.touches != nil {
		l = d.launch(k, grid, block, params)
	}
	d.mu.Unlock()
	return d.take(call{stream: s, kind: ops.Signal, operations: func(n *Names, o ops.Op) ([]ops.Op, error) {
		if l == nil {
			return nil, fmt.Errorf("kernel %#x (%s) has no description", f, k.Name)
		}
		return l.again(n, o)
	}})
}

// launch describes a launch. A launch with equal parameters in a later run has the same description.
func (d *Driver) launch(k described, grid, block driver.Dim3, params unsafe.Pointer) *launch {
	words := unsafe.Slice((*uint64)(params), k.Params/8)
	key := fmt.Sprint(k.Name, grid, block, words)
	if d.launches[key] == nil {
		d.launches[key] = &launch{kernel: k.Kernel, grid: grid, block: block, touches: k.touches(params, nil),
			words: slices.Clone(words)}
	}
	return d.launches[key]
}

// GraphLaunch records the calls captured into the graph, on s in place of its first stream.
func (d *Driver) GraphLaunch(e driver.GraphExec, s driver.Stream) error {
	d.mu.Lock()
	g, nested := d.graphs[uintptr(e)], d.captured != nil
	d.mu.Unlock()
	if g == nil || nested {
		return d.alien("the launch of a graph that was not captured, or in a capture,", s)
	}
	for _, c := range g.calls {
		if c.stream == g.origin {
			c.stream = s
		}
		if err := d.take(c); err != nil {
			return err
		}
	}
	return nil
}

// MemsetD32Async is no part of a run.
func (d *Driver) MemsetD32Async(_ driver.Ptr, _ uint32, _ int64, s driver.Stream) error {
	return d.alien("MemsetD32Async", s)
}

// MemcpyDtoHAsync is no part of a run.
func (d *Driver) MemcpyDtoHAsync(_ unsafe.Pointer, _ driver.Ptr, _ int64, s driver.Stream) error {
	return d.alien("MemcpyDtoHAsync", s)
}

// MemcpyHtoD is no part of a run.
func (d *Driver) MemcpyHtoD(driver.Ptr, []byte) error { return d.alien("MemcpyHtoD", 0) }

// MemcpyDtoH is no part of a run. It reads zeros.
func (d *Driver) MemcpyDtoH(dst []byte, _ driver.Ptr) error {
	clear(dst)
	return d.alien("MemcpyDtoH", 0)
}
