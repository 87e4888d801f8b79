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

// unevenPlan is a plan of one rank of two, each of which gathers the other's chunk.
type unevenPlan struct {
	*Plan
	w      *world
	r      int
	driver driver.Driver
	in     driver.Ptr // of 64 bytes, as out
	out    driver.Ptr
}

func unevenRank(w *world, r int) error {
	p := &unevenPlan{w: w, r: r, driver: w.groups[r].Driver()}
	if err := p.make(); err != nil {
		return err
	}
	for _, test := range []func() error{p.follows, p.rebinds, p.refuses, p.bindsAlone} {
		if err := test(); err != nil {
			return err
		}
	}
	return errors.Join(p.Close(w.Context()), p.driver.MemFree(p.in), p.driver.MemFree(p.out))
}

func (p *unevenPlan) make() (err error) {
	b := Build(p.w.groups[p.r], toyProgram, "uneven")
	b.Counts(2)
	in, out := b.Shared("in", 40), b.Written(b.Caller("out", 40))
	b.Uneven(in, 4, 1, func(q, _ int) int { return q })
	b.Uneven(out, 4, 2, func(_, c int) int { return c })
	ready, read := b.Semaphore("ready"), b.Semaphore("read")
	p.Plan, err = b.Finish(p.w.Context(), func(q *Queue) {
		q.Post(q.Main(), ready)
		for c := range 2 {
			if c != p.r {
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
	for _, at := range []*driver.Ptr{&p.in, &p.out} {
		if *at, err = p.driver.MemAlloc(64); err != nil {
			return err
		}
	}
	return p.fill(40)
}

// fill writes n times the rank's letter to in.
func (p *unevenPlan) fill(n int) error {
	return p.driver.MemcpyHtoD(p.in, []byte(strings.Repeat(string(rune('a'+p.r)), n)))
}

func (p *unevenPlan) bind(counts []int, out driver.Ptr) error {
	return p.BindCounts(p.w.Context(), counts, p.in, out)
}

// follows runs with the counts of one Bind after another.
func (p *unevenPlan) follows() error {
	for _, x := range []struct {
		counts []int
		want   string
	}{
		{[]int{0, 0}, ""},
		{[]int{1, 2}, "aaaabbbbbbbb"},
		{[]int{2, 1}, "aaaaaaaabbbb"},
		{[]int{0, 3}, "bbbbbbbbbbbb"},
		{[]int{3, 0}, "aaaaaaaaaaaa"},
		{[]int{0, 0}, ""},
	} {
		got := make([]byte, len(x.want))
		err := errors.Join(p.bind(x.counts, p.out), p.Run(p.w.Context()), p.driver.MemcpyDtoH(got, p.out))
		if err != nil || string(got) != x.want {
			return fmt.Errorf("counts %v: %q, want %q: %w", x.counts, got, x.want, err)
		}
	}
	return nil
}

// rebinds takes other memory, of which rank 1 has nothing, and comes to the Bind all the same.
func (p *unevenPlan) rebinds() (err error) {
	for range 2 {
		if p.in, err = p.driver.MemAlloc(64); err != nil {
			return err
		}
		if err := p.bind([]int{3, 0}, p.out); err != nil {
			return fmt.Errorf("other memory, of which rank 1 has nothing: %w", err)
		}
	}
	return nil
}

func (p *unevenPlan) refuses() error {
	for _, x := range []struct {
		counts []int
		want   string
	}{
		{[]int{1 + p.r, 2}, "the ranks disagree on the counts"},
		{[]int{1}, "1 counts, and the program has 2"},
		{[]int{-1, 1}, "count 0 is -1"},
		{[]int{1 << 62, 1}, "has a count of 4611686018427387904"},
		{[]int{6, 6}, "the shape has room for 40"},
	} {
		for range 2 { // a second Bind after a refusal is as the first
			if err := p.bind(x.counts, p.out); err == nil || !strings.Contains(err.Error(), x.want) {
				return fmt.Errorf("counts %v: %v, want %q", x.counts, err, x.want)
			}
			if err := p.Run(p.w.Context()); !errors.Is(err, ErrNotBound) {
				return fmt.Errorf("run after counts %v: %v", x.counts, err)
			}
		}
	}
	p.rows = 5 // as products have that take all
	defer func() { p.rows = 0 }()
	for _, counts := range [][]int{{2, 2}, {3, 3}} {
		want := fmt.Sprintf("the counts are of %d rows, and products take 5", counts[0]+counts[1])
		if err := p.bind(counts, p.out); err == nil || !strings.Contains(err.Error(), want) {
			return fmt.Errorf("counts %v: %v, want %q", counts, err, want)
		}
	}
	return nil
}

// bindsAlone lets rank 1 bind another out. The room that the shape leaves may overlap; the chunks
// that the counts give may not.
func (p *unevenPlan) bindsAlone() error {
	if err := errors.Join(p.bind([]int{2, 2}, p.in+16), p.Run(p.w.Context())); err != nil {
		return fmt.Errorf("out after the two rows of in: %w", err)
	}
	imports := p.w.groups[p.r].Imports()
	if before := imports.Counters(); p.r == 1 {
		if err := p.bind([]int{2, 2}, p.in+32); err != nil {
			return fmt.Errorf("another out on rank 1: %w", err)
		}
		if got := imports.Counters(); got != before {
			return fmt.Errorf("another out on rank 1 took %+v, and %+v before", got, before)
		}
	}
	got := make([]byte, 16)
	err := errors.Join(p.fill(8), p.Run(p.w.Context()), p.driver.MemcpyDtoH(got, p.in+driver.Ptr(16+16*p.r)))
	if err != nil || string(got) != "aaaaaaaabbbbbbbb" {
		return fmt.Errorf("after a local Bind of rank 1: %q, %v", got, err)
	}
	if err := p.bind([]int{5, 2}, p.in+16); err == nil || !strings.Contains(err.Error(), "overlaps in at") {
		return fmt.Errorf("out within the five rows of rank 0's in: %v", err)
	}
	return nil
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
		// The first counts may all be 0.
		if err := p.BindCounts(w.Context(), []int{0, 0}); err != nil || f.Part(1)-f.Part(0) != 20 {
			w.Errorf("chunks %d apart, error %v", f.Part(1)-f.Part(0), err)
		}
		for range 2 { // a second Bind after a refusal is as the first
			const want = "give chunk 0 24 bytes, and the shape has room for 20"
			if err := p.BindCounts(w.Context(), []int{6, 0}); err == nil || !strings.Contains(err.Error(), want) {
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
			_, err := b.Finish(w.Context(), func(q *Queue) {})
			if err == nil || !strings.Contains(err.Error(), "no 2 chunks of") {
				w.Errorf("room of %d: %v", room, err)
			}
		}
	})
}
