package ipc

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"ovgen/runtime/driver"
	"ovgen/runtime/group/store"
	"ovgen/verify/sim"
)

// pair is two ranks with a cache each. Their exchange is made by hand: blobs of
// both, then both open.
type pair struct {
	*testing.T
	drivers  [2]driver.Driver
	caches   [2]*Cache
	carriers [2]*carrier
}

// inPair runs f with two processes, and again with two ranks of one process.
func inPair(t *testing.T, f func(p *pair)) {
	t.Helper()
	for name, local := range map[string]bool{"processes": false, "one process": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := sim.NewWorld(sim.Config{Devices: 2})
				defer w.Close()
				f(newPair(t, w, local))
			})
		})
	}
}

func newPair(t *testing.T, w *sim.World, local bool) *pair {
	p := &pair{T: t}
	make := New
	if local {
		make = NewLocal
	}
	network := store.Memory()
	for r := range p.caches {
		d, err := w.Open(r)
		p.must(err)
		p.drivers[r], p.caches[r] = d, make(d, r)
		p.carriers[r] = &carrier{network: network, rank: r}
		p.caches[r].Carry(p.carriers[r])
	}
	return p
}

func (p *pair) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

func (p *pair) alloc(r int, bytes int64) driver.Ptr {
	p.Helper()
	at, err := p.caches[r].Driver().MemAlloc(bytes)
	p.must(err)
	return at
}

func (p *pair) export(r int, at driver.Ptr, bytes int64) *Export {
	p.Helper()
	e, err := p.caches[r].Export(at, bytes)
	p.must(err)
	return e
}

// toOne lets rank 1 open what rank 0 exports.
func (p *pair) toOne(mine ...*Export) ([]*Import, error) {
	p.Helper()
	theirs, errs := p.exchange(mine, nil)
	if errs[1] == nil {
		p.must(errs[0])
	}
	return theirs[0], errs[1]
}

// exchange lets both ranks exchange: imports are what rank 1 has of rank 0 and the reverse.
func (p *pair) exchange(first, second []*Export) (imports [2][]*Import, errs [2]error) {
	meeting := newMeeting()
	done := make(chan struct{})
	go func() {
		defer close(done)
		list, err := p.caches[1].Exchange(meeting.gather(1), second)
		if errs[1] = err; err == nil {
			imports[0] = list[0]
		}
	}()
	list, err := p.caches[0].Exchange(meeting.gather(0), first)
	if errs[0] = err; err == nil {
		imports[1] = list[1]
	}
	<-done
	return imports, errs
}

func (p *pair) count(r int, want Counters) {
	p.Helper()
	got := p.caches[r].Counters()
	got.Bytes = 0
	if diff := cmp.Diff(want, got); diff != "" {
		p.Errorf("rank %d: %s", r, diff)
	}
}

func TestOneImportAnAllocation(t *testing.T) {
	inPair(t, func(p *pair) {
		at := p.alloc(0, 4096)
		p.must(p.drivers[0].MemcpyHtoD(at+512, []byte("here")))
		whole, part := p.export(0, at, 4096), p.export(0, at+512, 16)
		first, err := p.toOne(whole, part)
		p.must(err)
		if first[1].Ptr() != first[0].Ptr()+512 || first[1].Bytes() != 16 {
			t.Errorf("the part is %d bytes at %#x of %#x", first[1].Bytes(), first[1].Ptr(), first[0].Ptr())
		}
		text := make([]byte, 4)
		p.must(p.drivers[1].MemcpyDtoH(text, first[1].Ptr()))
		if string(text) != "here" {
			t.Errorf("read %q", text)
		}
		again := p.export(0, at+1024, 8)
		second, err := p.toOne(again)
		p.must(err)
		p.count(0, Counters{Messages: 2, Handles: 1})
		p.count(1, Counters{Messages: 2, Opens: 1, Hits: 2})
		for _, i := range []*Import{first[0], first[1], second[0], second[0]} { // twice does nothing
			p.must(i.Close())
		}
		p.count(1, Counters{Messages: 2, Opens: 1, Hits: 2, Closes: 1})
		if err := p.caches[0].Driver().MemFree(at); !errors.Is(err, ErrInUse) {
			t.Errorf("free what is exported: %v", err)
		}
		for _, e := range []*Export{whole, part, again, again} {
			p.must(e.Close())
		}
		p.must(p.caches[0].Driver().MemFree(at))
	})
}

