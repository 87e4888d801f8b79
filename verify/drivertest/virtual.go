package drivertest

import (
	"bytes"
	"os"
	"syscall"

	"ovgen/runtime/driver"
)

// Segment is mapped memory of several allocations, one after the other, like PyTorch's expandable segments.
type Segment struct {
	At    driver.Ptr
	Bytes int64
	v     driver.VirtualMemory
	unit  int64
}

// NewSegment maps a number of allocations of that many granules each, with access for the device.
func NewSegment(d driver.Driver, parts, granules int, types driver.HandleType) (*Segment, error) {
	granule, err := d.MemGetAllocationGranularity()
	if err != nil {
		return nil, err
	}
	s := &Segment{v: d, unit: int64(granules) * granule}
	if s.At, err = d.MemAddressReserve(int64(parts) * s.unit); err != nil {
		return nil, err
	}
	for range parts {
		h, err := d.MemCreate(s.unit, types)
		if err != nil {
			return nil, err
		}
		if err := d.MemMap(s.At+driver.Ptr(s.Bytes), s.unit, h); err != nil {
			return nil, err
		}
		s.Bytes += s.unit
		if err := d.MemRelease(h); err != nil {
			return nil, err
		}
	}
	return s, d.MemSetAccess(s.At, s.Bytes, d.Properties().Ordinal)
}

// Part is the address of an allocation.
func (s *Segment) Part(i int) driver.Ptr { return s.At + driver.Ptr(int64(i)*s.unit) }

// Renew maps another allocation in the place of a part.
func (s *Segment) Renew(d driver.Driver, i int, types driver.HandleType) error {
	if err := s.v.MemUnmap(s.Part(i), s.unit); err != nil {
		return err
	}
	h, err := s.v.MemCreate(s.unit, types)
	if err != nil {
		return err
	}
	if err := s.v.MemMap(s.Part(i), s.unit, h); err != nil {
		return err
	}
	if err := s.v.MemRelease(h); err != nil {
		return err
	}
	return s.v.MemSetAccess(s.Part(i), s.unit, d.Properties().Ordinal)
}

// Close unmaps the whole segment.
func (s *Segment) Close() error {
	for i := range int(s.Bytes / s.unit) {
		if err := s.v.MemUnmap(s.Part(i), s.unit); err != nil {
			return err
		}
	}
	return s.v.MemAddressFree(s.At, s.Bytes)
}

// mappedMemory goes through the life of a segment twice, and the second time leaves no file open.
func mappedMemory(b *bench) {
	v := b.d
	mapOnce(b, v)
	before := openFiles(b)
	mapOnce(b, v)
	if after := openFiles(b); after != before {
		b.Errorf("%d files are open, and were %d", after, before)
	}
}

func openFiles(b *bench) int {
	list, err := os.ReadDir("/proc/self/fd")
	b.must(err)
	return len(list)
}

func mapOnce(b *bench, v driver.VirtualMemory) {
	s, err := NewSegment(b.d, 3, 1, driver.FileDescriptor)
	b.must(err)
	ids := map[uint64]bool{}
	for i := range 3 {
		for _, at := range []driver.Ptr{s.Part(i), s.Part(i) + 100, s.Part(i) + driver.Ptr(s.unit) - 1} {
			base, n, err := b.d.MemGetAddressRange(at)
			b.must(err)
			if base != s.Part(i) || n != s.unit {
				b.Errorf("%#x lies in [%#x, +%d], want %d bytes from %#x", at, base, n, s.unit, s.Part(i))
			}
			a, err := b.d.PointerGetAttributes(at)
			b.must(err)
			if !a.Device || a.LegacyIpcCapable || a.Pooled || a.Ordinal != b.d.Properties().Ordinal {
				b.Errorf("mapped memory has %+v", a)
			}
			ids[a.BufferID] = true
		}
	}
	if len(ids) != 3 || ids[0] {
		b.Errorf("buffer ids %v of three allocations", ids)
	}
	if _, err := b.d.IpcGetMemHandle(s.At); err == nil {
		b.Error("CUDA IPC exported mapped memory")
	}
	data := pattern(1 << 12)
	across := s.Part(1) - 1000
	b.must(b.d.MemcpyHtoD(across, data))
	if got := b.get(across, int64(len(data))); !bytes.Equal(got, data) {
		b.Error("a copy across allocations went wrong")
	}
	again := reopen(b, v, s)
	b.must(s.Close())
	if got := b.get(again.Part(1)-1000, int64(len(data))); !bytes.Equal(got, data) {
		b.Error("memory that was exported and imported holds something else")
	}
	b.must(again.Close())
}

// reopen maps the allocations of a segment at other addresses, by files, as another process does.
func reopen(b *bench, v driver.VirtualMemory, s *Segment) *Segment {
	at, err := v.MemAddressReserve(s.Bytes)
	b.must(err)
	again := &Segment{At: at, Bytes: s.Bytes, v: v, unit: s.unit}
	for i := range int(s.Bytes / s.unit) {
		h, err := v.MemRetainAllocationHandle(s.Part(i) + 64)
		b.must(err)
		types, err := v.MemGetAllocationPropertiesFromHandle(h)
		b.must(err)
		if types != driver.FileDescriptor {
			b.Errorf("memory was made for handles %d, want %d", types, driver.FileDescriptor)
		}
		shared, err := v.MemExportToShareableHandle(h, driver.FileDescriptor)
		b.must(err)
		b.must(v.MemRelease(h))
		other, err := v.MemImportFromShareableHandle(shared)
		b.must(err)
		b.must(syscall.Close(shared.File))
		b.must(v.MemMap(again.Part(i), s.unit, other))
		b.must(v.MemRelease(other))
	}
	b.must(v.MemSetAccess(at, s.Bytes, b.d.Properties().Ordinal))
	return again
}

// badMappedMemory makes impossible requests.
func badMappedMemory(b *bench) {
	v := b.d
	unit, err := v.MemGetAllocationGranularity()
	b.must(err)
	if unit <= 0 || unit%4096 != 0 {
		b.Errorf("a granularity of %d", unit)
	}
	_, err = v.MemCreate(unit+1, 0)
	b.status(err, "make memory that is no multiple of the granularity")
	_, err = v.MemRetainAllocationHandle(8)
	b.status(err, "retain what is not mapped")
	h, err := v.MemCreate(unit, 0)
	b.must(err)
	_, err = v.MemExportToShareableHandle(h, driver.FileDescriptor)
	b.status(err, "export memory that was made for no handle")
	null, err := os.Open(os.DevNull)
	b.must(err)
	_, err = v.MemImportFromShareableHandle(driver.Shareable{Type: driver.FileDescriptor, File: int(null.Fd())})
	b.status(err, "import a file that is no memory")
	b.must(null.Close())
	at, err := v.MemAddressReserve(2 * unit)
	b.must(err)
	b.status(v.MemSetAccess(at, unit, b.d.Properties().Ordinal), "access to what is not mapped")
	b.must(v.MemMap(at, unit, h))
	b.status(v.MemMap(at, unit, h), "map where something is")
	b.status(v.MemAddressFree(at, 2*unit), "give back addresses that are mapped")
	b.must(v.MemUnmap(at, unit))
	b.must(v.MemUnmap(at, unit)) // once more is no error
	b.must(v.MemAddressFree(at, 2*unit))
	b.must(v.MemRelease(h))
}
