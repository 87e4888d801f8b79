package plan

import (
	"context"
	"errors"
	"fmt"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/ipc"
)

// Close ends the plan on all ranks once its runs have drained. When it has returned on all ranks, the memory that the
// plan was bound to may be freed. It is bounded by ctx and the group's timeout, after which the group is aborted. Where
// the group is dead, Close waits for no peer and returns the group's error. A second call returns the first one's.
func (p *Plan) Close(ctx context.Context) error {
	if !p.made() {
		return nil // the plan has no resources
	}
	ctx, cancel := context.WithTimeout(ctx, p.group.CallTimeout())
	defer cancel()
	if !p.take(ctx) {
		return fmt.Errorf("close %s: %w: %w", p, ErrBusy, context.Cause(ctx))
	}
	defer p.leave()
	if p.closed {
		return p.closeErr
	}
	p.closed, p.bound = true, false
	if err := p.shut(ctx); err != nil {
		p.closeErr = fmt.Errorf("close %s: %w", p, err)
	}
	return p.closeErr
}

// take takes the plan's turn at once if it is free, else waits for it until ctx ends.
func (p *Plan) take(ctx context.Context) bool {
	select {
	case p.turn <- struct{}{}: // it takes a free turn also where ctx has ended
		return true
	default:
	}
	select {
	case p.turn <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// shut drains, closes the imports and, when all ranks have closed theirs, releases the other resources.
func (p *Plan) shut(ctx context.Context) error {
	failed := p.group.Alive()
	if errors.Is(failed, group.ErrClosed) { // the driver is closed too, and has freed the plan's resources
		return failed
	}
	if failed == nil {
		failed = p.drain(ctx)
	}
	if failed != nil && p.ran {
		_ = p.group.Wait(&p.run) // the abort lets the run drain; failed is the run's error already
	}
	err := errors.Join(p.graphs.drop(), ipc.CloseImports(p.imports))
	if failed == nil {
		_, failed = p.agree(ctx, fmt.Sprintf("close %s", p), nil, nil)
		if failed != nil && !errors.As(failed, new(*group.AbortError)) {
			p.group.Abort(failed) // a peer is elsewhere and still has this rank's memory
		}
	}
	return errors.Join(failed, driver.Fold(failed, err, closeExports(p.exports, false), p.release()))
}

// release destroys everything that Finish has made.
func (p *Plan) release() error {
	var errs []error
	for _, e := range p.events {
		errs = append(errs, p.driver.EventDestroy(e))
	}
	for _, m := range p.products {
		if m.handle != 0 {
			errs = append(errs, p.driver.MatmulDestroy(m.handle))
		}
	}
	if p.module != 0 {
		errs = append(errs, p.driver.ModuleUnload(p.module))
	}
	if p.staging != 0 && !p.inWindow {
		errs = append(errs, p.driver.MemFree(p.staging))
	}
	for _, s := range p.semaphores {
		if s.base != nil {
			p.group.Arena().FreeWords(s.offset)
		}
	}
	for _, x := range p.packets {
		if x.base != nil {
			p.group.Arena().FreeKept(x.offset)
		}
	}
	p.group.Unregister(p.id)
	return driver.Fold(nil, errs...)
}
