package plan

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/verify/sim"
)

// rowsPlan is a plan of three ranks that gathers so many rows of four bytes, spread in balanced parts.
type rowsPlan struct {
	*Plan
	w       *world
	driver  driver.Driver
	in, out driver.Ptr // of 64 bytes
}

func newRows(w *world, r, rows int) (p *rowsPlan, err error) {
	p = &rowsPlan{w: w, driver: w.groups[r].Driver()}
	b := Build(w.groups[r], toyProgram, "balanced")
	b.Balanced(rows)
	in, out := b.Shared("in", int64((rows+2)/3*4)), b.Written(b.Caller("out", int64(4*rows)))
	b.Uneven(in, 4, 1, func(q, _ int) int { return q })
	b.Uneven(out, 4, 3, func(_, c int) int { return c })
	ready, read := b.Semaphore("ready"), b.Semaphore("read")
	p.Plan, err = b.Finish(w.Context(), func(q *Queue) {
		q.Post(q.Main(), ready)
		for c := range 3 {
			if c != r {
				q.Wait(q.Main(), ready, c)
			}
			q.Set(q.Main(), out.Part(c), in.Peer(c, 0), out.Size(c))
		}
		q.Post(q.Main(), read)
		q.Wait(q.Main(), read)
	})
	return p, errors.Join(err, p.renew(&p.in), p.renew(&p.out))
}

// renew takes other memory, of the rank's letter, which the world's end frees.
func (p *rowsPlan) renew(at *driver.Ptr) (err error) {
	if *at, err = p.driver.MemAlloc(64); err != nil {
		return err
	}
	return p.driver.MemcpyHtoD(*at, []byte(strings.Repeat(string(rune('a'+p.Rank())), 64)))
}

// binds binds the memory and runs; the exchange is of so many messages.
func (p *rowsPlan) binds(what, want string, messages int) error {
	imports := p.Group().Imports()
	before, got := imports.Counters(), make([]byte, len(want))
	err := errors.Join(p.Bind(p.w.Context(), p.in, p.out), p.Run(p.w.Context()), p.driver.MemcpyDtoH(got, p.out))
	if err != nil || string(got) != want {
		return fmt.Errorf("%s: %q, want %q: %w", what, got, want, err)
	}
	if n := delta(before, imports.Counters()).Messages; n != messages {
		return fmt.Errorf("%s: %d messages, want %d", what, n, messages)
	}
	return nil
}

// TestBalanced gathers any number of rows. A Bind of memory that no peer uses is local also where some ranks have no
// row, and one of memory that peers use finds all of them.
func TestBalanced(t *testing.T) {
	for rows, want := range map[int]string{1: "aaaa", 2: "aaaabbbb", 3: "aaaabbbbcccc", 4: "aaaaaaaabbbbcccc",
		5: "aaaaaaaabbbbbbbbcccc"} {
		t.Run(fmt.Sprint(rows), func(t *testing.T) {
			inWorld(t, 3, sim.Config{}, nil, func(w *world) {
				w.each(func(r int) {
					p, err := newRows(w, r, rows)
					if err != nil {
						w.Errorf("rank %d: %v", r, err)
						return
					}
					err = errors.Join(p.binds("the first Bind", want, 1), p.renew(&p.out),
						p.binds("another out", want, 0), p.renew(&p.in), p.binds("another in", want, 1),
						p.Close(w.Context()))
					if err != nil {
						w.Errorf("rank %d: %v", r, err)
					}
				})
			})
		})
	}
}

// TestBalancedWithoutMemory refuses a rank that has no row and binds no memory: it could not tell whether the others'
// is new.
func TestBalancedWithoutMemory(t *testing.T) {
	inWorld(t, 3, sim.Config{}, nil, func(w *world) {
		w.each(func(r int) {
			p, err := newRows(w, r, 2)
			if err != nil {
				w.Errorf("rank %d: %v", r, err)
				return
			}
			if r == 2 {
				p.in = 0
			}
			err = p.Bind(w.Context(), p.in, p.out)
			if err == nil || !strings.Contains(err.Error(), "in: no address") {
				w.Errorf("rank %d: %v", r, err)
			}
		})
	})
}

// exchangedPlan is a plan of three ranks, of which each sends the next one its part of two tensors.
type exchangedPlan struct {
	rowsPlan
	got *Buffer
}

func newExchanged(w *world, r, rows int) (p *exchangedPlan, err error) {
	p = &exchangedPlan{rowsPlan: rowsPlan{w: w, driver: w.groups[r].Driver()}}
	b := Build(w.groups[r], toyProgram, "exchanged")
	b.Collectives(driver.FP32)
	b.Balanced(rows)
	of := func(name string, unit int64, index func(q, _ int) int) *Buffer {
		f := b.Caller(name, 2*unit)
		b.Uneven(f, unit, 1, index)
		return f
	}
	own, before := func(q, _ int) int { return q }, func(q, _ int) int { return (q + 2) % 3 }
	send, recv := of("send", 4, own), b.Written(of("recv", 4, before))
	wide, got := of("wide", 8, own), b.Written(of("got", 8, before))
	p.got = got
	p.Plan, err = b.Finish(w.Context(), func(q *Queue) {
		q.ExchangeParts(q.Main(), recv.At(0), send.At(0), recv.Size(0), send.Size(0), (r+1)%3, (r+2)%3)
		q.ExchangeParts(q.Main(), got.At(0), wide.At(0), got.Size(0), wide.Size(0), (r+1)%3, (r+2)%3)
	})
	return p, err
}

// run returns what has come of the second tensor.
func (p *exchangedPlan) run() (got string, err error) {
	var at [4]driver.Ptr
	for i := range at {
		err = errors.Join(err, p.renew(&at[i]))
	}
	text := make([]byte, p.got.Size(0))
	err = errors.Join(err, p.Bind(p.w.Context(), at[:]...), p.Run(p.w.Context()), p.driver.MemcpyDtoH(text, at[3]),
		p.Close(p.w.Context()))
	return string(text), err
}

// TestBalancedExchanges: a rank gets other bytes than it sends, or none. Two exchanges that are alike on one rank are
// tried apart in New, as they are not alike on the others.
func TestBalancedExchanges(t *testing.T) {
	for rows, want := range map[int][3]string{1: {"", "aa", ""}, 2: {"", "aa", "bb"}, 4: {"cc", "aaaa", "bb"}} {
		inWorld(t, 3, sim.Config{Seed: uint64(rows)}, nil, func(w *world) {
			w.each(func(r int) {
				p, err := newExchanged(w, r, rows)
				var got string
				if err == nil {
					got, err = p.run()
				}
				if w := strings.Repeat(want[r], 4); err != nil || got != w {
					t.Errorf("%d rows: rank %d has %q, want %q: %v", rows, r, got, w, err)
				}
			})
		})
	}
}
