package sim_test

import (
	"bytes"
	"slices"
	"sync"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/verify/sim"
)

// capture records what f enqueues after main and instantiates it.
func (r *rank) capture(f func()) driver.GraphExec {
	r.t.Helper()
	must(r.t, r.StreamBeginCapture(r.main))
	f()
	g, err := r.StreamEndCapture(r.main)
	must(r.t, err)
	x, err := r.GraphInstantiate(g)
	must(r.t, err)
	must(r.t, r.GraphDestroy(g))
	must(r.t, r.GraphUpload(x, r.main))
	return x
}

// TestReplay mixes replays of the exchange with eager runs, without a host wait.
func TestReplay(t *testing.T) {
	for seed := range uint64(20) {
		bubble(t, sim.Config{Devices: 2, Seed: seed}, func(t *testing.T, w *sim.World) {
			p := pair(t, w)
			var all sync.WaitGroup
			for i, r := range p {
				all.Go(func() {
					x := r.capture(r.exchange)
					for run := range 6 {
						must(t, r.MemsetD32Async(r.buf, uint32(10*run+i), 256, r.main))
						if run%3 == 2 {
							r.after(r.copy, r.main)
							r.exchange()
						} else {
							must(t, r.GraphLaunch(x, r.main))
						}
					}
					must(t, r.StreamSynchronize(r.main))
					if got := r.get(r.buf+2048, 1024); int(got[0]) != 51-i || int(got[1020]) != 51-i {
						t.Errorf("seed %d rank %d: pulled %d, want %d", seed, i, got[0], 51-i)
					}
					must(t, r.GraphExecDestroy(x))
				})
			}
			all.Wait()
			noRaces(t, w)
		})
	}
}

// TestReplayRace: a missing edge between nodes of a graph is reported.
func TestReplayRace(t *testing.T) {
	bubble(t, sim.Config{Devices: 2}, func(t *testing.T, w *sim.World) {
		r := pair(t, w)[0]
		x := r.capture(func() {
			r.after(r.copy, r.main)
			must(t, r.MemcpyDtoDAsync(r.buf, r.buf+1024, 64, r.copy))
			must(t, r.MemsetD32Async(r.buf, 1, 4, r.main))
			r.after(r.main, r.copy)
		})
		must(t, r.GraphLaunch(x, r.main))
		must(t, r.CtxSynchronize())
		if len(w.Races()) != 1 {
			t.Errorf("races %v, want one", w.Races())
		}
	})
}

// TestReplayOrder: launches of one graph on two streams run one after the other,
// and external events order them with other streams.
func TestReplayOrder(t *testing.T) {
	for seed := range uint64(10) {
		bubble(t, sim.Config{Devices: 2, Seed: seed}, func(t *testing.T, w *sim.World) {
			r := pair(t, w)[0]
			last := r.event()
			x := r.capture(func() {
				must(t, r.StreamWaitEvent(r.main, last, driver.External))
				must(t, r.MemcpyDtoDAsync(r.buf+64, r.buf, 64, r.main))
				must(t, r.EventRecordWithFlags(last, r.main, driver.External))
			})
			for run := range byte(4) {
				s := []driver.Stream{r.main, r.copy}[run%2]
				must(t, r.StreamWaitEvent(s, last, 0))
				must(t, r.MemsetD32Async(r.buf, uint32(run+1), 16, s))
				must(t, r.EventRecordWithFlags(last, s, 0))
				must(t, r.GraphLaunch(x, r.main))
			}
			must(t, r.EventSynchronize(last))
			if got := r.get(r.buf+64, 64); got[0] != 4 || got[60] != 4 {
				t.Errorf("the last replay left %d, want 4", got[0])
			}
			must(t, r.GraphLaunch(x, r.copy))
			must(t, r.GraphLaunch(x, r.main))
			must(t, r.CtxSynchronize())
			noRaces(t, w)
		})
	}
}

type captureCase struct {
	name string
	code int
	end  int // of StreamEndCapture afterwards
	call func(r *captureSide) error
}

type captureSide struct {
	*rank
	outside, inside driver.Event // recorded before and in the capture
	exec            driver.GraphExec
}

