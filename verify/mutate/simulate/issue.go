//go:build !nosim

package simulate

import (
	"fmt"

	"ovgen/runtime/driver"
	"ovgen/verify/ops"
)

// poison is a NaN: what C holds before each run.
const poison = 0x7fc0dead

// issue enqueues all runs with what the caller does between them.
func (r *rank) issue() error {
	var exec driver.GraphExec
	if r.Captured {
		var err error
		if exec, err = r.capture(); err != nil {
			return fmt.Errorf("capture rank %d: %w", r.number, err)
		}
	}
	main := r.streams["main"]
	for run := range r.Runs {
		if err := r.before(run, main); err != nil {
			return err
		}
		if r.Captured {
			if err := r.GraphLaunch(exec, main); err != nil {
				return err
			}
		} else if err := r.operations(run); err != nil {
			return err
		}
		if err := r.MemcpyDtoDAsync(r.results[run], r.own["C"], 4*r.elements()["C"], main); err != nil {
			return err
		}
	}
	return nil
}

// before writes the inputs of a run and poisons its result.
func (r *rank) before(run int, main driver.Stream) error {
	n := r.elements()
	for _, name := range []string{"A", "B", "Bias"} {
		if n[name] == 0 {
			continue
		}
		if err := r.MemcpyDtoDAsync(r.own[name], r.fresh[run][name], 4*n[name], main); err != nil {
			return err
		}
	}
	return r.MemsetD32Async(r.own["C"], poison, n["C"], main)
}

func (r *rank) capture() (driver.GraphExec, error) {
	if err := r.StreamBeginCapture(r.streams["main"]); err != nil {
		return 0, err
	}
	if err := r.operations(0); err != nil {
		return 0, err
	}
	g, err := r.StreamEndCapture(r.streams["main"])
	if err != nil {
		return 0, err
	}
	return r.GraphInstantiate(g)
}

// operations enqueues the list.
func (r *rank) operations(run int) error {
	for i, o := range r.list {
		if err := r.operation(run, o); err != nil {
			return fmt.Errorf("rank %d, operation %d, %s: %w", r.number, i, o, err)
		}
	}
	return nil
}

func (r *rank) operation(run int, o ops.Op) error {
	s := r.streams[o.Stream]
	switch o.Kind {
	case ops.After:
		if run == 0 || r.Captured {
			return nil
		}
		return r.StreamWaitEvent(s, r.ended, 0)
	case ops.Done:
		if r.Captured {
			return nil
		}
		return r.EventRecordWithFlags(r.ended, s, 0)
	case ops.Record:
		return r.EventRecordWithFlags(r.events[o.Event], s, 0)
	case ops.WaitEvent:
		return r.StreamWaitEvent(s, r.events[o.Event], 0)
	case ops.Signal:
		return r.signal(s, o)
	case ops.Copy:
		return r.MemcpyDtoDAsync(r.ptr(o.Uses[1].At), r.ptr(o.Uses[0].At), o.Uses[0].Bytes, s)
	case ops.Product:
		return r.multiply(s, o)
	}
	return fmt.Errorf("no such operation")
}

func (r *rank) signal(s driver.Stream, o ops.Op) error {
	var items []driver.MemOp
	for _, w := range o.Words {
		item := driver.MemOp{Kind: driver.WaitEqual, Value: w.Value, Address: r.ptr(w.At)}
		if w.Write {
			item.Kind = driver.Write
		}
		items = append(items, item)
	}
	if len(items) == 0 {
		return nil
	}
	return r.StreamBatchMemOp(s, items)
}

// multiply has A, B, the bias where there is one, C and the workspace as its uses.
func (r *rank) multiply(s driver.Stream, o ops.Op) error {
	at := make([]driver.Ptr, len(o.Uses))
	for i, u := range o.Uses {
		at[i] = r.ptr(u.At)
	}
	a, b, rest := at[0], at[1], at[2:]
	var bias driver.Ptr
	if r.desc().Bias {
		bias, rest = rest[0], rest[1:]
	}
	return r.Matmul(r.product, rest[0], a, b, bias, rest[1], s)
}
