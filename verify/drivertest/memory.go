package drivertest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"syscall"
	"unsafe"

	"ovgen/runtime/driver"
)

// refused fails unless there is an error and, with a target, the error wraps it.
func (b *bench) refused(err error, what string, target error) {
	b.Helper()
	if err == nil || target != nil && !errors.Is(err, target) {
		b.Errorf("%s: error %v, want %v", what, err, target)
	}
}

// status fails unless err wraps a driver.Status.
func (b *bench) status(err error, what string) {
	b.Helper()
	var s *driver.Status
	if !errors.As(err, &s) || s.Code == 0 || s.Call == "" || s.Text == "" {
		b.Errorf("%s: error %v, want one with call, code and text", what, err)
	}
}

func pattern(n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(i*7 + i>>8)
	}
	return p
}

func copies(b *bench) {
	data := pattern(1 << 16)
	src, dst, s := b.put(data), b.put(make([]byte, len(data))), b.stream(driver.High)
	b.must(b.d.MemcpyDtoDAsync(dst+16, src+1, 1000, s))
	b.must(b.d.MemcpyDtoDAsync(dst+2000, src, 40000, s))
	b.must(b.d.StreamSynchronize(s))
	want := make([]byte, len(data))
	copy(want[16:], data[1:1001])
	copy(want[2000:], data[:40000])
	if !bytes.Equal(b.get(dst, int64(len(want))), want) {
		b.Error("the copies wrote something else")
	}
	if got := b.get(src+5, 3); !bytes.Equal(got, data[5:8]) {
		b.Errorf("read %v at offset 5, want %v", got, data[5:8])
	}
}

// rowCopies copies a range of each row out of rows that lie apart, and back into other rows.
func rowCopies(b *bench) {
	const height, width, wide, far = 37, 5, 11, 16
	data := pattern(height * wide)
	src, dense, dst := b.put(data), b.put(make([]byte, height*width)), b.put(make([]byte, height*far))
	s := b.stream(driver.High)
	b.must(b.d.Memcpy2DAsync(driver.Memcpy2D{Dst: dense, DstPitch: width, Src: src + 3, SrcPitch: wide, Width: width,
		Height: height}, s))
	b.must(b.d.Memcpy2DAsync(driver.Memcpy2D{Dst: dst + 7, DstPitch: far, Src: dense, SrcPitch: width, Width: width,
		Height: height}, s))
	b.must(b.d.StreamSynchronize(s))
	want := make([]byte, height*far)
	for i := range height {
		copy(want[i*far+7:][:width], data[i*wide+3:])
	}
	if !bytes.Equal(b.get(dst, int64(len(want))), want) {
		b.Error("the copies of rows wrote something else")
	}
	b.status(b.d.Memcpy2DAsync(driver.Memcpy2D{Dst: dst, DstPitch: width - 1, Src: src, SrcPitch: wide, Width: width,
		Height: 2}, s), "copy rows that overlap")
}

func memset(b *bench) {
	s := b.stream(driver.Normal)
	for _, x := range []struct{ first, count int }{{2, 4}, {2, 1}, {3, 1}, {3, 2}, {3, 6}, {0, 7}} {
		p := b.put(make([]byte, 64))
		b.must(b.d.MemsetD32Async(p+driver.Ptr(4*x.first), 0xdeadbeef, int64(x.count), s))
		b.must(b.d.StreamSynchronize(s))
		for i, w := range words(b.get(p, 64)) {
			if want := map[bool]uint32{true: 0xdeadbeef}[i >= x.first && i < x.first+x.count]; w != want {
				b.Errorf("%d words from %d on: word %d is %#x, want %#x", x.count, x.first, i, w, want)
			}
		}
	}
}

func words(data []byte) []uint32 {
	w := make([]uint32, len(data)/4)
	for i := range w {
		w[i] = binary.LittleEndian.Uint32(data[4*i:])
	}
	return w
}

