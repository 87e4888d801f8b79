package plan

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/verify/sim"
)

// A function of the caller's enqueues its work on the run's stream, with the memory that is bound. None
// is an error of the run, and so is one's own.
func TestCall(t *testing.T) {
	const size = 64
	var d driver.Driver
	swap := func(on driver.Stream, to Range, from []Range) error {
		if to.Bytes != 2*size || len(from) != 2 {
			return errors.New("other memory than was declared")
		}
		return errors.Join(d.MemcpyDtoDAsync(to.At, from[1].At, from[1].Bytes, on),
			d.MemcpyDtoDAsync(to.At+driver.Ptr(from[1].Bytes), from[0].At, from[0].Bytes, on))
	}
	mine := errors.New("no cache")
	for name, f := range map[string]Call{"a function": swap, "none": nil,
		"one that fails": func(driver.Stream, Range, []Range) error { return mine }} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 1, sim.Config{}, nil, func(w *world) {
				d = w.groups[0].Driver()
				b := Build(w.groups[0], toyProgram, "small")
				x, y, z := b.Caller("x", size), b.Caller("y", size), b.Written(b.Caller("z", 2*size))
				p, err := b.Finish(w.Context(), func(q *Queue) {
					q.Call(q.Main(), "Swap", f, z.All(), x.All(), y.All())
				})
				w.must(err)
				var memory []*device.Buffer
				for _, n := range []int64{size, size, 2 * size} {
					m, err := device.Alloc(d, n)
					w.must(err)
					memory = append(memory, m)
					defer func() { w.must(m.Close()) }()
				}
				w.must(p.Bind(w.Context(), memory[0].Ptr(), memory[1].Ptr(), memory[2].Ptr()))
				for run := range byte(3) {
					x, y := bytes.Repeat([]byte{run}, size), bytes.Repeat([]byte{run + 9}, size)
					w.must(errors.Join(memory[0].Set(x), memory[1].Set(y)))
					err := p.Run(w.Context())
					if missing := new(CallError); f == nil && (!errors.As(err, &missing) || missing.Call != "Swap") ||
						name == "one that fails" && !errors.Is(err, mine) {
						w.Errorf("%s: %v", name, err)
					}
					if name != "a function" {
						return // the run's error has ended the group
					}
					got := make([]byte, 2*size)
					w.must(errors.Join(err, memory[2].Get(got)))
					if !slices.Equal(got, append(y, x...)) {
						w.Errorf("run %d: %v", run, got)
					}
				}
				w.must(p.Close(w.Context()))
			})
		})
	}
}
