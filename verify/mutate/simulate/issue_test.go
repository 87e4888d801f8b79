package simulate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"ovgen/runtime/driver"
	"ovgen/schedule/hostir"
	"ovgen/verify/explore"
	"ovgen/verify/ops"
)

// poison is a NaN: what results hold before each run.
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
		if err := r.after(run, main); err != nil {
			return err
		}
	}
	return nil
}

// before writes the inputs of a run and poisons its results.
func (r *rank) before(run int, main driver.Stream) error {
	for _, t := range r.tensors() {
		n := int64(t.Count)
		if t.result {
			if err := r.MemsetD32Async(r.place(t), poison, n, main); err != nil {
				return err
			}
		} else if err := r.MemcpyDtoDAsync(r.place(t), r.fresh[run][t.name], 4*n, main); err != nil {
			return err
		}
	}
	return nil
}

// after keeps the results of a run.
func (r *rank) after(run int, main driver.Stream) error {
	for _, t := range r.tensors() {
		if t.result {
			if err := r.MemcpyDtoDAsync(r.fresh[run][t.name], r.place(t), 4*int64(t.Count),
				main); err != nil {
				return err
			}
		}
	}
	return nil
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
		return r.copy(s, o)
	case ops.Product:
		return r.multiply(s, o)
	case ops.Sum:
		return r.sum(s, o)
	case ops.Apply:
		return r.apply(s, o)
	case ops.Call:
		return r.call(s, o)
	case ops.Collective:
		return r.collective(s, o)
	}
	return fmt.Errorf("no such operation")
}

// copy is a copy of bytes or, from or to a part of columns, of rows.
func (r *rank) copy(s driver.Stream, o ops.Op) error {
	src, dst := o.Uses[0], o.Uses[1]
	rows := max(r.rows(src), r.rows(dst))
	if rows == 0 {
		return r.MemcpyDtoDAsync(r.ptr(dst.At), r.ptr(src.At), src.Bytes, s)
	}
	x := driver.Memcpy2D{Dst: r.ptr(dst.At), Src: r.ptr(src.At), Width: src.Bytes / rows, Height: rows}
	x.DstPitch, x.SrcPitch = x.Width, x.Width
	for _, side := range []struct {
		ops.Use
		at    *driver.Ptr
		pitch *int64
	}{{src, &x.Src, &x.SrcPitch}, {dst, &x.Dst, &x.DstPitch}} {
		if rows := r.rows(side.Use); rows > 0 {
			first := side.At
			first.Offset /= rows
			*side.at, *side.pitch = r.ptr(first), r.bytes(side.At.Buffer)/rows
		}
	}
	return r.Memcpy2DAsync(x, s)
}

// rows of the buffer of which a use is a part of the columns, 0 of another.
func (r *rank) rows(u ops.Use) int64 {
	b, _ := r.Program.Buffer(u.At.Buffer)
	if !u.Columns || b.Rows.IsZero() {
		return 0
	}
	return r.value(b.Rows)
}

// bytes of a buffer.
func (r *rank) bytes(buffer string) int64 {
	b, _ := r.Program.Buffer(buffer)
	return 4 * r.value(b.Elements)
}

// value is an expression's at the case's shape.
func (r *rank) value(e hostir.Expr) int64 {
	env := hostir.Env{"M": r.Shape.M, "K": r.Shape.K, "N": r.Shape.N}.Place(r.number, r.Shape.Ranks, r.Shape.Hosts)
	maps.Copy(env, r.Shape.Extents)
	maps.Copy(env, r.Program.Constants)
	n, err := e.Eval(env)
	if err != nil {
		panic(err)
	}
	return n
}

