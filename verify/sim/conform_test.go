package sim_test

import (
	"errors"
	"testing"
	"testing/synctest"

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

// TestPeersRefused: what no device may use before it has access, and a device out of reach.
func TestPeersRefused(t *testing.T) {
	bubble(t, sim.Config{Devices: 3, PeerAccess: func(from, to int) bool { return from != 2 }},
		func(t *testing.T, w *sim.World) {
			a, b := open(t, w, 0), open(t, w, 1)
			plain, err := b.MemAlloc(64)
			must(t, err)
			wants(t, "a peer's allocation", a.MemcpyHtoD(plain, make([]byte, 64)), 1)
			s, err := drivertest.NewSegment(b, 1, 1, 0)
			must(t, err)
			wants(t, "memory without access", a.MemcpyHtoD(s.At, make([]byte, 64)), 1)
			wants(t, "no peer access", a.MemSetAccess(s.At, s.Bytes, 2), 101)
			must(t, a.MemSetAccess(s.At, s.Bytes, 0))
			must(t, a.MemcpyHtoD(s.At, make([]byte, 64)))
			must(t, errors.Join(s.Close(), b.MemFree(plain)))
			wants(t, "freed memory", a.MemcpyHtoD(s.At, make([]byte, 64)), 1)
		})
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
