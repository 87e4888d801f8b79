package ipc

import (
	"testing"

	"ovgen/runtime/driver"
)

func TestAllocations(t *testing.T) {
	var a allocations
	wants := func(p driver.Ptr, base driver.Ptr, bytes int64) (id uint64) {
		t.Helper()
		got, ok := a.find(p)
		if ok != (bytes > 0) || ok && (got.Base != base || got.Bytes != bytes) {
			t.Errorf("%#x lies in %+v, %v, want %d bytes from %#x", p, got, ok, bytes, base)
		}
		if ok && got.ID&ours == 0 {
			t.Errorf("%#x has the id %#x, which could be CUDA's", p, got.ID)
		}
		return got.ID
	}
	wants(0x1000, 0, 0)
	a.remove(0x1000)
	a.add(0x3000, 0x100)
	a.add(0x1000, 0x100)
	a.add(0x2000, 0x1000)
	first := wants(0x1000, 0x1000, 0x100)
	wants(0x10ff, 0x1000, 0x100)
	wants(0x1100, 0, 0)
	wants(0xfff, 0, 0)
	wants(0x2fff, 0x2000, 0x1000)
	wants(0x3000, 0x3000, 0x100)
	if second := wants(0x2000, 0x2000, 0x1000); second == first {
		t.Error("two allocations have one id")
	}
	a.remove(0x1000)
	wants(0x1000, 0, 0)
	wants(0x2000, 0x2000, 0x1000)
	a.add(0x1000, 0x80)
	if again := wants(0x1000, 0x1000, 0x80); again == first {
		t.Error("an address used again has the id of before")
	}
	a.remove(0x2080) // no base
	wants(0x2080, 0x2000, 0x1000)
	a.add(0x2800, 0x900) // over memory that was freed without its knowledge
	wants(0x2000, 0, 0)
	wants(0x3050, 0x2800, 0x900)
	wants(0x1000, 0x1000, 0x80)
	a.add(0x2800, 0x10)
	wants(0x2810, 0, 0)
	if len(a.list) != 2 {
		t.Errorf("%+v", a.list)
	}
}
