package sim_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"ovgen/runtime/driver"
	"ovgen/verify/sim"
)

func TestRefusals(t *testing.T) {
	bubble(t, sim.Config{Devices: 2, Memory: 1 << 20}, func(t *testing.T, w *sim.World) {
		p := pair(t, w)
		r, buf := p[0], make([]byte, 64)
		gone, goneEvent := r.stream(), r.event()
		must(t, r.StreamDestroy(gone))
		must(t, r.EventDestroy(goneEvent))
		freed := r.alloc(4096)
		must(t, r.MemFree(freed))
		host := make([]byte, 64)
		batch := func(items ...driver.MemOp) error { return r.StreamBatchMemOp(r.main, items) }
		alloc := func(n int64) error { _, err := r.MemAlloc(n); return err }
		openHandle := func(h driver.IpcMemHandle) error { _, err := r.IpcOpenMemHandle(h); return err }
		own, err := r.IpcGetMemHandle(r.buf)
		must(t, err)
		export := func(p driver.Ptr) error { _, err := r.IpcGetMemHandle(p); return err }
		register := func() error { _, err := r.MemHostRegister(unsafe.Pointer(&host[0]), 64); return err }
		must(t, register())
		for _, c := range []struct {
			what string
			err  error
			code int
		}{
			{"no memory left", alloc(1 << 20), 2},
			{"copy from freed memory", r.MemcpyDtoDAsync(r.buf, freed, 8, r.main), 1},
			{"copy too much", r.MemcpyDtoDAsync(r.buf, r.peer, 4097, r.main), 1},
			{"copy past an end", r.MemcpyDtoDAsync(r.buf+4000, r.peer, 100, r.main), 1},
			{"copy a negative size", r.MemcpyDtoDAsync(r.buf, r.peer, -1, r.main), 1},
			{"copy to the host past an end", r.MemcpyDtoH(buf, r.buf+4090), 1},
			{"copy from the host to nothing", r.MemcpyHtoD(0, buf), 1},
			{"copy to memory that is not pinned", r.MemcpyDtoHAsync(unsafe.Pointer(&buf[0]), r.buf, 4, r.main), 1},
			{"memset past an end", r.MemsetD32Async(r.buf, 1, 1025, r.main), 1},
			{"memset unaligned", r.MemsetD32Async(r.buf+2, 1, 1, r.main), 1},
			{"empty batch", batch(), 1},
			{"write to nothing", batch(driver.MemOp{Kind: driver.Write}), 1},
			{"wait unaligned", batch(driver.MemOp{Address: r.words + 2}), 1},
			{"unknown item", batch(driver.MemOp{Kind: 7, Address: r.words}), 1},
			{"destroyed stream", r.MemsetD32Async(r.buf, 1, 1, gone), 400},
			{"synchronize a destroyed stream", r.StreamSynchronize(gone), 400},
			{"destroy a stream twice", r.StreamDestroy(gone), 400},
			{"destroy the legacy stream", r.StreamDestroy(0), 400},
			{"another rank's stream", r.MemsetD32Async(r.buf, 1, 1, p[1].main), 400},
			{"destroyed event", r.EventRecordWithFlags(goneEvent, r.main, 0), 400},
			{"wait for a destroyed event", r.StreamWaitEvent(r.main, goneEvent, 0), 400},
			{"free twice", r.MemFree(freed), 1},
			{"free an import", r.MemFree(r.peer), 1},
			{"free inside", r.MemFree(r.buf + 64), 1},
			{"close memory that is not imported", r.IpcCloseMemHandle(r.buf), 1},
			{"open an own handle", openHandle(own), 201},
			{"export an import", export(r.peer), 1},
			{"export inside", export(r.buf + 64), 1},
			{"register twice", register(), 712},
			{"unregister memory that is not registered", r.MemHostUnregister(unsafe.Pointer(&buf[0])), 713},
			{"unknown graph", func() error { _, err := r.GraphInstantiate(1); return err }(), 1},
			{"unknown executable graph", r.GraphLaunch(1, r.main), 400},
		} {
			wants(t, c.what, c.err, c.code)
		}
		must(t, r.CtxSynchronize())
	})
}