// TestForgotten closes everything and shares the allocation again: the handle
// travels again.
func TestForgotten(t *testing.T) {
	inPair(t, func(p *pair) {
		at := p.alloc(0, 64)
		for range 2 {
			e := p.export(0, at, 64)
			theirs, err := p.toOne(e)
			p.must(err)
			p.must(errors.Join(theirs[0].Close(), e.Close()))
		}
		p.count(0, Counters{Messages: 2, Handles: 2})
		p.count(1, Counters{Messages: 2, Opens: 2, Closes: 2})
	})
}

// TestFailedExchange loses an exchange: the handle goes with the next.
func TestFailedExchange(t *testing.T) {
	inPair(t, func(p *pair) {
		e := p.export(0, p.alloc(0, 64), 64)
		lost := errors.New("lost")
		if _, err := p.caches[0].Exchange(func([]byte) ([][]byte, error) { return nil, lost },
			[]*Export{e}); !errors.Is(err, lost) {
			t.Fatal(err)
		}
		theirs, err := p.toOne(e)
		p.must(err)
		p.must(errors.Join(theirs[0].Close(), e.Close()))
	})
}

func TestExportRefuses(t *testing.T) {
	inPair(t, func(p *pair) {
		c := p.drivers[0].(*sim.Context)
		pooled, err := c.MemAllocPooled(64)
		p.must(err)
		plain, theirs := p.alloc(0, 64), p.alloc(1, 64)
		foreign := "export" // another process's address is none here
		if a, err := c.PointerGetAttributes(theirs); err == nil && a.Ordinal == 1 {
			foreign = "it is memory of device 1, and the rank runs on device 0"
		}
		for _, x := range []struct {
			at    driver.Ptr
			bytes int64
			want  string
			is    error
		}{
			{pooled, 64, "stream-ordered pool", driver.ErrNotExportable},
			{plain, 65, "65 bytes wanted, and its allocation holds 64", nil},
			{plain + 16, 64, "64 bytes wanted, and its allocation holds 48", nil},
			{plain, 0, "0 bytes wanted", nil},
			{16, 64, "export 0x10", nil},
			{theirs, 64, foreign, nil},
		} {
			_, err := p.caches[0].Export(x.at, x.bytes)
			if err == nil || !strings.Contains(err.Error(), x.want) || x.is != nil && !errors.Is(err, x.is) {
				t.Errorf("%#x: %v, want %q", x.at, err, x.want)
			}
		}
		p.must(p.caches[0].Driver().MemFree(plain)) // nothing stayed exported
	})
}

func TestFreedWhileExported(t *testing.T) {
	inPair(t, func(p *pair) {
		at := p.alloc(0, 64)
		e := p.export(0, at, 64)
		p.must(p.caches[0].guarded.Driver.MemFree(at)) // past the guard
		again := p.alloc(0, 64)
		if err := e.Close(); !errors.Is(err, ErrFreed) {
			t.Errorf("%v (freed %#x, got %#x)", err, at, again)
		}
	})
}

// TestBadMessages gives rank 1 messages that do not fit; nothing stays open.
func TestBadMessages(t *testing.T) {
	inPair(t, func(p *pair) {
		e := p.export(0, p.alloc(0, 64), 64)
		good := Offer{Base: e.of.base, BufferID: e.of.bufferID, Size: 64, Bytes: 64, Handle: &e.of.handle}
		bare, other := good, good
		bare.Handle = nil
		bare.BufferID++
		other.Size = 128
		broken := good
		broken.BufferID, broken.Handle = 99, &Handle{Legacy: driver.IpcMemHandle{1}}
		for name, blob := range map[string][]byte{
			"garbage":          []byte("garbage"),
			"another's":        Message{Owner: 1, Offers: []Offer{good}}.Encode(),
			"unknown":          Message{Offers: []Offer{good, bare}}.Encode(),
			"two sizes":        Message{Offers: []Offer{good, other}}.Encode(),
			"a handle of none": Message{Offers: []Offer{good, broken}}.Encode(),
		} {
			_, err := p.caches[1].Exchange(func(b []byte) ([][]byte, error) { return [][]byte{blob, b}, nil }, nil)
			if err == nil || !strings.Contains(err.Error(), "open rank 0's") || name != "a handle of none" &&
				!errors.Is(err, ErrMessage) {
				t.Errorf("%s: %v", name, err)
			}
			if c := p.caches[1].Counters(); c.Opens != c.Closes {
				t.Errorf("%s: %d of %d imports stay open", name, c.Opens-c.Closes, c.Opens)
			}
		}
	})
}
