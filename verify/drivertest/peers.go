package drivertest

import (
	"bytes"
	"testing"

	"ovgen/runtime/driver"
)

// Peers checks that two devices of one process can be ranks of one process. open opens device 0 and device 1; each uses
// the memory of the other at the other's addresses.
func Peers(t *testing.T, open func(device int) driver.Driver) {
	var ranks [2]*bench
	for r := range ranks {
		ranks[r] = &bench{T: t, d: open(r)}
		defer func() { ranks[r].must(ranks[r].d.Close()) }()
	}
	for r, b := range ranks {
		peer := ranks[1-r].d
		if b.d.Context() == 0 || b.d.Context() == peer.Context() {
			t.Errorf("the contexts are %#x and %#x", b.d.Context(), peer.Context())
		}
	}
	for r, b := range ranks {
		usePeer(b, ranks[1-r])
		usePeersMapping(b, ranks[1-r])
	}
}

// usePeersMapping copies to and from memory that a peer has mapped, once this device has access to it.
func usePeersMapping(b, peer *bench) {
	v := b.d
	s, err := NewSegment(peer.d, 2, 1, 0)
	b.must(err)
	b.must(v.MemSetAccess(s.At, s.Bytes, b.d.Properties().Ordinal))
	data := pattern(4096)
	mine, err := b.d.MemAlloc(int64(len(data)))
	b.must(err)
	b.must(b.d.MemcpyHtoD(mine, data))
	here, err := b.d.StreamCreateWithPriority(driver.Normal)
	b.must(err)
	across := s.Part(1) - 2048
	b.must(b.d.MemcpyDtoDAsync(across, mine, int64(len(data)), here))
	b.must(b.d.StreamSynchronize(here))
	if got := peer.get(across, int64(len(data))); !bytes.Equal(got, data) {
		b.Error("a copy to the peer's mapped memory went wrong")
	}
	b.must(peer.d.MemcpyHtoD(across, data[1:]))
	b.must(b.d.MemcpyDtoDAsync(mine, across, int64(len(data)), here))
	b.must(b.d.StreamSynchronize(here))
	if got := b.get(mine, int64(len(data))-1); !bytes.Equal(got, data[1:]) {
		b.Error("a copy from the peer's mapped memory went wrong")
	}
	b.must(b.d.StreamDestroy(here))
	b.must(b.d.MemFree(mine))
	b.must(s.Close())
}

// usePeer copies from and to a peer's memory, and signals to its streams.
func usePeer(b, peer *bench) {
	const n = 4096
	mine, err := b.d.MemAlloc(n)
	b.must(err)
	s, err := NewSegment(peer.d, 1, 1, 0)
	b.must(err)
	theirs := s.At
	b.must(b.d.MemSetAccess(theirs, s.Bytes, b.d.Properties().Ordinal))
	a, err := b.d.PointerGetAttributes(theirs)
	b.must(err)
	if want := peer.d.Properties().Ordinal; a.Ordinal != want || !a.Device {
		b.Errorf("memory of device %d has %+v", want, a)
	}
	here, err := b.d.StreamCreateWithPriority(driver.Normal)
	b.must(err)
	there, err := peer.d.StreamCreateWithPriority(driver.Normal)
	b.must(err)
	b.must(peer.d.MemsetD32Async(theirs, 0, 2*n/4, there))
	b.must(peer.d.StreamSynchronize(there))
	data := pattern(n)
	b.must(b.d.MemcpyHtoD(mine, data))
	posted := []driver.MemOp{{Kind: driver.Write, Value: 1, Address: theirs}}
	waited := []driver.MemOp{{Kind: driver.WaitEqual, Value: 1, Address: theirs}, {Kind: driver.Write, Address: theirs}}
	b.must(peer.d.StreamBatchMemOp(there, waited))
	b.must(b.d.MemcpyDtoDAsync(theirs+n, mine, n, here))
	b.must(b.d.StreamBatchMemOp(here, posted))
	b.must(peer.d.StreamSynchronize(there)) // released by the post, after the copy
	if got := peer.get(theirs+n, n); !bytes.Equal(got, data) {
		b.Error("a copy to the peer went wrong")
	}
	b.must(b.d.MemsetD32Async(theirs+n, 7, 1, here))
	b.must(b.d.MemcpyDtoDAsync(mine, theirs+n, n, here))
	b.must(b.d.StreamSynchronize(here))
	if got := b.get(mine, n); got[0] != 7 || !bytes.Equal(got[4:], data[4:]) {
		b.Error("a copy from the peer went wrong")
	}
	b.must(b.d.StreamDestroy(here))
	b.must(peer.d.StreamDestroy(there))
	b.must(b.d.MemFree(mine))
	b.must(s.Close())
}