// TestNotExportable: pools are known and refused.
func TestNotExportable(t *testing.T) {
	bubble(t, sim.Config{Devices: 1}, func(t *testing.T, w *sim.World) {
		c := open(t, w, 0)
		p, err := c.MemAllocPooled(4096)
		must(t, err)
		a, err := c.PointerGetAttributes(p + 100)
		must(t, err)
		if !a.Device || a.LegacyIpcCapable || !a.Pooled {
			t.Errorf("attributes %+v", a)
		}
		_, err = c.IpcGetMemHandle(p)
		wants(t, "export", err, 1)
		if !errors.Is(err, driver.ErrNotExportable) {
			t.Errorf("%v does not wrap ErrNotExportable", err)
		}
		must(t, c.MemcpyHtoD(p, []byte("x")))
		must(t, c.MemFree(p))
	})
}

// TestAddresses: an address comes back at once, as another buffer.
func TestAddresses(t *testing.T) {
	bubble(t, sim.Config{Devices: 1}, func(t *testing.T, w *sim.World) {
		r := &rank{Context: open(t, w, 0), t: t}
		first, a, last := r.alloc(1<<20), r.alloc(1<<20), r.alloc(64)
		before, err := r.PointerGetAttributes(a)
		must(t, err)
		r.put(a, 1, 2, 3)
		must(t, r.MemFree(first))
		must(t, r.MemFree(a))
		b := r.alloc(1 << 20)
		after, err := r.PointerGetAttributes(b)
		must(t, err)
		if a != b || before.BufferID == after.BufferID {
			t.Errorf("freed %#x (buffer %d), then got %#x (buffer %d)", a, before.BufferID, b, after.BufferID)
		}
		if got := r.get(b, 3); bytes.Equal(got, []byte{1, 2, 3}) {
			t.Errorf("new memory holds %v, as the memory that was there before", got)
		}
		base, n, err := r.MemGetAddressRange(last + 63)
		if base != last || n != 64 || err != nil {
			t.Errorf("range %#x, %d, %v", base, n, err)
		}
		if _, _, err = r.MemGetAddressRange(last + 64); err == nil {
			t.Error("an address past the end has a range")
		}
	})
}

// TestMemset sets few words and many, no more and no fewer.
func TestMemset(t *testing.T) {
	bubble(t, sim.Config{Devices: 1}, func(t *testing.T, w *sim.World) {
		r := &rank{Context: open(t, w, 0), t: t}
		const room = 10_003
		for _, n := range []int{1, 2, 3, 4096, 4097, 5000, 10_001} {
			p, s := r.alloc(4*room), r.stream()
			must(t, r.MemsetD32Async(p, 0x01020304, room, s))
			must(t, r.MemsetD32Async(p+4, 0x05060708, int64(n), s))
			must(t, r.StreamSynchronize(s))
			want := slices.Concat([]uint32{0x01020304}, slices.Repeat([]uint32{0x05060708}, n),
				slices.Repeat([]uint32{0x01020304}, room-n-1))
			got := make([]uint32, room)
			must(t, binary.Read(bytes.NewReader(r.get(p, 4*room)), binary.LittleEndian, got))
			if !slices.Equal(got, want) {
				t.Errorf("%d words are set: %x", n, got)
			}
		}
	})
}

// TestPoison: new memory holds no zero, however large it is, and where others see it; of several allocations each holds
// other bytes, and the seed decides. Bytes that were written stay.
func TestPoison(t *testing.T) {
	const large = 5<<20 + 3
	full := func(what string, m []byte) []byte {
		if i := bytes.IndexByte(m, 0); i >= 0 {
			t.Errorf("%s: byte %d of %d is 0", what, i, len(m))
		}
		return m
	}
	ends := func(seed uint64) (all []byte) {
		bubble(t, sim.Config{Devices: 2, Seed: seed}, func(t *testing.T, w *sim.World) {
			r := &rank{Context: open(t, w, 0), t: t}
			for _, n := range []int{3, 2<<20 + 5, 4 << 20, large} {
				all = append(all, full("new memory", r.get(r.alloc(int64(n)), n))[:3]...)
			}
			at := r.alloc(large)
			r.put(at+large/2, 7) // ahead of the first look at the bytes beside it
			if m := full("memory that was written", r.get(at, large)); m[large/2] != 7 {
				t.Errorf("a byte that was written is %d", m[large/2])
			}
			shared := r.alloc(large)
			h, err := r.IpcGetMemHandle(shared)
			must(t, err)
			other := &rank{Context: open(t, w, 1), t: t}
			p, err := other.IpcOpenMemHandle(h)
			must(t, err)
			full("a peer's memory", other.get(p, large))
			made, err := r.MemCreate(5<<20, 0)
			must(t, err)
			mapped, err := r.MemAddressReserve(5 << 20)
			must(t, err)
			must(t, r.MemMap(mapped, 5<<20, made))
			must(t, r.MemSetAccess(mapped, 5<<20, 0))
			all = append(all, full("memory of MemCreate", r.get(mapped, 5<<20))[:3]...)
		})
		return all
	}
	first := ends(1)
	for i := 3; i < len(first); i += 3 {
		if bytes.Equal(first[:3], first[i:i+3]) {
			t.Errorf("allocation %d holds what the first does: %v", i/3, first[:3])
		}
	}
	if !bytes.Equal(first, ends(1)) || bytes.Equal(first, ends(2)) {
		t.Error("the contents do not follow the seed")
	}
}

