package group

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"ovgen/runtime/driver"
	"ovgen/runtime/ipc"
)

// Peers has one buffer of each rank, which the caller's kernels read and write on every rank of a host, and words by
// which these kernels signal each other. A word is 0 at first. One rank sets it to 1; another rank waits for the 1 and
// resets the word to 0, so that a captured kernel may run again and again. An abort sets all words to 1, again and
// again: a kernel that waits for nothing but words always ends, and Group.Err then says that its results are wrong.
type Peers struct {
	group  *Group
	id     int
	bytes  int64
	words  int
	offset int64 // of the words in each arena; 0 where there are none
	at     []driver.Ptr
	table  driver.Ptr // the table of Buffers, followed by the table of Words

	export  *ipc.Export
	imports [][]*ipc.Import

	closeOnce sync.Once
	closeErr  error
}

// ErrNoPeers says that a group whose ranks can't reach each other's memory shares no buffer.
var ErrNoPeers = errors.New("the ranks can't map each other's memory (Group.Choice says which)")

// Peers shares the memory at an address with the ranks of this host, and takes the given number of words for each pair
// of ranks. It is collective, with equal bytes and words on all ranks: unequal ones return a *store.MismatchError, a
// different sequence of plans a *CheckError, and a failure of another rank, such as memory that can't be exported, a
// *PeerError. All of these leave the group whole. After an abort the error wraps *AbortError. Peers waits for the
// group's runs in flight, and allocates, which waits for the device: no kernel may be waiting for a peer then. Launch
// each kernel once, with nothing to do, before the first launch that waits: CUDA loads the kernel then.
//
// The caller keeps the memory until Close has returned on all ranks. Only a common stream orders the caller's kernels
// after a plan's runs, and only Group.Watch bounds them. A kernel that waits for a peer needs all its blocks on the
// device at once. While it waits, these blocks keep other work off the device, for which the peer may wait.
func (g *Group) Peers(ctx context.Context, at driver.Ptr, bytes int64, words int) (*Peers, error) {
	p := &Peers{group: g, bytes: bytes, words: words, at: make([]driver.Ptr, g.Size())}
	what := fmt.Sprintf("share %d bytes and %d words", bytes, words)
	if err := p.begin(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", what, err), p.release())
	}
	if err := p.make(ctx, what, at); err != nil {
		return nil, errors.Join(err, p.release())
	}
	return p, nil
}

// begin waits for the runs in flight, since make allocates memory and opens handles.
func (p *Peers) begin(ctx context.Context) (err error) {
	if err := p.group.Alive(); err != nil {
		return err
	}
	if p.id, err = p.group.Register(p); err != nil {
		return err
	}
	return p.group.Drain(ctx, p.id, p.group.runs.side)
}

// make takes two collective steps: the ranks exchange their offers, then each confirms that it has mapped the memory.
func (p *Peers) make(ctx context.Context, what string, at driver.Ptr) (err error) {
	g := p.group
	wrong := p.offer(at)
	var agreed error
	var exports []*ipc.Export
	if p.export != nil {
		exports = append(exports, p.export)
	}
	p.imports, err = g.imports.Exchange(func(mine []byte) ([][]byte, error) {
		var all [][]byte
		all, agreed = p.meet(ctx, what, mine, wrong)
		return all, agreed
	}, exports)
	if agreed != nil {
		return agreed
	}
	if err == nil {
		err = p.tabulate(at)
	}
	if _, err = p.agree(ctx, what+": mapped", nil, err); err != nil && g.Alive() == nil {
		closed := ipc.CloseImports(p.imports)
		_, late := g.Gather(ctx, what+": given up", nil) // then each rank may free its memory
		err = errors.Join(err, closed, late)
	}
	return err
}

// offer readies this rank's memory and words.
func (p *Peers) offer(at driver.Ptr) (err error) {
	g := p.group
	switch {
	case g.Apart() && !g.Ring():
		return ErrNoPeers
	case p.bytes <= 0 || p.words < 0:
		return errors.New("at least 1 byte and 0 words")
	}
	if p.words > 0 {
		if p.offset, err = g.arena.Words(p.words * g.Size()); err != nil {
			return err
		}
	}
	p.export, err = g.imports.Export(at, p.bytes)
	return err
}

// offered is a rank's offer to the others.
type offered struct {
	Offset int64 // of its words
	Memory []byte
}

// meet exchanges the offers of the ranks, and checks that their words lie at one offset.
func (p *Peers) meet(ctx context.Context, what string, memory []byte, wrong error) ([][]byte, error) {
	mine, _ := json.Marshal(offered{p.offset, memory})
	all, err := p.agree(ctx, what, mine, wrong)
	if err != nil {
		return nil, err
	}
	for r, blob := range all {
		var theirs offered
		if err := json.Unmarshal(blob, &theirs); err != nil {
			return nil, &PeerError{Rank: r, Text: fmt.Sprintf("it sent no offer: %v", err)}
		}
		if theirs.Offset != p.offset {
			return nil, &CheckError{"words", []int{p.group.Rank(), r}, fmt.Sprintf("ranks %d and %d have theirs at %d "+
				"and %d (make and close the same plans in the same order on all ranks)", p.group.Rank(), r, p.offset,
				theirs.Offset)}
		}
		all[r] = theirs.Memory
	}
	return all, nil
}

