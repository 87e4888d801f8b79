package drivertest

import (
	"testing"

	"ovgen/runtime/driver"
)

// Room checks how many blocks of a kernel have room on a multiprocessor. The number must not fall as blocks shrink,
// must respect the threads and the shared memory of the multiprocessor, and must be 0 for an impossible block.
func Room(t *testing.T, d driver.Driver, f driver.Function) {
	b := &bench{T: t, d: d}
	ask := func(threads, shared int) int {
		n, err := d.OccupancyMaxActiveBlocksPerMultiprocessor(f, threads, shared)
		b.must(err)
		return n
	}
	large, small := ask(1024, 0), ask(128, 0)
	if large < 1 || small < large || small*128 > 2048 {
		t.Errorf("room for %d blocks of 1024 threads, and for %d of 128", large, small)
	}
	if full := ask(128, 40<<10); full < 1 || full > 228/41 || full >= small {
		t.Errorf("room for %d blocks of 40 KiB, and for %d without", full, small)
	}
	if n, err := d.OccupancyMaxActiveBlocksPerMultiprocessor(f, 128, 1<<20); err == nil && n != 0 {
		t.Errorf("room for %d blocks of a MiB", n)
	}
	if n, err := d.OccupancyMaxActiveBlocksPerMultiprocessor(f, 0, 0); err == nil && n != 0 {
		t.Errorf("room for %d blocks of no threads", n)
	}
}
