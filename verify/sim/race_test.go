package sim_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"ovgen/runtime/driver"
	"ovgen/verify/sim"
)

type raceCase struct {
	name string
	run  func(r *rank)
	want string // in some report; none if empty
}

var raceCases = []raceCase{
	{"complete", (*rank).exchange, ""},
	{"complete, three runs in a row", func(r *rank) {
		for range 3 {
			r.after(r.main, r.copy)
			must(r.t, r.MemsetD32Async(r.buf, 7, 256, r.main)) // the caller writes A between runs
			r.exchange()
		}
	}, ""},
	{"no wait for ready", func(r *rank) {
		must(r.t, r.MemsetD32Async(r.buf, 7, 256, r.main))
		r.post(r.main, r.signs)
		r.pull(r.copy)
		r.wait(r.copy, r.words)
	}, "copy) reads"},
	{"posted before it was written", func(r *rank) {
		r.post(r.main, r.signs)
		must(r.t, r.MemsetD32Async(r.buf, 7, 256, r.main))
		r.wait(r.copy, r.words)
		r.pull(r.copy)
	}, "memset) writes"},
	{"no wait for read", func(r *rank) {
		for range 2 {
			must(r.t, r.MemsetD32Async(r.buf, 7, 256, r.main))
			r.post(r.main, r.signs)
			r.wait(r.main, r.words)
			r.pull(r.main)
		}
	}, "memset) writes"},
	{"copy stream does not wait for main", func(r *rank) {
		r.pull(r.copy)
		must(r.t, r.MemsetD32Async(r.buf+2048, 7, 256, r.main))
	}, "bytes [2048,3072)"},
	{"post twice", func(r *rank) {
		r.post(r.main, r.signs)
		r.post(r.main, r.signs)
		r.wait(r.copy, r.words)
	}, "lost post"},
	{"one workspace on two streams", func(r *rank) { r.shareWorkspace() }, "matmul) writes"},
	{"data over semaphores", func(r *rank) {
		must(r.t, r.MemcpyDtoDAsync(r.buf, r.words, 256, r.copy))
		r.post(r.main, r.signs)
	}, "batch) writes"},
	{"abort reads and releases words", func(r *rank) {
		r.wait(r.copy, r.words)
		must(r.t, r.MemsetD32Async(r.words, 1, 1, r.main))
	}, ""},
}

// TestRaces runs small programs on two ranks, eager, over seeds. Each that lacks one edge
// must be reported for most seeds, a program that lacks none never.
func TestRaces(t *testing.T) {
	for _, c := range raceCases {
		t.Run(c.name, c.test)
	}
}

func (c raceCase) test(t *testing.T) {
	reported, text := 0, ""
	for seed := range uint64(12) {
		races := racesOf(t, seed, c.run)
		if len(races) > 0 {
			reported++
		}
		for _, r := range races {
			text += r.String() + "\n"
		}
	}
	switch {
	case c.want == "" && reported > 0:
		t.Errorf("reported for a program that is right:\n%s", text)
	case c.want != "" && (reported < 9 || !strings.Contains(text, c.want)):
		t.Errorf("%d of 12 seeds reported, want most, and %q in:\n%s", reported, c.want, text)
	}
}

func racesOf(t *testing.T, seed uint64, run func(*rank)) (races []sim.Race) {
	bubble(t, sim.Config{Devices: 2, Seed: seed}, func(t *testing.T, w *sim.World) {
		p := pair(t, w)
		var all sync.WaitGroup
		for _, r := range p {
			all.Go(func() { run(r) })
		}
		all.Wait()
		time.Sleep(10 * time.Millisecond) // more than enough for all that can run
		races = w.Races()
	})
	return races
}

func (r *rank) shareWorkspace() {
	m, err := r.MatmulCreate(driver.MatmulDesc{M: 4, K: 4, N: 4, Type: driver.FP32})
	must(r.t, err)
	space := r.alloc(driver.WorkspaceBytes)
	must(r.t, r.Matmul(m, driver.Operands{C: r.buf, A: r.buf + 1024, B: r.buf + 1024, Workspace: space}, r.main))
	must(r.t, r.Matmul(m, driver.Operands{C: r.buf + 512, A: r.buf + 1024, B: r.buf + 1024, Workspace: space}, r.copy))
}

// TestHostEdges: what a host has waited for is ordered before what any host
// does next; freeing what a peer still reads is not.
func TestHostEdges(t *testing.T) {
	bubble(t, sim.Config{Devices: 2}, func(t *testing.T, w *sim.World) {
		p := pair(t, w)
		p[0].pull(p[0].main)
		must(t, p[0].StreamSynchronize(p[0].main))
		p[1].put(p[1].buf, make([]byte, 64)...)
		p[0].pull(p[0].main)
		must(t, p[0].CtxSynchronize())
		noRaces(t, w)
		p[0].wait(p[0].main, p[0].words)
		p[0].pull(p[0].main)
		p[1].post(p[1].main, p[1].signs)
		must(t, p[1].MemFree(p[1].buf))
		must(t, p[0].CtxSynchronize())
		if races := w.Races(); len(races) != 1 || !strings.Contains(races[0].String(), "rank 1 host (free) writes") {
			t.Errorf("races %v, want the free of what rank 0 reads", races)
		}
	})
}
