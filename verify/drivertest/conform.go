package drivertest

import (
	"testing"

	"ovgen/runtime/driver"
)

// Conform runs the whole table against one device that open makes, and closes the driver at the end. It fails where an
// answer differs from CUDA's answer.
func Conform(t *testing.T, open func() driver.Driver) {
	d := open()
	for _, c := range []struct {
		name string
		run  func(*bench)
	}{
		{"properties", properties},
		{"copies", copies},
		{"copies of rows", rowCopies},
		{"memset", memset},
		{"allocation ranges", ranges},
		{"pointer attributes", attributes},
		{"invalid memory", invalidMemory},
		{"registered host memory", registered},
		{"export", export},
		{"mapped memory", mappedMemory},
		{"bad mapped memory", badMappedMemory},
		{"streams", streams},
		{"wait and write", waitAndWrite},
		{"long batch", longBatch},
		{"events", events},
		{"capture", capture},
		{"external events under capture", external},
		{"external events between graphs", betweenGraphs},
		{"edges under capture", edges},
		{"products", products},
		{"forms of a product", forms},
		{"bias may change", biasChanges},
		{"chunks of a product", chunks},
		{"products of 16 bits into fp32", wide},
		{"bad products", badProducts},
		{"scaled products", scaledProducts},
		{"products with block scales", blockProducts},
		{"bad scaled products", badScales},
		{"a product over its operand", inPlace},
		{"tensor maps", tensorMaps},
		{"collectives", collectives},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(&bench{T: t, d: d}) })
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatalf("second close: %v", err)
	}
}

// bench is a test with a driver and the few steps that most cases need.
type bench struct {
	*testing.T
	d driver.Driver
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// alloc makes device memory that is freed when the case ends.
func (b *bench) alloc(bytes int64) driver.Ptr {
	b.Helper()
	p, err := b.d.MemAlloc(bytes)
	b.must(err)
	b.Cleanup(func() {
		if err := b.d.MemFree(p); err != nil {
			b.Error(err)
		}
	})
	return p
}

// put makes device memory that holds data.
func (b *bench) put(data []byte) driver.Ptr {
	b.Helper()
	p := b.alloc(int64(len(data)))
	b.must(b.d.MemcpyHtoD(p, data))
	return p
}

func (b *bench) get(p driver.Ptr, bytes int64) []byte {
	b.Helper()
	data := make([]byte, bytes)
	b.must(b.d.MemcpyDtoH(data, p))
	return data
}

func (b *bench) stream(p driver.Priority) driver.Stream {
	b.Helper()
	s, err := b.d.StreamCreateWithPriority(p)
	b.must(err)
	b.Cleanup(func() {
		if err := b.d.StreamDestroy(s); err != nil {
			b.Error(err)
		}
	})
	return s
}

func (b *bench) event(timing bool) driver.Event {
	b.Helper()
	e, err := b.d.EventCreate(timing)
	b.must(err)
	b.Cleanup(func() {
		if err := b.d.EventDestroy(e); err != nil {
			b.Error(err)
		}
	})
	return e
}

func properties(b *bench) {
	p := b.d.Properties()
	if b.d.Name() == "" || p.Name == "" || p.Multiprocessors <= 0 || p.Memory <= 0 || p.Major <= 0 ||
		p.Version <= 0 {
		b.Errorf("driver %q: incomplete properties %+v", b.d.Name(), p)
	}
	if p.UUID == (driver.UUID{}) {
		b.Error("the device has no UUID")
	}
	_, err := b.d.DeviceCanAccessPeer(driver.UUID{0xff, 1: 0xee, 15: 0x77})
	b.refused(err, "peer access to a device that does not exist", driver.ErrPeerInvisible)
	_, err = b.d.DeviceGetP2PAttribute(driver.NativeAtomics, driver.UUID{0xff, 1: 0xee, 15: 0x77})
	b.refused(err, "the link to a device that does not exist", driver.ErrPeerInvisible)
	_, err = b.d.DeviceGetNVLinks(driver.UUID{0xff, 1: 0xee, 15: 0x77})
	b.refused(err, "the wires to a device that does not exist", driver.ErrPeerInvisible)
}
