package sim_test

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ovgen/runtime/driver"
	"ovgen/verify/sim"
)

// member is a rank of a communicator, with memory to send and to receive.
type member struct {
	*sim.Context
	comm       driver.Comm
	s          driver.Stream
	send, recv driver.Ptr
}

const most = 64 // bytes of a member's memory

// members make a communicator of all devices of a world; rank r sends words 100r, 100r+1, ...
func members(t *testing.T, w *sim.World, n int) []*member {
	t.Helper()
	var id driver.CommID
	list := make([]*member, n)
	for r := range list {
		d, err := w.Open(r)
		m := &member{Context: d.(*sim.Context)}
		list[r] = m
		if r == 0 && err == nil {
			id, err = m.CommGetUniqueID()
		}
		var more [5]error
		if m.comm, more[0] = m.CommInitRank(id, n, r); errors.Is(more[0], driver.ErrInProgress) {
			more[0] = nil
		}
		m.s, more[1] = m.StreamCreateWithPriority(driver.Normal)
		m.send, more[2] = m.MemAlloc(most)
		m.recv, more[3] = m.MemAlloc(most)
		words := make([]byte, most)
		for i := range most / 4 {
			binary.LittleEndian.PutUint32(words[4*i:], uint32(100*r+i))
		}
		more[4] = m.MemcpyHtoD(m.send, words)
		if err := errors.Join(err, errors.Join(more[:]...)); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// settle asks until the call before has ended.
func (m *member) settle() (err error) {
	for err = driver.ErrInProgress; errors.Is(err, driver.ErrInProgress); {
		err = m.CommGetAsyncError(m.comm)
	}
	return err
}

// call enqueues a collective and waits until it is enqueued.
func (m *member) call(d driver.CollectiveDesc) error {
	err := m.settle()
	if err == nil {
		err = m.Collective(d, m.recv, m.send, m.comm, m.s)
	}
	if errors.Is(err, driver.ErrInProgress) {
		err = m.settle()
	}
	return err
}

// words are the first that the member has received.
func (m *member) words(t *testing.T, n int) (list []uint32) {
	raw := make([]byte, 4*n)
	if err := m.MemcpyDtoH(raw, m.recv); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		list = append(list, binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return list
}

// Each collective gives each rank what it should, for several seeds, also one after the other.
func TestCollectives(t *testing.T) {
	part := func(kind driver.CollectiveKind) driver.CollectiveDesc {
		return driver.CollectiveDesc{Kind: kind, Bytes: 8, Type: driver.FP32}
	}
	for seed := range uint64(8) {
		synctest.Test(t, func(t *testing.T) {
			w := sim.NewWorld(sim.Config{Devices: 3, Seed: seed})
			defer w.Close()
			list := members(t, w, 3)
			for _, x := range []struct {
				kind driver.CollectiveKind
				want func(r int) []uint32
			}{
				{driver.AllGather, func(int) []uint32 { return []uint32{0, 1, 100, 101, 200, 201} }},
				// as bits of the smallest fp32, whole numbers add up as such
				{driver.AllReduce, func(int) []uint32 { return []uint32{300, 303} }},
				{driver.ReduceScatter, func(r int) []uint32 { return []uint32{300 + 6*uint32(r), 303 + 6*uint32(r)} }},
				{driver.AllToAll, func(r int) []uint32 {
					k := uint32(2 * r)
					return []uint32{k, k + 1, 100 + k, 101 + k, 200 + k, 201 + k}
				}},
				{driver.Exchange, func(r int) []uint32 {
					k := 100 * uint32((r+2)%3)
					return []uint32{k, k + 1}
				}},
			} {
				for r, m := range list {
					d := part(x.kind)
					if x.kind == driver.Exchange {
						d.To, d.From = (r+1)%3, (r+2)%3
					}
					if err := m.call(d); err != nil {
						t.Fatal(err)
					}
				}
				for r, m := range list {
					if err := m.StreamSynchronize(m.s); err != nil {
						t.Fatal(err)
					}
					want := x.want(r)
					if got := m.words(t, len(want)); !slices.Equal(got, want) {
						t.Errorf("seed %d: %s on rank %d: %v, want %v", seed, x.kind, r, got, want)
					}
				}
			}
			if races := w.Races(); len(races) > 0 {
				t.Error(races)
			}
		})
	}
}

// A rank sends other bytes than it gets, or none: rank r sends r words, and gets those of the rank before.
func TestPartsExchanged(t *testing.T) {
	for seed := range uint64(8) {
		synctest.Test(t, func(t *testing.T) {
			w := sim.NewWorld(sim.Config{Devices: 3, Seed: seed})
			defer w.Close()
			list := members(t, w, 3)
			for r, m := range list {
				before := (r + 2) % 3
				if err := m.call(driver.CollectiveDesc{Kind: driver.Exchange, Bytes: 4 * int64(r),
					More: 4 * int64(before-r), To: (r + 1) % 3, From: before}); err != nil {
					t.Fatal(err)
				}
			}
			for r, want := range [][]uint32{{200, 201}, {}, {100}} {
				if err := list[r].StreamSynchronize(list[r].s); err != nil {
					t.Fatal(err)
				}
				if got := list[r].words(t, len(want)); !slices.Equal(got, want) {
					t.Errorf("seed %d: rank %d has %v, want %v", seed, r, got, want)
				}
			}
			if races := w.Races(); len(races) > 0 {
				t.Error(races)
			}
		})
	}
}

// gathered is an all-gather of 8 bytes.
var gathered = driver.CollectiveDesc{Kind: driver.AllGather, Bytes: 8}

// wrongCollectives are calls that NCCL refuses, or leaves to hang.
var wrongCollectives = []struct {
	name string
	run  func(t *testing.T, w *sim.World, a, b *member) error
	want string
}{
	{"a call while the one before goes on", func(_ *testing.T, _ *sim.World, a, _ *member) error {
		for range 100 { // it is over at once now and then
			err := a.settle()
			if err == nil {
				err = a.Collective(gathered, a.recv, a.send, a.comm, a.s)
			}
			if errors.Is(err, driver.ErrInProgress) {
				err = a.Collective(gathered, a.recv, a.send, a.comm, a.s)
			}
			if err != nil && !errors.Is(err, driver.ErrInProgress) {
				return err
			}
		}
		return nil
	}, "the previous operation is in progress"},
	{"other collectives", func(_ *testing.T, _ *sim.World, a, b *member) error {
		other := driver.CollectiveDesc{Kind: driver.AllReduce, Bytes: 8, Type: driver.FP32}
		return errors.Join(a.call(gathered), b.call(other), a.StreamSynchronize(a.s))
	}, "collective 1 of the communicator: rank 0 calls all-gather of 8 bytes of no type, rank 1 all-reduce of 8"},
	{"exchanges that miss each other", func(_ *testing.T, _ *sim.World, a, b *member) error {
		one := driver.CollectiveDesc{Kind: driver.Exchange, Bytes: 8, To: 1, From: 1}
		two := driver.CollectiveDesc{Kind: driver.Exchange, Bytes: 8, To: 1, From: 0}
		return errors.Join(a.call(one), b.call(two), a.StreamSynchronize(a.s))
	}, "rank 0 gets from rank 1, which sends to rank 1"},
	{"a part of other bytes than the rank sends", func(_ *testing.T, _ *sim.World, a, b *member) error {
		one := driver.CollectiveDesc{Kind: driver.Exchange, Bytes: 8, To: 1, From: 1}
		two := driver.CollectiveDesc{Kind: driver.Exchange, Bytes: 4, More: 4}
		return errors.Join(a.call(one), b.call(two), a.StreamSynchronize(a.s))
	}, "rank 0 calls exchange of 8 bytes of no type, rank 1 exchange of 4 bytes"},
	{"a graph on one rank alone", func(t *testing.T, _ *sim.World, a, b *member) error {
		if err := a.settle(); err != nil {
			return err
		}
		err := errors.Join(a.StreamBeginCapture(a.s), a.call(gathered))
		graph, ended := a.StreamEndCapture(a.s)
		exec, made := a.GraphInstantiate(graph)
		return errors.Join(err, ended, made, a.GraphLaunch(exec, a.s), b.call(gathered), a.StreamSynchronize(a.s))
	}, "rank 0 calls all-gather of 8 bytes of no type in a graph, rank 1 all-gather of 8 bytes of no type"},
	{"a stream of another device", func(_ *testing.T, _ *sim.World, a, b *member) error {
		if err := a.settle(); err != nil {
			return err
		}
		return a.Collective(gathered, a.recv, a.send, a.comm, b.s)
	}, "invalid resource handle"},
	{"an exchange with a rank of another communicator", func(_ *testing.T, _ *sim.World, a, _ *member) error {
		return a.call(driver.CollectiveDesc{Kind: driver.Exchange, Bytes: 8, To: 2})
	}, "to rank 2, from rank 0 of 2"},
	{"a rank twice", func(_ *testing.T, _ *sim.World, a, _ *member) error {
		id, err := a.CommGetUniqueID()
		_, first := a.CommInitRank(id, 2, 0)
		_, second := a.CommInitRank(id, 2, 0)
		return errors.Join(err, first, second)
	}, "rank 0 has joined already"},
	{"too much", func(_ *testing.T, _ *sim.World, a, _ *member) error {
		return a.call(driver.CollectiveDesc{Kind: driver.AllGather, Bytes: most})
	}, "invalid argument"},
	{"no id", func(_ *testing.T, _ *sim.World, a, _ *member) error {
		_, err := a.CommInitRank(driver.CommID{1}, 2, 0)
		return err
	}, "none of a simulated communicator"},
	{"a send that another stream overwrites", func(_ *testing.T, w *sim.World, a, b *member) error {
		other, err := a.StreamCreateWithPriority(driver.Normal)
		err = errors.Join(err, a.call(gathered), b.call(gathered), a.MemsetD32Async(a.send, 7, 2, other),
			a.StreamSynchronize(a.s), a.StreamSynchronize(other))
		if races := w.Races(); err == nil && len(races) > 0 {
			return errors.New(races[0].String())
		}
		return err
	}, "race on bytes"},
	{"a result in place that another stream overwrites", func(_ *testing.T, w *sim.World, a, b *member) error {
		a.send, b.send = a.recv, b.recv+8
		other, err := a.StreamCreateWithPriority(driver.Normal)
		err = errors.Join(err, a.call(gathered), b.call(gathered), a.MemsetD32Async(a.recv+8, 7, 2, other),
			a.StreamSynchronize(a.s), a.StreamSynchronize(other))
		if races := w.Races(); err == nil && len(races) > 0 {
			return errors.New(races[0].String())
		}
		return err
	}, "race on bytes"},
}

// The simulator refuses or finds each of wrongCollectives.
func TestCollectivesRefused(t *testing.T) {
	for _, x := range wrongCollectives {
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := sim.NewWorld(sim.Config{Devices: 2, Seed: 5})
				defer w.Close()
				list := members(t, w, 2)
				if err := x.run(t, w, list[0], list[1]); err == nil || !strings.Contains(err.Error(), x.want) {
					t.Errorf("%v, want %q", err, x.want)
				}
			})
		})
	}
}

