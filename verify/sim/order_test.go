package sim_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ovgen/runtime/driver"
	"ovgen/verify/sim"
)

// rank is a device with what the small programs of these tests use.
type rank struct {
	*sim.Context
	t           *testing.T
	main, copy  driver.Stream
	buf, words  driver.Ptr // 4096 bytes; 64 words; zeros at first
	peer, signs driver.Ptr // of the other rank, imported
}

// pair opens two ranks that have imported each other's memory.
func pair(t *testing.T, w *sim.World) [2]*rank {
	t.Helper()
	var p [2]*rank
	for i := range p {
		r := &rank{Context: open(t, w, i), t: t}
		r.main, r.copy = r.stream(), r.stream()
		r.buf, r.words = r.alloc(4096), r.alloc(256)
		r.put(r.buf, make([]byte, 4096)...)
		r.put(r.words, make([]byte, 256)...)
		p[i] = r
	}
	for i, r := range p {
		r.peer, r.signs = r.imports(p[1-i], p[1-i].buf), r.imports(p[1-i], p[1-i].words)
	}
	return p
}

func (r *rank) stream() driver.Stream {
	s, err := r.StreamCreateWithPriority(driver.Normal)
	must(r.t, err)
	return s
}

func (r *rank) alloc(n int64) driver.Ptr {
	p, err := r.MemAlloc(n)
	must(r.t, err)
	return p
}

func (r *rank) event() driver.Event {
	e, err := r.EventCreate(false)
	must(r.t, err)
	return e
}

func (r *rank) imports(from *rank, p driver.Ptr) driver.Ptr {
	h, err := from.IpcGetMemHandle(p)
	must(r.t, err)
	q, err := r.IpcOpenMemHandle(h)
	must(r.t, err)
	return q
}

func (r *rank) put(p driver.Ptr, data ...byte) { must(r.t, r.MemcpyHtoD(p, data)) }

func (r *rank) get(p driver.Ptr, n int) []byte {
	b := make([]byte, n)
	must(r.t, r.MemcpyDtoH(b, p))
	return b
}

func (r *rank) post(s driver.Stream, word driver.Ptr) {
	must(r.t, r.StreamBatchMemOp(s, []driver.MemOp{{Kind: driver.Write, Value: 1, Address: word}}))
}

func (r *rank) wait(s driver.Stream, word driver.Ptr) {
	must(r.t, r.StreamBatchMemOp(s, []driver.MemOp{
		{Kind: driver.WaitEqual, Value: 1, Address: word}, {Kind: driver.Write, Value: 0, Address: word}}))
}

func (r *rank) pull(s driver.Stream) { must(r.t, r.MemcpyDtoDAsync(r.buf+2048, r.peer, 1024, s)) }

func (r *rank) after(s, on driver.Stream) {
	e := r.event()
	must(r.t, r.EventRecordWithFlags(e, on, 0))
	must(r.t, r.StreamWaitEvent(s, e, 0))
	must(r.t, r.EventDestroy(e))
}

// exchange is the shape of a program: post ready, pull the peer's half on the
// copy stream, tell it that its half was read, join.
func (r *rank) exchange() {
	r.post(r.main, r.signs)
	r.after(r.copy, r.main)
	r.wait(r.copy, r.words)
	r.pull(r.copy)
	r.post(r.copy, r.signs+4)
	r.wait(r.copy, r.words+4)
	r.after(r.main, r.copy)
}

func TestExchange(t *testing.T) {
	for seed := range uint64(20) {
		bubble(t, sim.Config{Devices: 2, Seed: seed}, func(t *testing.T, w *sim.World) {
			p := pair(t, w)
			var all sync.WaitGroup
			for i, r := range p {
				all.Go(func() {
					for run := range byte(3) {
						r.put(r.buf, bytes.Repeat([]byte{run*2 + byte(i) + 1}, 1024)...)
						r.exchange()
						must(t, r.StreamSynchronize(r.main))
						if got, want := r.get(r.buf+2048, 1024), bytes.Repeat([]byte{run*2 + byte(1-i) + 1},
							1024); !bytes.Equal(got, want) {
							t.Errorf("seed %d rank %d run %d: got %d, want %d", seed, i, run, got[0], want[0])
						}
					}
				})
			}
			all.Wait()
			noRaces(t, w)
		})
	}
}

