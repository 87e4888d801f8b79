package run

import (
	"errors"
	"fmt"

	"ovgen/runtime/device"
	"ovgen/runtime/driver"
)

// barrier lets the ranks' streams start together, by stream memory operations between the ranks' arenas. It has two
// sets of words, used in turn: a rank that is ahead posts the next barrier while another rank has yet to reset the
// words of this one. The gate is one more word, which this rank's host opens. On several hosts, ranks with the same
// number on their hosts first meet by an all-gather of a word. Then the ranks of each host meet.
type barrier struct {
	r      *rank
	words  int64          // offset in every arena: two sets of one word a rank, then the gate
	rail   *device.Buffer // over hosts: a word to send, and one from each host
	turn   int
	opener *device.Stream // on which the host opens the gate
	met    *mailbox       // tells the host that the ranks have met
	items  []driver.MemOp
}

func (r *rank) newBarrier() (b *barrier, err error) {
	b = &barrier{r: r}
	if b.words, err = r.Arena().Words(2*r.Size() + 1); err != nil {
		return nil, err
	}
	if b.opener, err = device.NewStream(r.drv, driver.High); err != nil {
		return nil, err
	}
	if r.Hosts() > 1 {
		if b.rail, err = device.Alloc(r.drv, int64(4*(1+r.Hosts()))); err != nil {
			return nil, errors.Join(err, b.opener.Close())
		}
	}
	if b.met, err = newMailbox(r.drv); err != nil {
		return nil, errors.Join(err, b.opener.Close())
	}
	return b, nil
}

func (b *barrier) close() error {
	b.r.Arena().FreeWords(b.words)
	err := errors.Join(b.met.close(), b.opener.Close())
	if b.rail != nil {
		err = errors.Join(err, b.rail.Close())
	}
	return err
}

// word is the word that rank from posts in rank at's arena, in the set whose turn it is.
func (b *barrier) word(at, from int) driver.Ptr {
	return b.r.Arena().Base(at) + driver.Ptr(b.words+int64(4*(b.turn*b.r.Size()+from)))
}

func (b *barrier) gate() driver.Ptr {
	return b.r.Arena().Base(b.r.Rank()) + driver.Ptr(b.words+int64(8*b.r.Size()))
}

// meet makes s wait until every rank's stream has come to this point, and then tell the host.
func (b *barrier) meet(s driver.Stream) error {
	if b.rail != nil {
		d := driver.CollectiveDesc{Kind: driver.AllGather, Bytes: 4}
		if err := b.r.Collective(d, b.rail.Ptr()+4, b.rail.Ptr(), s); err != nil {
			return fmt.Errorf("enqueue a barrier: %w", err)
		}
	}
	me, each := b.r.Rank(), b.r.PerHost()
	first := b.r.Host() * each
	b.items = b.items[:0]
	for i := 1; i < each; i++ {
		peer := first + (b.r.Local()+i)%each
		b.items = append(b.items, driver.MemOp{Kind: driver.Write, Value: 1, Address: b.word(peer, me)})
	}
	for i := 1; i < each; i++ {
		own := b.word(me, first+(b.r.Local()+i)%each)
		b.items = append(b.items, driver.MemOp{Kind: driver.WaitEqual, Value: 1, Address: own},
			driver.MemOp{Kind: driver.Write, Address: own})
	}
	b.turn = 1 - b.turn
	b.items = append(b.items, b.met.next())
	if err := b.r.drv.StreamBatchMemOp(s, b.items); err != nil {
		return fmt.Errorf("enqueue a barrier: %w", err)
	}
	return nil
}

// hold makes s wait for open.
func (b *barrier) hold(s driver.Stream) error {
	b.items = append(b.items[:0], driver.MemOp{Kind: driver.WaitEqual, Value: 1, Address: b.gate()},
		driver.MemOp{Kind: driver.Write, Address: b.gate()})
	if err := b.r.drv.StreamBatchMemOp(s, b.items); err != nil {
		return fmt.Errorf("enqueue a gate: %w", err)
	}
	return nil
}

// open releases the stream that hold stopped.
func (b *barrier) open() error {
	if err := b.r.drv.MemsetD32Async(b.gate(), 1, 1, b.opener.Handle()); err != nil {
		return fmt.Errorf("open the gate: %w", err)
	}
	return nil
}