func (r *rank) signal(s driver.Stream, o ops.Op) error {
	var items []driver.MemOp
	for _, w := range o.Words {
		item := driver.MemOp{Kind: driver.WaitEqual, Value: w.Value, Address: r.ptr(w.At)}
		if w.Write {
			item.Kind = driver.Write
		}
		if strings.HasPrefix(w.At.Buffer, "step[") {
			item.Value += 1 << 16 // else the simulator takes step 1 for a post
		}
		items = append(items, item)
	}
	if len(items) == 0 {
		return nil
	}
	return r.StreamBatchMemOp(s, items)
}

// product is a Product as the driver makes it, with where its bias is among its uses.
// Its uses are A, B, a bias, what it adds to, C and the workspace.
func product(o ops.Op) (d driver.MatmulDesc, bias int, err error) {
	result := o.Uses[len(o.Uses)-2]
	m, k, n, ok := explore.Extents(int(o.Uses[0].Bytes/4), int(o.Uses[1].Bytes/4), int(result.Bytes/4))
	if !ok {
		return d, 0, fmt.Errorf("no product has the sizes of %s", o)
	}
	form, function, _ := strings.Cut(o.Form, " ")
	d = driver.MatmulDesc{M: m, K: k, N: n, Type: driver.FP32, Transposed: form == "linear",
		TransposedA: form == "gradient", Func: driver.Func(function)}
	d.Accumulate = o.Accumulate
	if more := len(o.Uses) - 4; more > 1 || more == 1 && !o.Accumulate {
		d.Bias, bias = true, 2
	}
	return d, bias, nil
}

// create makes what an operation needs of the driver: later would disturb a run.
func (r *rank) create(o ops.Op) (err error) {
	var descs []driver.MatmulDesc
	switch o.Kind {
	case ops.Apply:
		return r.load(o.Form)
	case ops.Product:
		d, _, err := product(o)
		if err != nil {
			return err
		}
		descs = append(descs, d)
	case ops.Sum:
		for _, term := range o.Uses[:max(len(o.Uses)-1, 0)] {
			d := addition(o, term)
			more := d
			more.Accumulate = true
			descs = append(descs, d, more)
		}
	}
	for _, d := range descs {
		if _, ok := r.products[d]; !ok {
			if r.products[d], err = r.MatmulCreate(d); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *rank) multiply(s driver.Stream, o ops.Op) error {
	desc, at, err := product(o)
	if err != nil {
		return err
	}
	var bias driver.Ptr
	if desc.Bias {
		bias = r.ptr(o.Uses[at].At)
	}
	n := len(o.Uses)
	return r.Matmul(r.products[desc], r.ptr(o.Uses[n-2].At), r.ptr(o.Uses[0].At), r.ptr(o.Uses[1].At), bias,
		r.ptr(o.Uses[n-1].At), s)
}

// addition is one term of a sum as a product with ones: one row, or, of a bias, which is less than the sum, as many as
// the sum has of its size.
func addition(o ops.Op, term ops.Use) driver.MatmulDesc {
	to := o.Uses[len(o.Uses)-1]
	return driver.MatmulDesc{M: int(to.Bytes / term.Bytes), K: 1, N: int(term.Bytes / 4), Type: driver.FP32}
}

// sum adds its terms one after the other; the term that is where the sum goes, if
// there is one, first.
func (r *rank) sum(s driver.Stream, o ops.Op) error {
	if len(o.Uses) == 0 {
		return nil
	}
	terms, to, accumulate := slices.Clone(o.Uses[:len(o.Uses)-1]), o.Uses[len(o.Uses)-1], false
	if i := slices.IndexFunc(terms, func(u ops.Use) bool { return u.At == to.At }); i >= 0 {
		terms, accumulate = slices.Delete(terms, i, i+1), true
	}
	for _, t := range terms {
		desc := addition(o, t)
		desc.Accumulate = accumulate
		if err := r.Matmul(r.products[desc], r.ptr(to.At), r.ones, r.ptr(t.At), 0, r.scratch[o.Stream],
			s); err != nil {
			return err
		}
		accumulate = true
	}
	return nil
}
