package plan

import (
	"bytes"
	"errors"
	"fmt"
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

// A function is told how many rows the rank has by the counts of the last Bind. A rank without rows calls none.
func TestCallByCounts(t *testing.T) {
	const row, rows = 8, 5
	for _, counts := range [][]int{{3}, {0}, {rows}, {1}} {
		t.Run(fmt.Sprint(counts), func(t *testing.T) {
			inWorld(t, 1, sim.Config{}, nil, func(w *world) {
				d := w.groups[0].Driver()
				b := Build(w.groups[0], toyProgram, "small")
				b.Counts(1)
				x, y := b.Caller("x", row*rows), b.Written(b.Caller("y", row*rows))
				b.Uneven(x, row, 1, func(q, _ int) int { return q })
				b.Uneven(y, row, 1, func(q, _ int) int { return q })
				var told []Range
				p, err := b.Finish(w.Context(), func(q *Queue) {
					q.Call(q.Main(), "Own", func(on driver.Stream, to Range, from []Range) error {
						told = append(told, to, from[0])
						return d.MemcpyDtoDAsync(to.At, from[0].At, to.Bytes, on)
					}, y.All(), x.All())
				})
				w.must(err)
				var memory [2]*device.Buffer
				for i := range memory {
					memory[i], err = device.Alloc(d, row*rows)
					w.must(err)
					defer func() { w.must(memory[i].Close()) }()
				}
				at := []driver.Ptr{memory[0].Ptr(), memory[1].Ptr()}
				w.must(p.BindCounts(w.Context(), []int{2}, at...)) // the counts of an earlier Bind
				told = nil
				w.must(p.BindCounts(w.Context(), counts, at...))
				w.must(p.Run(w.Context()))
				n := int64(counts[0])
				want := []Range{{At: at[1], Bytes: n * row, Rows: n}, {At: at[0], Bytes: n * row, Rows: n}}
				if n == 0 {
					want = nil
				}
				if !slices.Equal(told, want) {
					w.Errorf("the call was told %v, want %v", told, want)
				}
				w.must(p.Close(w.Context()))
			})
		})
	}
}
