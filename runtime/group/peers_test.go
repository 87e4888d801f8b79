//go:build cgo

package group_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"time"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/group/store"
	"ovgen/runtime/ipc"
	"ovgen/runtime/launcher"
	"ovgen/verify/drivertest"
	"ovgen/verify/sim"
)

// alloc makes memory on a rank's device.
func (w *world) alloc(g *group.Group, bytes int64) driver.Ptr {
	w.Helper()
	p, err := g.Driver().MemAlloc(bytes)
	if err != nil {
		w.Error(err)
	}
	return p
}

// addresses reads an array of device memory.
func (w *world) addresses(g *group.Group, at driver.Ptr, n int) []driver.Ptr {
	w.Helper()
	text, list := make([]byte, 8*n), make([]driver.Ptr, n)
	if err := g.Driver().MemcpyDtoH(text, at); err != nil {
		w.Error(err)
	}
	for i := range list {
		list[i] = driver.Ptr(binary.LittleEndian.Uint64(text[8*i:]))
	}
	return list
}

// TestPeers follows the tables: what rank r writes at peer s's addresses, s finds in its own memory, and later words
// are 0 though these were left at 1.
func TestPeers(t *testing.T) {
	inWorld(t, sim.Config{Devices: 3, NoRaces: true}, func(w *world) {
		const ranks, words = 3, 2
		groups := w.groups(0, ranks)
		memory := make([]driver.Ptr, ranks)
		for round := range 2 {
			each(ranks, func(r int) {
				g := groups[r]
				if round == 0 {
					memory[r] = w.alloc(g, 256)
				}
				p, err := g.Peers(w.Context(), memory[r]+64, 4*ranks, words)
				if err != nil {
					w.Errorf("rank %d: %v", r, err)
					return
				}
				buffers, first := w.addresses(g, p.Buffers(), ranks), w.addresses(g, p.Words(), ranks)
				if buffers[r] != memory[r]+64 || p.Bytes() != 4*ranks {
					w.Errorf("rank %d: its own buffer is %#x, not %#x", r, buffers[r], memory[r]+64)
				}
				var own [4 * ranks * words]byte
				if err := g.Driver().MemcpyDtoH(own[:], first[r]); err != nil || own != [4 * ranks * words]byte{} {
					w.Errorf("rank %d: its words are %v at first, %v", r, own, err)
				}
				if _, err := g.Gather(w.Context(), "read", nil); err != nil {
					w.Error(err)
				}
				for s := range ranks {
					at := first[s] + driver.Ptr(4*(1*ranks+r))
					if at != p.Word(s, 1, r) || buffers[s] != p.Buffer(s) {
						w.Errorf("rank %d: the tables are not what Word and Buffer say of rank %d", r, s)
					}
					for _, to := range []driver.Ptr{at, buffers[s] + driver.Ptr(4*r)} {
						if err := g.Driver().MemcpyHtoD(to, []byte{1, 0, 0, 0}); err != nil {
							w.Errorf("rank %d: %v", r, err)
						}
					}
				}
				if _, err := g.Gather(w.Context(), "written", nil); err != nil {
					w.Error(err)
				}
				for _, from := range []driver.Ptr{p.Word(r, 1, 0), memory[r] + 64} {
					text := make([]byte, 4*ranks)
					err := g.Driver().MemcpyDtoH(text, from)
					if err != nil || strings.Count(string(text), "\x01") != ranks {
						w.Errorf("rank %d: %v has arrived, %v", r, text, err)
					}
				}
				if err := g.Driver().MemFree(memory[r]); !errors.Is(err, ipc.ErrInUse) {
					w.Errorf("rank %d: free what is shared: %v", r, err)
				}
				for range 2 {
					if err := p.Close(w.Context()); err != nil {
						w.Errorf("rank %d: %v", r, err)
					}
				}
			})
		}
		each(ranks, func(r int) {
			if err := groups[r].Driver().MemFree(memory[r]); err != nil {
				w.Errorf("rank %d: %v", r, err)
			}
		})
		w.leave(groups)
	})
}

