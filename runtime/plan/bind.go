package plan

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/runtime/ipc"
)

// alignment of a caller's buffer, which the kernels' vector loads need.
const alignment = 16

// binding is an address with the identity of the memory behind it.
type binding struct {
	at driver.Ptr
	id uint64
}

// target is what a Bind is to make of the plan. Nothing of it is the plan's until all
// ranks have accepted theirs.
type target struct {
	memory []binding // by buffer of the caller; zero where this rank has nothing of it
	chunks *chunking // of uneven buffers
}

// Bind gives the plan its buffers, in the order of their declarations. It does
// nothing when all are the memory of the plan's last Bind; otherwise it is
// collective: it waits for the runs in flight, exchanges what the peers do not
// have, and captures the plan's graph. The caller owns the memory and keeps it until
// another Bind has replaced it, or Close has returned on all ranks.
//
// Addresses are multiples of 16 bytes. Memory that peers read must be memory that CUDA
// IPC can export. A buffer that runs write must overlap no other buffer, nor the plan's
// own memory; two that runs only read may be one. After an error, which all ranks get,
// the plan is not bound: ErrBusy, ErrClosed, *DisagreementError, *RankError for what
// another rank found, or *group.AbortError.
func (p *Plan) Bind(ctx context.Context, addr ...driver.Ptr) error {
	return p.BindCounts(ctx, nil, addr...)
}

// BindCounts is Bind of a program with uneven parts, which the counts give their
// sizes; other counts are another Bind.
func (p *Plan) BindCounts(ctx context.Context, counts []int, addr ...driver.Ptr) error {
	if err := p.enter(); err != nil {
		return fmt.Errorf("bind %s: %w", p, err)
	}
	defer p.leave()
	to := &target{}
	wrong := p.count(to, counts)
	if wrong == nil { // the sizes are known
		wrong = p.inspect(to, addr)
	}
	changed := p.changed(to)
	if wrong == nil && p.bound && len(changed) == 0 && to.chunks == p.chunks {
		return nil
	}
	p.bound = false
	if wrong == nil {
		wrong = p.disjoint(to)
	}
	if err := p.rebind(ctx, to, changed, wrong); err != nil {
		return fmt.Errorf("bind %s: %w", p, err)
	}
	p.bound = true
	return nil
}

// inspect looks at the memory that the plan is to be bound to.
func (p *Plan) inspect(to *target, addr []driver.Ptr) error {
	if len(addr) != len(p.bindable) {
		return fmt.Errorf("%d addresses for %d buffers", len(addr), len(p.bindable))
	}
	to.memory = make([]binding, len(p.bindable))
	var errs []error
	for i, f := range p.bindable {
		bytes := to.chunks.size(f, p.Rank())
		to.memory[i].at = addr[i]
		if bytes == 0 { // by the address the rank knows that the peers bind anew
			continue
		}
		a, err := p.examine(f, addr[i], bytes)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", f.name, err))
		}
		to.memory[i].id = a.BufferID
	}
	return errors.Join(errs...)
}

func (p *Plan) examine(f *Buffer, at driver.Ptr, bytes int64) (driver.PointerAttributes, error) {
	if at == 0 {
		return driver.PointerAttributes{}, errors.New("no address (the program uses this buffer)")
	}
	if at%alignment != 0 {
		return driver.PointerAttributes{}, fmt.Errorf("address %#x is not a multiple of %d", at, alignment)
	}
	a, err := p.driver.PointerGetAttributes(at)
	if err != nil {
		return a, fmt.Errorf("look at %#x: %w", at, err)
	}
	if !a.LegacyIpcCapable {
		if !a.Device && !f.shared { // Export says it of shared ones
			return a, fmt.Errorf("%#x is not device memory", at)
		}
		return a, nil // one buffer may span several mappings
	}
	base, size, err := p.driver.MemGetAddressRange(at)
	if err != nil {
		return a, fmt.Errorf("look at %#x: %w", at, err)
	}
	if have := size - int64(at-base); have < bytes {
		return a, fmt.Errorf("%d bytes wanted, and the allocation of %#x has %d from there", bytes, at, have)
	}
	return a, nil
}

