package ipc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"ovgen/runtime/driver"
	"ovgen/runtime/group/store"
	"ovgen/verify/drivertest"
	"ovgen/verify/sim"
)

// carrier takes files as a group's does. It may die where it should hand them.
type carrier struct {
	network store.Network
	rank    int
	dies    bool
}

func (c *carrier) Hand(files []*os.File) (done func(), err error) {
	if c.dies {
		return func() {}, nil
	}
	h, err := store.Hand(c.network, "job", c.rank, files)
	if err != nil {
		return nil, err
	}
	return func() { _ = h.Close() }, nil
}

func (c *carrier) Take(peer, count int) ([]*os.File, error) {
	return store.Take(context.Background(), c.network, "job", peer, count)
}

// meeting is a store for two ranks.
type meeting struct{ boxes [2]chan []byte }

func newMeeting() *meeting {
	return &meeting{[2]chan []byte{make(chan []byte, 1), make(chan []byte, 1)}}
}

func (m *meeting) gather(rank int) Gather {
	return func(mine []byte) ([][]byte, error) {
		m.boxes[1-rank] <- mine
		all := [][]byte{mine, mine}
		all[1-rank] = <-m.boxes[rank]
		return all, nil
	}
}

// segment maps memory of several allocations on rank 0's device.
func (p *pair) segment(parts int, types driver.HandleType) *drivertest.Segment {
	p.Helper()
	s, err := drivertest.NewSegment(p.drivers[0], parts, 1, types)
	p.must(err)
	return s
}

// write fills memory across the border of parts 0 and 1, and reads compares what a rank has there.
func (p *pair) write(at driver.Ptr, text string) {
	p.Helper()
	p.must(p.drivers[0].MemcpyHtoD(at, []byte(text)))
}

func (p *pair) reads(at driver.Ptr, want string) {
	p.Helper()
	got := make([]byte, len(want))
	p.must(p.drivers[1].MemcpyDtoH(got, at))
	if string(got) != want {
		p.Errorf("rank 1 reads %q, want %q", got, want)
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// TestMapped shares buffers within, across and at the end of a segment; no file stays open.
func TestMapped(t *testing.T) {
	inPair(t, func(p *pair) {
		local := p.caches[0].local
		files := openFiles(p.T)
		s := p.segment(3, driver.FileDescriptor)
		unit := s.Bytes / 3
		across := s.Part(1) - 4
		p.write(across, "across")
		first, end := p.export(0, across, unit), p.export(0, s.Part(2)+16, unit-16)
		theirs, err := p.toOne(first, end)
		p.must(err)
		p.reads(theirs[0].Ptr(), "across")
		p.write(s.Part(2)+16, "end")
		p.reads(theirs[1].Ptr(), "end")
		want := Counters{Messages: 1, Handles: 2, Files: 3}
		if local {
			want.Files = 0
		}
		p.count(0, want)
		p.count(1, Counters{Messages: 1, Opens: 2})
		again, err := p.toOne(p.export(0, s.At, 2*unit)) // the same two allocations
		p.must(err)
		p.reads(again[0].Ptr()+driver.Ptr(unit)-4, "across")
		p.count(1, Counters{Messages: 2, Opens: 2, Hits: 1})
		p.must(CloseImports([][]*Import{theirs, again}))
		p.count(1, Counters{Messages: 2, Opens: 2, Hits: 1, Closes: 2})
		p.must(errors.Join(first.Close(), end.Close()))
		p.must(s.Close())
		if now := openFiles(p.T); now != files {
			t.Errorf("%d files are open, and were %d", now, files)
		}
	})
}

// TestMappedAgain puts another allocation into a segment: its old one is not taken for it.
func TestMappedAgain(t *testing.T) {
	inPair(t, func(p *pair) {
		s := p.segment(3, driver.FileDescriptor)
		e := p.export(0, s.At, s.Bytes)
		before, err := p.caches[0].Identify(s.At, s.Bytes)
		p.must(err)
		theirs, err := p.toOne(e)
		p.must(err)
		p.must(theirs[0].Close())
		p.must(s.Renew(p.drivers[0], 1, driver.FileDescriptor))
		if err := e.Close(); !errors.Is(err, ErrFreed) {
			t.Errorf("close an export of memory that was unmapped: %v", err)
		}
		after, err := p.caches[0].Identify(s.At, s.Bytes)
		if err != nil || after == before {
			t.Errorf("the id is %#x again: %v", after, err)
		}
		p.write(s.Part(1), "new")
		theirs, err = p.toOne(p.export(0, s.At, s.Bytes))
		p.must(err)
		p.reads(theirs[0].Ptr()+(s.Part(1)-s.At), "new")
	})
}

// TestMappedRefused has memory that was made for no other process, and what ends too early.
func TestMappedRefused(t *testing.T) {
	inPair(t, func(p *pair) {
		own, s := p.segment(1, 0), p.segment(2, driver.FileDescriptor)
		for _, x := range []struct {
			at    driver.Ptr
			bytes int64
			want  string
			is    error
		}{
			{own.At, 64, "made for no process but this one (give cuMemCreate", driver.ErrNotExportable},
			{s.At + 16, s.Bytes, fmt.Sprintf("%d bytes wanted, and its allocations hold %d from there", s.Bytes,
				s.Bytes-16), nil},
			{s.At, -1, "-1 bytes wanted", nil},
		} {
			_, err := p.caches[0].Export(x.at, x.bytes)
			if p.caches[0].local && x.at == own.At { // a process needs no handle for itself
				p.must(err)
				continue
			}
			if err == nil || !strings.Contains(err.Error(), x.want) || x.is != nil && !errors.Is(err, x.is) {
				t.Errorf("%#x: %v, want %q", x.at, err, x.want)
			}
		}
	})
}

// TestMappedUntaken exchanges with a rank that hands nothing, as one that has died does, and with one that has no
// carrier: both ranks have an error, nothing stays open, and the next exchange carries the handle again.
func TestMappedUntaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sim.NewWorld(sim.Config{Devices: 2})
		defer w.Close()
		p := newPair(t, w, false)
		s := p.segment(2, driver.FileDescriptor)
		e := p.export(0, s.At, s.Bytes)
		files := openFiles(t)
		p.carriers[0].dies = true
		if _, errs := p.exchange([]*Export{e}, nil); !errors.Is(errs[1], store.ErrFiles) || errs[0] == nil ||
			!strings.Contains(errs[0].Error(), "rank 1: take 2 files from rank 0") {
			t.Errorf("a rank that hands nothing: %v; %v", errs[0], errs[1])
		}
		p.carriers[0].dies = false
		p.caches[1].Carry(nil)
		if _, errs := p.exchange([]*Export{e}, nil); !errors.Is(errs[1], errNoCarrier) || errs[0] == nil {
			t.Errorf("a rank without a carrier: %v; %v", errs[0], errs[1])
		}
		p.caches[1].Carry(p.carriers[1])
		if now := openFiles(t); now != files {
			t.Errorf("%d files are open, and were %d", now, files)
		}
		theirs, err := p.toOne(e)
		p.must(err)
		p.must(errors.Join(theirs[0].Close(), e.Close()))
		p.count(1, Counters{Messages: 3, Opens: 1, Closes: 1})
		if now := openFiles(t); now != files-2 { // those of the handle
			t.Errorf("%d files are open, and were %d with two of a handle", now, files)
		}
	})
}