// TestImports: two opens of a handle count; an import outlives its owner's
// free and the owner itself, and a handle of freed memory is refused.
func TestImports(t *testing.T) {
	bubble(t, sim.Config{Devices: 2}, func(t *testing.T, w *sim.World) {
		p := pair(t, w)
		a, b := p[0], p[1]
		h, err := b.IpcGetMemHandle(b.buf)
		must(t, err)
		again, err := a.IpcOpenMemHandle(h)
		must(t, err)
		if again != a.peer {
			t.Errorf("the second open gives %#x, the first %#x", again, a.peer)
		}
		must(t, a.IpcCloseMemHandle(again))
		b.put(b.buf, 5)
		must(t, b.MemFree(b.buf))
		b.alloc(4096)
		if got := a.get(a.peer, 1); got[0] != 5 {
			t.Errorf("the import holds %d after the free, want 5", got[0])
		}
		_, err = open(t, w, 0).IpcOpenMemHandle(h)
		wants(t, "open freed memory", err, 1)
		must(t, b.Close())
		a.put(a.peer, 6)
		a.pull(a.main)
		must(t, a.CtxSynchronize())
		if got := a.get(a.buf+2048, 1); got[0] != 6 {
			t.Errorf("copied %d after the owner's end, want 6", got[0])
		}
		must(t, a.IpcCloseMemHandle(a.peer))
		wants(t, "close once more", a.IpcCloseMemHandle(a.peer), 1)
	})
}

// TestLazyPages: memory costs nothing until it is written.
func TestLazyPages(t *testing.T) {
	bubble(t, sim.Config{Devices: 1}, func(t *testing.T, w *sim.World) {
		r := &rank{Context: open(t, w, 0), t: t}
		before := shared(t)
		p := r.alloc(32 << 30)
		r.put(p+16<<30, 1)
		if grown := shared(t) - before; grown > 1<<20 {
			t.Errorf("32 GiB with one byte written take %d bytes", grown)
		}
		must(t, r.MemFree(p))
	})
}

// shared is this process's resident shared memory in bytes.
func shared(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	must(t, err)
	n, err := strconv.Atoi(strings.Fields(string(text))[2])
	must(t, err)
	return n * os.Getpagesize()
}

func TestPeerAccess(t *testing.T) {
	w := sim.NewWorld(sim.Config{Devices: 3, PeerAccess: func(from, to int) bool { return from+to != 3 }})
	defer w.Close()
	var p [3]*sim.Context
	for i := range p {
		p[i] = open(t, w, i)
	}
	for i := range p {
		for j := range p {
			got, err := p[i].DeviceCanAccessPeer(p[j].Properties().UUID)
			if want := i != j && i+j != 3; got != want || err != nil {
				t.Errorf("device %d to %d: %v, %v, want %v", i, j, got, err, want)
			}
		}
	}
	at, err := p[1].MemAlloc(64)
	must(t, err)
	h, err := p[1].IpcGetMemHandle(at)
	must(t, err)
	_, err = p[2].IpcOpenMemHandle(h)
	wants(t, "map memory of a device without peer access", err, 217)
	_, err = p[0].IpcOpenMemHandle(h)
	must(t, err)
	for _, i := range []int{-1, 3} {
		_, err := w.Open(i)
		wants(t, "open a device that is not there", err, 101)
	}
}