// changed names the buffers whose memory is not that of the last Bind.
func (p *Plan) changed(to *target) []string {
	var names []string
	for i, f := range p.bindable {
		if to.memory != nil && (binding{f.At(0), f.id}) != to.memory[i] {
			names = append(names, f.name)
		}
	}
	return names
}

// rebind exchanges, captures, and gives up the memory of the Bind before: its
// imports first, then, when all ranks have closed theirs, its exports.
func (p *Plan) rebind(ctx context.Context, to *target, changed []string, wrong error) error {
	if err := p.drain(ctx); err != nil {
		return err
	}
	what := fmt.Sprintf("bind %s", p)
	detail := ""
	if len(changed) > 0 {
		detail = fmt.Sprintf("; rank %d has new memory for %s", p.Rank(), strings.Join(changed, ", "))
	}
	if err := p.agreeOnCounts(ctx, what+" counts", to, wrong); err != nil {
		return err
	}
	exports, refused := p.export(to, wrong)
	met := false
	imports, err := p.group.Imports().Exchange(func(mine []byte) ([][]byte, error) {
		all, err := p.agree(ctx, what+detail, mine, refused)
		met = err == nil
		return all, err
	}, exports)
	if !met {
		return errors.Join(err, closeExports(exports, true))
	}
	if err == nil {
		err = p.adopt(to, imports)
	}
	if err == nil {
		err = p.capture()
	}
	err = errors.Join(err, ipc.CloseImports(p.imports))
	p.imports = imports
	_, err = p.agree(ctx, what+" ready", nil, err)
	_ = closeExports(p.exports, true)
	p.exports = exports
	return err
}

// export readies the shared buffers, unless something is wrong already.
func (p *Plan) export(to *target, wrong error) ([]*ipc.Export, error) {
	if wrong != nil {
		return nil, wrong
	}
	var exports []*ipc.Export
	for i, f := range p.bindable {
		bytes := to.chunks.size(f, p.Rank())
		if !f.exchanged() || bytes == 0 {
			continue
		}
		e, err := p.group.Imports().Export(to.memory[i].at, bytes)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", f.name, err), closeExports(exports, true))
		}
		exports = append(exports, e)
	}
	return exports, nil
}

// closeExports gives up exports. In a Bind, memory that was freed is no error: it
// is why the caller binds again.
func closeExports(exports []*ipc.Export, freed bool) error {
	var errs []error
	for _, e := range exports {
		if err := e.Close(); !freed || !errors.Is(err, ipc.ErrFreed) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// adopt takes the new places of chunks and the new addresses, own and peers'.
func (p *Plan) adopt(to *target, imports [][]*ipc.Import) error {
	p.forget()
	p.chunks = to.chunks
	p.chunks.adopt()
	next := make([]int, p.Size()) // in each rank's list
	for i, f := range p.bindable {
		f.at[p.Rank()], f.id = to.memory[i].at, to.memory[i].id
		if !f.exchanged() {
			continue
		}
		for _, r := range p.peers {
			bytes := to.chunks.size(f, r)
			if bytes == 0 {
				f.at[r] = 0
				continue
			}
			n := next[r]
			if n >= len(imports[r]) || imports[r][n].Bytes() != bytes {
				return fmt.Errorf("rank %d shared other buffers than this rank at %s", r, f.name)
			}
			f.at[r] = imports[r][n].Ptr()
			next[r]++
		}
	}
	return nil
}

// capture makes the plan's own graph.
func (p *Plan) capture() error {
	if err := p.dropGraph(); err != nil || p.program.Eager {
		return err
	}
	g, err := device.Capture(p.driver, p.main.own, func() error {
		p.queue.start(p.main.own)
		p.issue(&p.queue)
		return p.queue.err
	})
	p.graph = g
	return err
}

func (p *Plan) dropGraph() error {
	if p.graph == nil {
		return nil
	}
	err := p.graph.Close()
	p.graph = nil
	return err
}