// TestSeed runs the exchange with equal and with different seeds.
func TestSeed(t *testing.T) {
	trace := func(seed uint64) (lines []string) {
		cfg := sim.Config{Devices: 2, Seed: seed, Trace: func(m sim.Moment) {
			lines = append(lines, fmt.Sprintf("%v %v %d", m.At, m.Op, m.Step))
		}}
		bubble(t, cfg, func(t *testing.T, w *sim.World) {
			p := pair(t, w)
			var all sync.WaitGroup
			for _, r := range p {
				all.Go(func() {
					for range 3 {
						r.exchange()
						time.Sleep(100 * time.Microsecond)
						must(t, r.StreamSynchronize(r.main))
					}
				})
			}
			all.Wait()
		})
		return lines
	}
	seen := map[string]bool{}
	for seed := range uint64(5) {
		a, b := trace(seed), trace(seed)
		if !slices.Equal(a, b) {
			for i := range a {
				if i >= len(b) || a[i] != b[i] {
					t.Fatalf("seed %d: two runs differ at %d: %s", seed, i, a[i])
				}
			}
		}
		seen[strings.Join(a, "\n")] = true
	}
	if len(seen) != 5 {
		t.Errorf("5 seeds gave %d orders", len(seen))
	}
}

// TestEventCapturesRecordAtCall: a wait means the record before it, not a later one.
func TestEventCapturesRecordAtCall(t *testing.T) {
	bubble(t, sim.Config{Devices: 2}, func(t *testing.T, w *sim.World) {
		r := pair(t, w)[0]
		e := r.event()
		must(t, r.StreamWaitEvent(r.main, e, 0)) // never recorded: no wait
		must(t, r.StreamSynchronize(r.main))
		must(t, r.EventRecordWithFlags(e, r.copy, 0))
		must(t, r.StreamWaitEvent(r.main, e, 0))
		r.wait(r.copy, r.words)
		must(t, r.EventRecordWithFlags(e, r.copy, 0))
		must(t, r.StreamSynchronize(r.main)) // hangs if it waited for the second
		if done, err := r.EventQuery(e); done || err != nil {
			t.Errorf("the second record is done %v, error %v", done, err)
		}
		r.post(r.main, r.words)
		must(t, r.EventSynchronize(e))
	})
}

// TestInterleaving: a copy that is not ordered with a writer sees old, new and
// mixed contents, over seeds.
func TestInterleaving(t *testing.T) {
	kinds := map[string]int{}
	for seed := range uint64(60) {
		bubble(t, sim.Config{Devices: 2, Seed: seed}, func(t *testing.T, w *sim.World) {
			p := pair(t, w)
			p[1].put(p[1].buf, make([]byte, 1024)...)
			must(t, p[1].MemcpyDtoDAsync(p[1].buf, p[1].buf+1024, 1024, p[1].main))
			fill := bytes.Repeat([]byte{9}, 1024)
			p[1].put(p[1].buf+1024, fill...)
			must(t, p[1].MemcpyDtoDAsync(p[1].buf, p[1].buf+1024, 1024, p[1].main))
			p[0].pull(p[0].main)
			must(t, p[0].CtxSynchronize())
			must(t, p[1].CtxSynchronize())
			got := p[0].get(p[0].buf+2048, 1024)
			switch n := bytes.Count(got, []byte{9}); n {
			case 0:
				kinds["old"]++
			case 1024:
				kinds["new"]++
			default:
				kinds["mixed"]++
			}
			if len(w.Races()) == 0 {
				t.Errorf("seed %d: no race was reported", seed)
			}
		})
	}
	if len(kinds) != 3 {
		t.Errorf("60 seeds saw %v, want old, new and mixed", kinds)
	}
}