var captureCases = []captureCase{
	{"synchronize", 900, 901, func(r *captureSide) error { return r.StreamSynchronize(r.main) }},
	{"query", 900, 901, func(r *captureSide) error { _, err := r.StreamQuery(r.main); return err }},
	{"destroy", 900, 901, func(r *captureSide) error { return r.StreamDestroy(r.main) }},
	{"launch a graph", 900, 901, func(r *captureSide) error { return r.GraphLaunch(r.exec, r.main) }},
	{"upload a graph", 900, 901, func(r *captureSide) error { return r.GraphUpload(r.exec, r.main) }},
	{"query a captured event", 907, 901, func(r *captureSide) error { _, err := r.EventQuery(r.inside); return err }},
	{"synchronize a captured event", 907, 901, func(r *captureSide) error { return r.EventSynchronize(r.inside) }},
	{"wait for an uncaptured event", 905, 901,
		func(r *captureSide) error { return r.StreamWaitEvent(r.main, r.outside, 0) }},
	{"wait for an unrecorded event", 905, 901,
		func(r *captureSide) error { return r.StreamWaitEvent(r.main, r.event(), 0) }},
	{"begin again", 401, 0, func(r *captureSide) error { return r.StreamBeginCapture(r.main) }},
	{"begin on the legacy stream", 900, 0, func(r *captureSide) error { return r.StreamBeginCapture(0) }},
	{"end elsewhere", 401, 0, func(r *captureSide) error { _, err := r.StreamEndCapture(r.copy); return err }},
	{"end on a forked stream", 903, 901, func(r *captureSide) error {
		must(r.t, r.StreamWaitEvent(r.copy, r.inside, 0))
		_, err := r.StreamEndCapture(r.copy)
		return err
	}},
	{"unjoined", 0, 904, func(r *captureSide) error {
		must(r.t, r.StreamWaitEvent(r.copy, r.inside, 0))
		return r.MemsetD32Async(r.buf, 1, 1, r.copy)
	}},
	{"fork on the legacy stream", 900, 0, func(r *captureSide) error { return r.StreamWaitEvent(0, r.inside, 0) }},
	{"merge two captures", 902, 901, func(r *captureSide) error {
		must(r.t, r.StreamBeginCapture(r.copy))
		err := r.StreamWaitEvent(r.copy, r.inside, 0)
		_, end := r.StreamEndCapture(r.copy)
		wants(r.t, "the other capture", end, 901)
		return err
	}},
	{"a call after an error", 901, 901, func(r *captureSide) error {
		wants(r.t, "synchronize", r.StreamSynchronize(r.main), 900)
		return r.MemsetD32Async(r.buf, 1, 1, r.main)
	}},
	{"external record outside", 1, 0, func(r *captureSide) error {
		return r.EventRecordWithFlags(r.outside, r.copy, driver.External)
	}},
	{"external wait outside", 1, 0, func(r *captureSide) error {
		return r.StreamWaitEvent(r.copy, r.outside, driver.External)
	}},
	{"allocation", 0, 0, func(r *captureSide) error { r.alloc(64); return nil }},
}

// TestCaptureRefusals holds what CUDA refuses during a capture against its codes.
func TestCaptureRefusals(t *testing.T) {
	for _, c := range captureCases {
		t.Run(c.name, c.run)
	}
}

func (c captureCase) run(t *testing.T) {
	bubble(t, sim.Config{Devices: 2}, func(t *testing.T, w *sim.World) {
		r := &captureSide{rank: pair(t, w)[0]}
		r.t = t
		r.outside, r.inside = r.event(), r.event()
		r.exec = r.capture(func() {})
		must(t, r.EventRecordWithFlags(r.outside, r.copy, 0))
		must(t, r.StreamBeginCapture(r.main))
		must(t, r.EventRecordWithFlags(r.inside, r.main, 0))
		check := func(what string, err error, code int) {
			if code == 0 {
				must(t, err)
			} else {
				wants(t, what, err, code)
			}
		}
		check("the call", c.call(r), c.code)
		_, err := r.StreamEndCapture(r.main)
		check("the end", err, c.end)
		for _, s := range []driver.Stream{r.main, r.copy} {
			if on, err := r.StreamIsCapturing(s); on || err != nil {
				t.Errorf("still capturing: %v, %v", on, err)
			}
		}
		must(t, r.EventRecordWithFlags(r.inside, r.main, 0))
		must(t, r.CtxSynchronize())
	})
}

// TestQueueDepthOfGraphs: 17 launches of a graph of 60 nodes fill a stream.
func TestQueueDepthOfGraphs(t *testing.T) {
	bubble(t, sim.Config{Devices: 2}, func(t *testing.T, w *sim.World) {
		r := pair(t, w)[0]
		x := r.capture(func() {
			for range 60 {
				must(t, r.MemsetD32Async(r.buf, 1, 1, r.main))
			}
		})
		must(t, r.CtxSynchronize())
		r.wait(r.main, r.words)
		launched := 0
		go func() {
			for range 20 {
				must(t, r.GraphLaunch(x, r.main))
				launched++
			}
		}()
		settle()
		if launched != 17 {
			t.Errorf("%d launches were taken after a blocked wait, want 17", launched)
		}
		must(t, r.MemsetD32Async(r.words, 1, 1, r.copy))
		settle()
		must(t, r.CtxSynchronize())
	})
}

// TestGraphNodesRunFree: nodes are ordered by edges, not by the streams they
// were captured on.
func TestGraphNodesRunFree(t *testing.T) {
	orders := map[string]bool{}
	for seed := range uint64(20) {
		var order []byte
		cfg := sim.Config{Devices: 2, Seed: seed, Trace: func(m sim.Moment) {
			if m.Node > 0 && m.Step == 0 {
				order = append(order, byte('0'+m.Node))
			}
		}}
		bubble(t, cfg, func(t *testing.T, w *sim.World) {
			r := pair(t, w)[0]
			x := r.capture(func() {
				must(t, r.MemsetD32Async(r.buf, 1, 1, r.main))
				r.after(r.copy, r.main)
				must(t, r.MemsetD32Async(r.buf+64, 1, 1, r.main))
				must(t, r.MemsetD32Async(r.buf+128, 1, 1, r.copy))
				must(t, r.MemsetD32Async(r.buf+192, 1, 1, r.copy))
				r.after(r.main, r.copy)
			})
			must(t, r.GraphLaunch(x, r.main))
			must(t, r.CtxSynchronize())
			noRaces(t, w)
		})
		if len(order) != 4 || order[0] != '1' || slices.Index(order, '3') > slices.Index(order, '4') {
			t.Errorf("seed %d: nodes began in order %s", seed, order)
		}
		orders[string(bytes.Clone(order))] = true
	}
	if len(orders) != 3 {
		t.Errorf("orders %v, want all three that the edges allow", orders)
	}
}
