//go:build !nosim

package plan

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/runtime/driver/sim"
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
	in, out := b.Shared("in", 40), b.Caller("out", 40)
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
		if at[i], err = d.MemAlloc(40); err != nil {
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
		{[]int{1, 2}, "aaaabbbbbbbb"}, {[]int{2, 1}, "aaaaaaaabbbb"}, {[]int{0, 3}, "bbbbbbbbbbbb"},
	} {
		got := make([]byte, len(x.want))
		err := errors.Join(p.BindCounts(w.Context(), x.counts, at[0], at[1]), p.Run(w.Context()), d.MemcpyDtoH(got, at[1]))
		if err != nil || string(got) != x.want {
			return fmt.Errorf("counts %v: %q, want %q: %w", x.counts, got, x.want, err)
		}
	}
	for _, x := range []struct {
		counts []int
		want   string
	}{{[]int{1 + r, 2}, "the ranks disagree on the counts"}, {[]int{1}, "1 counts, and the program has 2"}, {[]int{-1, 1}, "count 0 is -1"}, {[]int{6, 6}, "the shape has room for 40"}} {
		if err := p.BindCounts(w.Context(), x.counts, at[0], at[1]); err == nil || !strings.Contains(err.Error(), x.want) {
			return fmt.Errorf("counts %v: %v, want %q", x.counts, err, x.want)
		}
	}
	return errors.Join(p.Close(w.Context()), d.MemFree(at[0]), d.MemFree(at[1]))
}