// NCCL takes one call at a time with a communicator: two threads are found out.
func TestTwoThreads(t *testing.T) {
	w := sim.NewWorld(sim.Config{Devices: 1})
	defer w.Close()
	m := members(t, w, 1)[0]
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	found := make(chan error, 4)
	for range 2 {
		go func() {
			for ctx.Err() == nil {
				if err := m.CommGetAsyncError(m.comm); err != nil && !errors.Is(err, driver.ErrInProgress) {
					found <- err
					cancel()
				}
			}
			found <- nil
		}()
	}
	if err := <-found; err == nil || !strings.Contains(err.Error(), "another thread's call with the communicator") {
		t.Error(err)
	}
}

// A rank whose peer does not come, or is gone with what it sent, waits for ever; an abort lets it go
// on, and waits until no graph holds the communicator.
func TestCollectivesAborted(t *testing.T) {
	for _, gone := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w := sim.NewWorld(sim.Config{Devices: 2, Seed: 3})
			defer w.Close()
			list := members(t, w, 2)
			a, b := list[0], list[1]
			gather := driver.CollectiveDesc{Kind: driver.AllGather, Bytes: 8}
			if err := a.settle(); err != nil {
				t.Fatal(err)
			}
			err := errors.Join(a.StreamBeginCapture(a.s), a.call(gather))
			graph, ended := a.StreamEndCapture(a.s)
			exec, made := a.GraphInstantiate(graph)
			if err := errors.Join(err, ended, made, a.GraphDestroy(graph), a.GraphLaunch(exec, a.s)); err != nil {
				t.Fatal(err)
			}
			if gone {
				if err := b.Close(); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(time.Second)
			if done, err := a.StreamQuery(a.s); done || err != nil {
				t.Errorf("the collective ended without rank 1: %v", err)
			}
			freed := make(chan error, 1)
			go func() { freed <- a.CommAbort(a.comm) }()
			if err := a.StreamSynchronize(a.s); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Second)
			select {
			case err := <-freed:
				t.Errorf("the communicator is freed while a graph holds it: %v", err)
			default:
			}
			if err := errors.Join(a.GraphExecDestroy(exec), <-freed); err != nil {
				t.Error(err)
			}
		})
	}
}

// An abort waits for launches in flight, also where their executable graph is gone and they have more than one
// collective.
func TestLaunchHoldsCommunicator(t *testing.T) {
	for seed := range uint64(8) {
		synctest.Test(t, func(t *testing.T) {
			w := sim.NewWorld(sim.Config{Devices: 2, Seed: seed})
			defer w.Close()
			a := members(t, w, 2)[0]
			gather := driver.CollectiveDesc{Kind: driver.AllGather, Bytes: 8}
			if err := a.settle(); err != nil {
				t.Fatal(err)
			}
			err := errors.Join(a.StreamBeginCapture(a.s), a.call(gather), a.call(gather), a.call(gather))
			graph, ended := a.StreamEndCapture(a.s)
			exec, made := a.GraphInstantiate(graph)
			if err := errors.Join(err, ended, made, a.GraphDestroy(graph), a.GraphLaunch(exec, a.s)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second) // the first waits for rank 1
			if err := errors.Join(a.GraphExecDestroy(exec), a.CommAbort(a.comm)); err != nil {
				t.Fatal(err)
			}
			if done, err := a.StreamQuery(a.s); !done || err != nil {
				t.Errorf("seed %d: the communicator is freed, and its launch has not ended: %v", seed, err)
			}
		})
	}
}