func TestDelay(t *testing.T) {
	cfg := sim.Config{Devices: 2, Delay: func(o sim.Op) time.Duration {
		if o.Kind == "copy" && o.Rank == 0 {
			return time.Second
		}
		return 0
	}, Costs: sim.Costs{Copy: 1e9}}
	bubble(t, cfg, func(t *testing.T, w *sim.World) {
		p := pair(t, w)
		began := time.Now()
		p[0].pull(p[0].main)
		p[1].pull(p[1].main)
		must(t, p[1].CtxSynchronize())
		if d := time.Since(began); d > 100*time.Microsecond {
			t.Errorf("rank 1 was done after %v: it waited for the slow copy of rank 0", d)
		}
		must(t, p[0].CtxSynchronize())
		if d := time.Since(began); d < time.Second || d > time.Second+time.Millisecond {
			t.Errorf("rank 0's slow copy took %v, want a second", d)
		}
	})
}

// settle lets everything run that can.
func settle() {
	time.Sleep(time.Second)
	synctest.Wait()
}

// TestQueueDepth: a host that enqueues on a blocked stream blocks; another thread's
// memset still gets through and releases it.
func TestQueueDepth(t *testing.T) {
	bubble(t, sim.Config{Devices: 2}, func(t *testing.T, w *sim.World) {
		r := pair(t, w)[0]
		enqueued := 0
		r.wait(r.main, r.words)
		go func() {
			for range 2000 {
				must(t, r.MemsetD32Async(r.buf, 1, 1, r.main))
				enqueued++
			}
		}()
		settle()
		if enqueued != 1024-2 {
			t.Errorf("%d operations were enqueued after a blocked wait, want 1022", enqueued)
		}
		must(t, r.MemsetD32Async(r.words, 1, 1, r.copy))
		settle()
		must(t, r.CtxSynchronize())
		if enqueued != 2000 {
			t.Errorf("%d operations were enqueued after the release, want 2000", enqueued)
		}
	})
}

// TestQueues: with one hardware queue a release on another stream does not get
// past a blocked wait; only the peer's does.
func TestQueues(t *testing.T) {
	for queues, want := range map[int]bool{1: false, 8: true, 0: true} {
		bubble(t, sim.Config{Devices: 2, Queues: queues}, func(t *testing.T, w *sim.World) {
			p := pair(t, w)
			p[0].wait(p[0].main, p[0].words)
			must(t, p[0].MemsetD32Async(p[0].words, 1, 1, p[0].copy))
			settle()
			if done, err := p[0].StreamQuery(p[0].main); done != want || err != nil {
				t.Errorf("%d queues: released %v (%v), want %v", queues, done, err, want)
			}
			if !want {
				if lines := w.Waiting(); len(lines) != 2 ||
					!strings.Contains(lines[0], "waits for word 0x0 of rank 0 to be 1, it is 0") {
					t.Errorf("waiting: %q", lines)
				}
			}
			p[1].post(p[1].main, p[1].signs)
			must(t, p[0].CtxSynchronize())
		})
	}
}

// TestSyncingCalls: a call that may synchronise the device waits for a blocked
// stream, unless Config.FreeCalls.
func TestSyncingCalls(t *testing.T) {
	for _, free := range []bool{false, true} {
		bubble(t, sim.Config{Devices: 2, FreeCalls: free}, func(t *testing.T, w *sim.World) {
			r := pair(t, w)[0]
			r.wait(r.main, r.words)
			done := false
			go func() {
				r.alloc(64)
				done = true
			}()
			settle()
			if done != free {
				t.Errorf("FreeCalls %v: MemAlloc returned %v while a stream was blocked", free, done)
			}
			r.post(r.copy, r.words)
			settle()
			if !done {
				t.Error("MemAlloc did not return after the release")
			}
		})
	}
}

// TestClose: calls that wait return when the driver or the world is closed.
func TestClose(t *testing.T) {
	bubble(t, sim.Config{Devices: 2}, func(t *testing.T, w *sim.World) {
		p := pair(t, w)
		for i, end := range []func(){func() { must(t, p[0].Close()) }, w.Close} {
			var err error
			p[i].wait(p[i].main, p[i].words)
			go func() { err = p[i].StreamSynchronize(p[i].main) }()
			settle()
			end()
			settle()
			if err == nil {
				t.Errorf("rank %d: StreamSynchronize waits on, or succeeded", i)
			}
		}
	})
}
