package plan

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/verify/sim"
)

// Chunks follow the counts of the last Bind, on which all ranks must agree.
func TestUneven(t *testing.T) {
	inWorld(t, 2, sim.Config{}, nil, func(w *world) {
		w.each(func(r int) {
			err := unevenRank(w, r)
			if err != nil {
				w.Errorf("rank %d: %v", r, err)
			}
		})
	})
}

func unevenRank(w *world, r int) error {
	b := Build(w.groups[r], toyProgram, "uneven")
	b.Counts(2)
	in, out := b.Shared("in", 40), b.Written(b.Caller("out", 40))
	b.Uneven(in, 4, 1, func(q, _ int) int { return q })
	b.Uneven(out, 4, 2, func(_, c int) int { return c })
	ready, read := b.Semaphore("ready"), b.Semaphore("read")
	p, err := b.Finish(w.Context(), func(q *Queue) {
		q.Post(q.Main(), ready)
		for c := range 2 {
			if c != r {
				q.Wait(q.Main(), ready, c)
			}
			q.Set(q.Main(), out.Part(c), in.Peer(c, 0), out.Size(c))
		}
		q.Post(q.Main(), read)
		q.Wait(q.Main(), read)
	})
	if err != nil {
		return err
	}
	d := w.groups[r].Driver()
	var at [2]driver.Ptr
	for i := range at {
		if at[i], err = d.MemAlloc(64); err != nil {
			return err
		}
	}
	if err := d.MemcpyHtoD(at[0], []byte(strings.Repeat(string(rune('a'+r)), 40))); err != nil {
		return err
	}
	for _, x := range []struct {
		counts []int
		want   string
	}{
		{[]int{0, 0}, ""}, {[]int{1, 2}, "aaaabbbbbbbb"}, {[]int{2, 1}, "aaaaaaaabbbb"}, {[]int{0, 3}, "bbbbbbbbbbbb"}, {[]int{3, 0}, "aaaaaaaaaaaa"},
		{[]int{0, 0}, ""},
	} {
		got := make([]byte, len(x.want))
		err := errors.Join(p.BindCounts(w.Context(), x.counts, at[0], at[1]), p.Run(w.Context()), d.MemcpyDtoH(got, at[1]))
		if err != nil || string(got) != x.want {
			return fmt.Errorf("counts %v: %q, want %q: %w", x.counts, got, x.want, err)
		}
	}
	for range 2 { // rank 1 has nothing of in, and comes to a Bind of other memory all the same
		if at[0], err = d.MemAlloc(64); err != nil {
			return err
		}
		if err := p.BindCounts(w.Context(), []int{3, 0}, at[0], at[1]); err != nil {
			return fmt.Errorf("other memory, of which rank 1 has nothing: %w", err)
		}
	}
	for _, x := range []struct {
		counts []int
		want   string
	}{{[]int{1 + r, 2}, "the ranks disagree on the counts"}, {[]int{1}, "1 counts, and the program has 2"}, {[]int{-1, 1}, "count 0 is -1"}, {[]int{1 << 62, 1}, "has a count of 4611686018427387904"}, {[]int{6, 6}, "the shape has room for 40"}} {
		for range 2 { // a second Bind after a refusal is as the first
			if err := p.BindCounts(w.Context(), x.counts, at[0], at[1]); err == nil || !strings.Contains(err.Error(), x.want) {
				return fmt.Errorf("counts %v: %v, want %q", x.counts, err, x.want)
			}
			if err := p.Run(w.Context()); !errors.Is(err, ErrNotBound) {
				return fmt.Errorf("run after counts %v: %v", x.counts, err)
			}
		}
	}
	// The room that the shape leaves may overlap; what the counts give may not.
	if err := errors.Join(p.BindCounts(w.Context(), []int{2, 2}, at[0], at[0]+16), p.Run(w.Context())); err != nil {
		return fmt.Errorf("out behind the two rows of in: %w", err)
	}
	if before := w.groups[r].Imports().Counters(); r == 1 { // with the same counts a rank may bind alone
		if err := p.BindCounts(w.Context(), []int{2, 2}, at[0], at[0]+32); err != nil {
			return fmt.Errorf("another out on rank 1: %w", err)
		}
		if got := w.groups[r].Imports().Counters(); got != before {
			return fmt.Errorf("another out on rank 1 took %+v, and %+v before", got, before)
		}
	}
	got := make([]byte, 16)
	err = errors.Join(d.MemcpyHtoD(at[0], []byte(strings.Repeat(string(rune('a'+r)), 8))), p.Run(w.Context()),
		d.MemcpyDtoH(got, at[0]+driver.Ptr(16+16*r)))
	if err != nil || string(got) != "aaaaaaaabbbbbbbb" {
		return fmt.Errorf("after a local Bind of rank 1: %q, %v", got, err)
	}
	if err := p.BindCounts(w.Context(), []int{5, 2}, at[0], at[0]+16); err == nil || !strings.Contains(err.Error(), "overlaps in at") {
		return fmt.Errorf("out within the five rows of rank 0's in: %v", err)
	}
	return errors.Join(p.Close(w.Context()), d.MemFree(at[0]), d.MemFree(at[1]))
}

// Padded chunks keep their distance whatever the counts, which must fit.
func TestPadded(t *testing.T) {
	inWorld(t, 1, sim.Config{}, nil, func(w *world) {
		b := Build(w.groups[0], toyProgram, "padded")
		b.Counts(2)
		f := b.Allocate("padded", 40)
		b.Uneven(f, 4, 2, func(_, c int) int { return c })
		b.Padded(f, 20)
		p, err := b.Finish(w.Context(), func(q *Queue) {})
		if err != nil {
			w.Fatal(err)
		}
		if err := p.BindCounts(w.Context(), []int{0, 0}); err != nil || f.Part(1)-f.Part(0) != 20 { // the first counts may all be 0
			w.Errorf("chunks %d apart, error %v", f.Part(1)-f.Part(0), err)
		}
		for range 2 { // a second Bind after a refusal is as the first
			if err := p.BindCounts(w.Context(), []int{6, 0}); err == nil || !strings.Contains(err.Error(), "give chunk 0 24 bytes, and the shape has room for 20") {
				w.Error(err)
			}
			if err := p.Run(w.Context()); !errors.Is(err, ErrNotBound) {
				w.Error(err)
			}
		}
		if err := p.BindCounts(w.Context(), []int{2, 5}); err != nil {
			w.Error(err)
		}
		if f.Part(1)-f.Part(0) != 20 || f.Size(0) != 8 || f.Size(1) != 20 || f.Room() != 20 {
			w.Errorf("chunks %d apart, of %d and %d bytes in %d", f.Part(1)-f.Part(0), f.Size(0), f.Size(1), f.Room())
		}
		if err := p.Close(w.Context()); err != nil {
			w.Error(err)
		}
		for _, room := range []int64{0, 21, 1 << 62} {
			b := Build(w.groups[0], toyProgram, "padded")
			f := b.Allocate("padded", 40)
			b.Uneven(f, 4, 2, func(_, c int) int { return c })
			b.Padded(f, room)
			if _, err := b.Finish(w.Context(), func(q *Queue) {}); err == nil || !strings.Contains(err.Error(), "no 2 chunks of") {
				w.Errorf("room of %d: %v", room, err)
			}
		}
	})
}