func ranges(b *bench) {
	p := b.alloc(10000)
	for _, at := range []driver.Ptr{p, p + 1, p + 9999} {
		base, n, err := b.d.MemGetAddressRange(at)
		b.must(err)
		if base != p || n < 10000 {
			b.Errorf("%#x lies in [%#x, +%d], want base %#x and at least 10000 bytes", at, base, n, p)
		}
	}
}

func attributes(b *bench) {
	p := b.alloc(1 << 20)
	a, err := b.d.PointerGetAttributes(p)
	b.must(err)
	if !a.Device || !a.LegacyIpcCapable || a.Pooled || a.BufferID == 0 {
		b.Errorf("MemAlloc memory has %+v", a)
	}
	inner, err := b.d.PointerGetAttributes(p + 4096)
	b.must(err)
	if inner.BufferID != a.BufferID {
		b.Errorf("buffer id %d inside of buffer %d", inner.BufferID, a.BufferID)
	}
	q, err := b.d.MemAlloc(1 << 20)
	b.must(err)
	first, err := b.d.PointerGetAttributes(q)
	b.must(err)
	b.must(b.d.MemFree(q))
	q, err = b.d.MemAlloc(1 << 20)
	b.must(err)
	second, err := b.d.PointerGetAttributes(q)
	b.must(err)
	b.must(b.d.MemFree(q))
	if first.BufferID == second.BufferID || first.BufferID == a.BufferID {
		b.Errorf("buffer ids %d, %d and %d of three allocations", a.BufferID, first.BufferID, second.BufferID)
	}
}

func invalidMemory(b *bench) {
	_, err := b.d.PointerGetAttributes(8)
	b.status(err, "attributes of an address that is no memory")
	_, _, err = b.d.MemGetAddressRange(8)
	b.status(err, "range of an address that is no memory")
	_, err = b.d.MemAlloc(1 << 50)
	b.status(err, "allocate a pebibyte")
	_, err = b.d.MemAlloc(0)
	b.status(err, "allocate nothing")
	b.status(b.d.MemFree(8), "free what was not allocated")
	_, err = b.d.IpcGetMemHandle(8)
	b.status(err, "export what was not allocated")
	_, err = b.d.MemAlloc(-1)
	b.status(err, "allocate a negative size")
}

// registered writes a page of the host from the device, as an abort writes its page.
func registered(b *bench) {
	page, err := syscall.Mmap(-1, 0, 4096, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_SHARED|syscall.MAP_ANON)
	b.must(err)
	defer syscall.Munmap(page)
	host := unsafe.Pointer(&page[0])
	dev, err := b.d.MemHostRegister(host, 4096)
	b.must(err)
	attr, err := b.d.PointerGetAttributes(dev)
	b.must(err)
	if attr.Device {
		b.Error("a registered page counts as device memory")
	}
	s := b.stream(driver.High)
	src := b.put([]byte{1, 2, 3, 4})
	b.must(b.d.StreamBatchMemOp(s, []driver.MemOp{{Kind: driver.Write, Value: 77, Address: dev + 8}}))
	b.must(b.d.MemcpyDtoHAsync(unsafe.Pointer(&page[16]), src, 4, s))
	b.must(b.d.StreamSynchronize(s))
	if got := words(page[8:20]); got[0] != 77 || got[2] != 0x04030201 {
		b.Errorf("the page holds %#x, want 77 first and 0x4030201 third", got)
	}
	b.must(b.d.MemHostUnregister(host))
	b.status(b.d.MemHostUnregister(host), "unregister twice")
}

func export(b *bench) {
	p, q := b.alloc(1<<20), b.alloc(4<<20)
	hp, err := b.d.IpcGetMemHandle(p)
	b.must(err)
	hq, err := b.d.IpcGetMemHandle(q)
	b.must(err)
	if hp == hq || hp == (driver.IpcMemHandle{}) {
		b.Errorf("handles %x and %x", hp, hq)
	}
	_, err = b.d.IpcOpenMemHandle(driver.IpcMemHandle{})
	b.status(err, "open an empty handle")
}
