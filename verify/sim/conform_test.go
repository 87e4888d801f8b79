package sim_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"ovgen/runtime/driver"
	"ovgen/verify/drivertest"
	"ovgen/verify/sim"
)

func process(t *testing.T) driver.Driver {
	t.Helper()
	b, err := driver.Lookup("sim")
	must(t, err)
	d, err := b.Open(0, 0)
	must(t, err)
	return d
}

func TestConformProcess(t *testing.T) {
	drivertest.Conform(t, func() driver.Driver { return process(t) })
}

func TestConformSeeded(t *testing.T) {
	w := sim.NewWorld(sim.Config{Devices: 2, Seed: 1})
	defer w.Close()
	drivertest.Conform(t, func() driver.Driver { return open(t, w, 1) })
	noRaces(t, w)
}

func TestPeers(t *testing.T) {
	w := sim.NewWorld(sim.Config{Devices: 2, Seed: 1})
	defer w.Close()
	drivertest.Peers(t, func(i int) driver.Driver { return open(t, w, i) })
	noRaces(t, w)
	b, err := driver.Lookup("sim")
	must(t, err)
	drivertest.Peers(t, func(i int) driver.Driver {
		d, err := b.Open(i, 0)
		must(t, err)
		return d
	})
}

// TestPeersRefused: a context of another process, one that was closed, a device out of reach; and what
// no device may use before it has access.
func TestPeersRefused(t *testing.T) {
	bubble(t, sim.Config{Devices: 3, PeerAccess: func(from, to int) bool { return to != 2 }},
		func(t *testing.T, w *sim.World) {
			a, b, far, gone := open(t, w, 0), open(t, w, 1), open(t, w, 2), open(t, w, 1)
			must(t, gone.Close())
			wants(t, "no context", a.CtxEnablePeerAccess(1), 201)
			wants(t, "a closed context", a.CtxEnablePeerAccess(gone.Context()), 201)
			wants(t, "no peer access", a.CtxEnablePeerAccess(far.Context()), 217)
			p, err := b.MemAlloc(64)
			must(t, err)
			wants(t, "memory without access", a.MemcpyHtoD(p, make([]byte, 64)), 1)
			must(t, a.CtxEnablePeerAccess(b.Context()))
			must(t, a.MemcpyHtoD(p, make([]byte, 64)))
			wants(t, "free a peer's memory", a.MemFree(p), 1)
			pooled, err := b.MemAllocPooled(64)
			must(t, err)
			wants(t, "a peer's pool", a.MemcpyHtoD(pooled, make([]byte, 64)), 1)
			must(t, b.MemFree(p))
			wants(t, "freed memory", a.MemcpyHtoD(p, make([]byte, 64)), 1)
		})
}

// TestPeersWait: a device's memory is mapped on those with access to it, so an allocation waits for
// their work too; without access it does not.
func TestPeersWait(t *testing.T) {
	for _, access := range []bool{false, true} {
		bubble(t, sim.Config{Devices: 2}, func(t *testing.T, w *sim.World) {
			a, b := open(t, w, 0), open(t, w, 1)
			word, err := a.MemAlloc(4)
			must(t, err)
			if access {
				must(t, a.CtxEnablePeerAccess(b.Context()))
			}
			s, err := a.StreamCreateWithPriority(driver.Normal)
			must(t, err)
			must(t, a.StreamBatchMemOp(s, []driver.MemOp{{Kind: driver.WaitEqual, Value: 1, Address: word}}))
			done := make(chan error, 1)
			go func() {
				_, err := b.MemAlloc(64)
				done <- err
			}()
			time.Sleep(time.Second)
			if waits := len(done) == 0; waits != access {
				t.Errorf("with access %v the allocation waits: %v", access, waits)
			}
			other, err := a.StreamCreateWithPriority(driver.High)
			must(t, err)
			must(t, a.MemsetD32Async(word, 1, 1, other))
			must(t, <-done)
		})
	}
}

func TestNoAllocs(t *testing.T) {
	drivertest.NoAllocs(t, func() driver.Driver { return process(t) })
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, w *sim.World, i int) *sim.Context {
	t.Helper()
	d, err := w.Open(i)
	must(t, err)
	return d.(*sim.Context)
}

func noRaces(t *testing.T, w *sim.World) {
	t.Helper()
	for _, r := range w.Races() {
		t.Error(r)
	}
}

// bubble runs f with a world of devices in virtual time.
func bubble(t *testing.T, cfg sim.Config, f func(t *testing.T, w *sim.World)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := sim.NewWorld(cfg)
		defer w.Close()
		f(t, w)
	})
}

// wants fails unless err carries the code.
func wants(t *testing.T, what string, err error, code int) {
	t.Helper()
	var s *driver.Status
	if !errors.As(err, &s) || s.Code != code {
		t.Errorf("%s: error %v, want code %d", what, err, code)
	}
}