// TestPeersRefuses: whatever the ranks disagree in, or one rank alone does wrong, all of them get an error that says
// so, nothing is left, and the group is whole.
func TestPeersRefuses(t *testing.T) {
	inWorld(t, sim.Config{Devices: 2}, func(w *world) {
		groups := w.groups(0, 2)
		memory := make([]driver.Ptr, 2)
		each(2, func(r int) { memory[r] = w.alloc(groups[r], 64) })
		for _, x := range []struct {
			name  string
			bytes [2]int64
			words [2]int
			do    func() // as rank 1, before
			want  string // on rank 0
			is    func(error) bool
		}{
			{name: "bytes", bytes: [2]int64{64, 32}, is: as[*store.MismatchError],
				want: "rank 0: share 64 bytes and 0 words; rank 1: share 32 bytes and 0 words"},
			{name: "words", bytes: [2]int64{64, 64}, words: [2]int{1, 2}, is: as[*store.MismatchError],
				want: "rank 0: share 64 bytes and 1 words; rank 1: share 64 bytes and 2 words"},
			{name: "too many bytes", bytes: [2]int64{65, 65}, want: "65 bytes wanted, and its allocation holds 64"},
			{name: "too many words", bytes: [2]int64{64, 64}, words: [2]int{1 << 20, 1 << 20},
				is: as[*group.WordsError], want: "allocate 2097152 semaphore words"},
			{name: "no bytes", want: "at least 1 byte"},
			{name: "freed", bytes: [2]int64{64, 64}, do: func() { w.free(groups[1], &memory[1]) },
				is: as[*group.PeerError], want: "rank 1: export"},
			{name: "another plan's words", bytes: [2]int64{32, 32}, words: [2]int{1, 1}, is: as[*group.CheckError],
				do: func() {
					memory[1] = w.alloc(groups[1], 64)
					if _, err := groups[1].Arena().Words(5); err != nil {
						w.Error(err)
					}
				}, want: "make and close the same plans in the same order on all ranks"},
		} {
			if x.do != nil {
				x.do()
			}
			each(2, func(r int) {
				p, err := groups[r].Peers(w.Context(), memory[r], x.bytes[r], x.words[r])
				switch {
				case p != nil || err == nil:
					w.Errorf("%s, rank %d: no error", x.name, r)
				case r == 0 && (!strings.Contains(err.Error(), x.want) || x.is != nil && !x.is(err)):
					w.Errorf("%s: %v, want %q", x.name, err, x.want)
				}
			})
		}
		each(2, func(r int) { w.free(groups[r], &memory[r]) })
		w.leave(groups)
	})
}

func as[E error](err error) bool { return errors.As(err, new(E)) }

func (w *world) free(g *group.Group, p *driver.Ptr) {
	w.Helper()
	if err := g.Driver().MemFree(*p); err != nil {
		w.Error(err)
	}
	*p = 64
}

// TestPeersLeave: the group closes open Peers, and a rank that does not come to Close has the others abort.
func TestPeersLeave(t *testing.T) {
	inWorld(t, sim.Config{Devices: 2}, func(w *world) {
		for _, late := range []bool{false, true} {
			groups := w.groups(0, 2)
			memory, peers := make([]driver.Ptr, 2), make([]*group.Peers, 2)
			each(2, func(r int) {
				var err error
				memory[r] = w.alloc(groups[r], 64)
				if peers[r], err = groups[r].Peers(w.Context(), memory[r], 64, 1); err != nil {
					w.Error(err)
				}
			})
			each(2, func(r int) {
				if late && r == 1 {
					time.Sleep(5 * time.Second)
				}
				if late {
					if err := peers[r].Close(w.Context()); !as[*group.AbortError](err) {
						w.Errorf("rank %d: %v", r, err)
					}
				}
			})
			w.leave(groups)
			each(2, func(r int) {
				if err := peers[r].Close(w.Context()); late != (err != nil) {
					w.Errorf("rank %d: %v", r, err)
				}
				w.free(groups[r], &memory[r])
			})
		}
	})
}