// TestFabric shares memory that was made for fabric handles alone, by such handles, which are bytes.
func TestFabric(t *testing.T) {
	for _, fabric := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			w := sim.NewWorld(sim.Config{Devices: 2, Fabric: fabric})
			defer w.Close()
			p := newPair(t, w, false)
			p.caches[0].Carry(nil)
			s := p.segment(2, driver.FabricHandle)
			e, err := p.caches[0].Export(s.At, s.Bytes)
			if !fabric {
				if !errors.Is(err, driver.ErrNotExportable) {
					t.Errorf("a device without a fabric: %v", err)
				}
				return
			}
			p.must(err)
			theirs, err := p.toOne(e)
			p.must(err)
			p.write(s.Part(1)-2, "fabric")
			p.reads(theirs[0].Ptr()+(s.Part(1)-2-s.At), "fabric")
			p.must(errors.Join(theirs[0].Close(), e.Close()))
		})
	}
}

// A part by its address is for ranks of one process: of a peer elsewhere it would name this rank's own memory.
func TestAddressesStayInTheProcess(t *testing.T) {
	inPair(t, func(p *pair) {
		s, err := drivertest.NewSegment(p.drivers[0], 1, 1, 0)
		p.must(err)
		o := Offer{Base: s.At, Size: s.Bytes, Bytes: s.Bytes}
		o.Handle = &Handle{Parts: []Part{{Bytes: s.Bytes, At: s.At}}}
		w, err := p.caches[1].openParts(o, nil)
		switch {
		case !p.caches[1].local:
			if !errors.Is(err, ErrMessage) {
				t.Errorf("got %v, want ErrMessage", err)
			}
		case err != nil:
			t.Error(err)
		default:
			p.must(w.close())
		}
		p.must(s.Close())
	})
}