func (p *Peers) agree(ctx context.Context, what string, mine []byte, err error) ([][]byte, error) {
	return agreed(what, mine, err, func(blob []byte) ([][]byte, error) { return p.group.Gather(ctx, what, blob) })
}

// tabulate writes the tables of Buffers and Words into device memory.
func (p *Peers) tabulate(at driver.Ptr) (err error) {
	g := p.group
	p.at[g.Rank()] = at
	for r, list := range p.imports {
		if len(list) == 1 {
			p.at[r] = list[0].Ptr()
		}
	}
	var text []byte
	for _, at := range p.at {
		text = binary.LittleEndian.AppendUint64(text, uint64(at))
	}
	for r := range p.at {
		text = binary.LittleEndian.AppendUint64(text, uint64(p.Word(r, 0, 0)))
	}
	if p.table, err = g.Driver().MemAlloc(int64(len(text))); err != nil {
		return fmt.Errorf("allocate the tables: %w", err)
	}
	return g.drv.MemcpyHtoD(p.table, text)
}

// Buffers is an array in this rank's device memory. For each rank of the group it has the 8 bytes of the address at
// which this rank maps that rank's buffer, or 0 for a rank that this one does not reach: one of another host, or one
// that is apart.
func (p *Peers) Buffers() driver.Ptr { return p.table }

// Words is an array like Buffers. For each rank it has the address of that rank's word 0 that rank 0 sets. The word n
// that rank from sets lies ((n * Group.Size) + from) * 4 bytes behind it. All addresses are 0 where Peers was called
// with no words.
func (p *Peers) Words() driver.Ptr { return p.table + driver.Ptr(8*p.group.Size()) }

// Buffer is the address at which a rank's buffer is mapped here, 0 for a rank that this one does not reach.
func (p *Peers) Buffer(rank int) driver.Ptr { return p.at[rank] }

// Word is the address here of a rank's word n that rank from sets, 0 for a rank that this one does not reach.
func (p *Peers) Word(rank, n, from int) driver.Ptr {
	if p.words == 0 || p.group.arena.Base(rank) == 0 {
		return 0
	}
	return p.group.arena.Base(rank) + driver.Ptr(p.offset+4*int64(n*p.group.Size()+from))
}

// Bytes is the size of each rank's buffer.
func (p *Peers) Bytes() int64 { return p.bytes }

// Name is the name of the buffers in the group's errors.
func (p *Peers) Name() string { return "shared buffer" }

// Steps returns nil: shared buffers have no runs.
func (p *Peers) Steps() []Step { return nil }

// Close ends the use of the buffers on all ranks. It is collective; the caller's kernels that use the buffers must have
// completed on this rank. When Close has returned on all ranks, the memory may be freed. It is bounded by ctx and
// Config.CallTimeout, after which the group is aborted. Where the group is dead it waits for no peer and returns the
// group's error. A second call returns the error of the first. Group.Close closes all open Peers.
func (p *Peers) Close(ctx context.Context) error {
	p.closeOnce.Do(func() {
		if err := p.shut(ctx); err != nil {
			p.closeErr = fmt.Errorf("close plan %d (%s): %w", p.id, p.Name(), err)
		}
	})
	return p.closeErr
}

// shut closes the imports and, when all ranks have closed theirs, releases the other resources.
func (p *Peers) shut(ctx context.Context) error {
	g := p.group
	ctx, cancel := context.WithTimeout(ctx, g.CallTimeout())
	defer cancel()
	failed := g.Alive()
	if errors.Is(failed, ErrClosed) { // the driver is closed too, and has freed the rest
		return failed
	}
	if failed == nil {
		failed = g.Drain(ctx, p.id, g.runs.side)
	}
	err := ipc.CloseImports(p.imports)
	if failed == nil {
		_, failed = g.Gather(ctx, fmt.Sprintf("close plan %d (%s)", p.id, p.Name()), nil)
		if failed != nil && !errors.As(failed, new(*AbortError)) {
			g.Abort(failed) // a peer is elsewhere and still has this rank's memory
		}
	}
	if failed == nil {
		failed = p.zero()
	}
	return errors.Join(failed, driver.Fold(failed, err, p.release()))
}

// zero resets the words to 0, as later plans expect them, whatever the kernels have done.
func (p *Peers) zero() error {
	if p.words == 0 {
		return nil
	}
	g := p.group
	words := int64(p.words * g.Size())
	if err := g.drv.MemsetD32Async(p.Word(g.Rank(), 0, 0), 0, words, g.runs.side); err != nil {
		return err
	}
	return g.drv.StreamSynchronize(g.runs.side)
}

// release releases the resources that make took, also if make failed.
func (p *Peers) release() error {
	g := p.group
	errs := []error{ipc.CloseImports(p.imports)}
	if p.offset != 0 {
		g.arena.FreeWords(p.offset)
	}
	if p.export != nil {
		errs = append(errs, p.export.Close())
	}
	if p.table != 0 {
		errs = append(errs, g.Driver().MemFree(p.table))
	}
	if p.id != 0 {
		g.Unregister(p.id)
	}
	return driver.Fold(nil, errs...)
}