// TestPeersApart: ranks that can't reach each other's memory share none.
func TestPeersApart(t *testing.T) {
	none := func(from, to int) bool { return false }
	inBubble(t, sim.Config{Devices: 2, PeerAccess: none}, false, func(w *world) {
		cs := w.configs(0, 2)
		for r := range cs {
			cs[r].Apart = true
		}
		groups, errs := w.join(cs)
		if err := errors.Join(errs...); err != nil {
			w.Fatal(err)
		}
		each(2, func(r int) {
			memory := w.alloc(groups[r], 64)
			if _, err := groups[r].Peers(w.Context(), memory, 64, 1); !errors.Is(err, group.ErrNoPeers) {
				w.Errorf("rank %d: %v", r, err)
			}
			w.free(groups[r], &memory)
		})
		w.leave(groups)
	})
}

// TestPeersHosts: ranks of another host are not reached, and ranks of one host are.
func TestPeersHosts(t *testing.T) {
	beside := func(a, b int) bool { return a/2 == b/2 }
	inBubble(t, sim.Config{Devices: 4, PeerAccess: beside}, false, func(w *world) {
		cs := w.configs(0, 4)
		for r := range cs {
			cs[r].Host = launcher.PlayedHost(r, 4, 2)
		}
		groups, errs := w.join(cs)
		if err := errors.Join(errs...); err != nil {
			w.Fatal(err)
		}
		each(4, func(r int) {
			g := groups[r]
			memory := w.alloc(g, 64)
			p, err := g.Peers(w.Context(), memory, 64, 1)
			if err != nil {
				w.Errorf("rank %d: %v", r, err)
				return
			}
			for _, table := range []driver.Ptr{p.Buffers(), p.Words()} {
				for s, at := range w.addresses(g, table, 4) {
					if (at != 0) != (r/2 == s/2) {
						w.Errorf("rank %d: rank %d at %#x", r, s, at)
					}
				}
			}
			if err := p.Close(w.Context()); err != nil {
				w.Errorf("rank %d: %v", r, err)
			}
			w.free(g, &memory)
		})
		w.leave(groups)
	})
}

// TestPeersMapped shares mapped memory of two allocations, across their border.
func TestPeersMapped(t *testing.T) {
	inWorld(t, sim.Config{Devices: 2, NoRaces: true}, func(w *world) {
		cs, err := w.Configs(0, 2)
		if err != nil {
			t.Fatal(err)
		}
		for r := range cs {
			cs[r].Local = w.local
		}
		groups, errs := w.join(cs)
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		segments := make([]*drivertest.Segment, 2)
		each(2, func(r int) {
			g := groups[r]
			s, err := drivertest.NewSegment(g.Driver(), 2, 1, driver.FileDescriptor)
			if err != nil {
				w.Error(err)
				return
			}
			segments[r] = s
			p, err := g.Peers(w.Context(), s.Part(1)-2, 4, 0)
			if err != nil {
				w.Error(err)
				return
			}
			if err := g.Driver().MemcpyHtoD(p.Buffer(1-r), []byte{1, 2, 3, byte(r)}); err != nil {
				w.Error(err)
			}
			if _, err := g.Gather(w.Context(), "written", nil); err != nil {
				w.Error(err)
			}
			got, want := make([]byte, 4), []byte{1, 2, 3, byte(1 - r)}
			if err := g.Driver().MemcpyDtoH(got, s.Part(1)-2); err != nil || !bytes.Equal(got, want) {
				w.Errorf("rank %d: %v has arrived, %v", r, got, err)
			}
			if err := errors.Join(p.Close(w.Context()), s.Close()); err != nil {
				w.Error(err)
			}
		})
		w.leave(groups)
	})
}
