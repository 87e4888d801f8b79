package plan

import (
	"context"
	"errors"
	"fmt"

	"ovgen/runtime/driver"
	"ovgen/runtime/ipc"
)

// shares is the state of the exchange of handles in the loop over the steps.
type shares struct {
	declared bool            // the program has a Share of a buffer that Bind does not exchange
	done     bool            // all such buffers have been exchanged since the last Bind
	passing  bool            // the pass that exchanges handles is under way
	ctx      context.Context // of that pass
	count    int             // number of Shares in the pass so far
	err      error           // first error of the pass
}

// Share is ShareMemHandles in the loop: it gives this rank's buffer to one peer and takes another peer's. In the first
// run after a Bind the ranks exchange handles; in every later run the cache has the peer's handle. A buffer of the plan
// needs no exchange: it lies in the arena, which every rank has mapped.
func (q *Queue) Share(b *Buffer, to, from int) {
	switch {
	case !b.inLoop, q.listener != nil:
	case q.shares.passing:
		q.exchange(b, from)
	case q.dry:
		q.shares.declared = true
	case q.err == nil:
		if im := b.imports[from]; im == nil {
			q.err = fmt.Errorf("share %s with rank %d and rank %d: %w", b.name, to, from, ErrNotBound)
		} else if err := q.plan.group.Imports().Find(im); err != nil {
			q.err = fmt.Errorf("share %s with rank %d and rank %d: %w", b.name, to, from, err)
		}
	}
}

// exchange does one Share of the first run. It is a collective step of all ranks of the group, since all are at the
// same Share. After an error a rank takes part in the later Shares too, so that no peer waits for it.
func (q *Queue) exchange(b *Buffer, from int) {
	p, x := q.plan, &q.shares
	x.count++
	what := fmt.Sprintf("run %s: share %s (%d)", p, b.name, x.count)
	var exports []*ipc.Export
	failed := x.err
	if failed == nil {
		var e *ipc.Export
		if e, failed = p.group.Imports().Export(b.At(0), b.bytes); failed == nil {
			exports = append(exports, e)
		}
	}
	imports, err := p.group.Imports().Exchange(func(mine []byte) ([][]byte, error) {
		return p.agree(x.ctx, what, mine, failed)
	}, exports)
	p.exports = append(p.exports, exports...)
	for r, list := range imports {
		p.imports[r] = append(p.imports[r], list...)
	}
	if err == nil && (len(imports[from]) != 1 || imports[from][0].Bytes() != b.bytes) {
		err = fmt.Errorf("rank %d shared another buffer than this rank at %s", from, b.name)
	}
	if err == nil {
		b.imports[from] = imports[from][0]
		b.at[from] = imports[from][0].Ptr()
	} else if x.err == nil {
		x.err = err
	}
}

// share does the program's Shares before the first run after a Bind, and enqueues nothing: opening a handle may
// synchronise the device, and no stream may be waiting then. It is collective and fails on every rank or on none. A
// capture can't wait for it.
func (p *Plan) share(ctx context.Context, s driver.Stream) error {
	q := &p.queue
	if !q.shares.declared || q.shares.done {
		return nil
	}
	if capturing, err := p.driver.StreamIsCapturing(s); err != nil || capturing {
		return errors.Join(err, ErrEager)
	}
	if ctx == nil {
		var cancel func()
		ctx, cancel = context.WithTimeout(context.Background(), p.group.CallTimeout())
		defer cancel()
	}
	if err := p.drain(ctx); err != nil {
		return err
	}
	q.start(0)
	q.dry, q.shares.passing, q.shares.ctx, q.shares.count, q.shares.err = true, true, ctx, 0, nil
	p.issue(q)
	q.dry, q.shares.passing, q.shares.ctx = false, false, nil
	_, err := p.agree(ctx, fmt.Sprintf("run %s: shared", p), nil, q.shares.err)
	q.shares.done = err == nil
	p.met = p.met && err == nil // all ranks fail, and the next Bind, which repairs this, is collective
	return err
}

// forget drops the memory that runs have exchanged, when the plan is bound to new memory.
func (p *Plan) forget() {
	p.queue.shares.done = false
	for _, f := range p.bindable {
		if !f.inLoop {
			continue
		}
		clear(f.imports)
		for _, r := range p.peers {
			f.at[r] = 0
		}
	}
}
