package sim_test

import (
	"testing"

	"ovgen/runtime/driver"
	"ovgen/verify/drivertest"
	"ovgen/verify/sim"
)

const granule = 64 << 10

// TestVirtualMemoryLives: memory counts until its last handle and mapping are gone, and outlives its maker where a
// file of it is.
func TestVirtualMemoryLives(t *testing.T) {
	bubble(t, sim.Config{Devices: 2, Memory: 2 * granule}, func(t *testing.T, w *sim.World) {
		a, b := open(t, w, 0), open(t, w, 1)
		s, err := drivertest.NewSegment(a, 2, 1, driver.FileDescriptor)
		must(t, err)
		full := func(what string) {
			_, err := a.MemCreate(granule, 0)
			wants(t, what, err, 2)
		}
		full("two are mapped")
		kept, err := a.MemRetainAllocationHandle(s.Part(1))
		must(t, err)
		must(t, a.MemcpyHtoD(s.Part(1), []byte("kept")))
		must(t, s.Close())
		one, err := a.MemCreate(granule, 0)
		must(t, err)
		full("one is kept by a handle")
		file, err := a.MemExportToShareableHandle(kept, driver.FileDescriptor)
		must(t, err)
		must(t, a.MemRelease(kept))
		must(t, a.MemRelease(one))
		wants(t, "release twice", a.MemRelease(one), 1)
		must(t, a.Close())
		theirs, err := b.MemImportFromShareableHandle(file)
		must(t, err)
		at, err := b.MemAddressReserve(granule)
		must(t, err)
		must(t, b.MemMap(at, granule, theirs))
		must(t, b.MemSetAccess(at, granule, 1))
		got := make([]byte, 4)
		must(t, b.MemcpyDtoH(got, at))
		if string(got) != "kept" {
			t.Errorf("read %q", got)
		}
	})
}

// TestVirtualMemoryRefused: access comes with MemSetAccess, by device, and ends at the reservation.
func TestVirtualMemoryRefused(t *testing.T) {
	far := func(from, to int) bool { return from != 1 }
	bubble(t, sim.Config{Devices: 3, PeerAccess: far}, func(t *testing.T, w *sim.World) {
		c := open(t, w, 0)
		h, err := c.MemCreate(granule, driver.FabricHandle)
		must(t, err)
		at, err := c.MemAddressReserve(2 * granule)
		must(t, err)
		wants(t, "memory that is not mapped", c.MemcpyHtoD(at, []byte("x")), 1)
		must(t, c.MemMap(at, granule, h))
		wants(t, "no access", c.MemcpyHtoD(at, []byte("x")), 1)
		must(t, c.MemSetAccess(at, granule, 2))
		wants(t, "access of another device", c.MemcpyHtoD(at, []byte("x")), 1)
		wants(t, "access of a device out of reach", c.MemSetAccess(at, granule, 1), 101)
		wants(t, "access to half of it", c.MemSetAccess(at, granule/2, 0), 1)
		must(t, c.MemSetAccess(at, granule, 0))
		must(t, c.MemcpyHtoD(at, []byte("x")))
		wants(t, "beyond what is mapped", c.MemcpyHtoD(at+granule-1, []byte("xy")), 1)
		wants(t, "map outside of a reservation", c.MemMap(at+2*granule, granule, h), 1)
		wants(t, "unmap half of it", c.MemUnmap(at, granule/2), 1)
		wants(t, "free it", c.MemFree(at), 1)
		_, err = c.MemExportToShareableHandle(h, driver.FabricHandle)
		wants(t, "a device without a fabric", err, 1)
		other, err := c.MemAddressReserve(granule) // right behind
		must(t, err)
		if other != at+2*granule {
			t.Fatalf("reserved %#x behind %#x", other, at)
		}
		must(t, c.MemMap(at+granule, granule, h)) // the same memory a second time
		must(t, c.MemMap(other, granule, h))
		must(t, c.MemSetAccess(at+granule, granule, 0))
		must(t, c.MemSetAccess(other, granule, 0))
		must(t, c.MemcpyHtoD(at+granule-1, []byte("xy")))
		wants(t, "from one reservation to the next", c.MemcpyHtoD(other-1, []byte("xy")), 1)
	})
}

// TestVirtualMemoryRaces: accesses across a border are seen on both of its sides, at any of their addresses.
func TestVirtualMemoryRaces(t *testing.T) {
	bubble(t, sim.Config{Devices: 1}, func(t *testing.T, w *sim.World) {
		c := open(t, w, 0)
		s, err := drivertest.NewSegment(c, 2, 1, 0)
		must(t, err)
		one, err := c.StreamCreateWithPriority(driver.Normal)
		must(t, err)
		two, err := c.StreamCreateWithPriority(driver.Normal)
		must(t, err)
		from, err := c.MemAlloc(64)
		must(t, err)
		must(t, c.MemcpyDtoDAsync(s.Part(1)-8, from, 16, one))
		must(t, c.MemcpyDtoDAsync(s.Part(1)+4, from, 16, two))
		must(t, c.CtxSynchronize())
		races := w.Races()
		if len(races) != 1 || races[0].Allocation != 2 || races[0].From != 4 || races[0].To != 8 {
			t.Errorf("races %v", races)
		}
		must(t, s.Close())
	})
}
