package plan

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ovgen/runtime/driver"
	"ovgen/runtime/ipc"
)

// alignment of a caller's buffer in bytes, which the kernels' vector loads need.
const alignment = 16

// binding is an address with the identity of its memory.
type binding struct {
	at driver.Ptr
	id uint64
}

// target is the binding that a Bind tries to make. The plan takes it only after this rank has accepted it and, where
// Bind is collective, all ranks have.
type target struct {
	memory []binding // by buffer of the caller; zero where this rank has no part of it
	chunks *chunking // of uneven buffers
}

// Bind gives the plan its buffers, in the order of their declarations. It is collective where a count, or memory that
// peers use, differs from the plan's last collective Bind; the first Bind of a plan that has such memory is collective
// too. A collective Bind waits for the runs in flight, exchanges the handles that the peers do not have, and captures
// the plan's graph. Every Bind is collective where a rank has no part of a buffer that peers use. Balanced parts are an
// exception: a rank without rows binds memory nevertheless, its old memory where the other ranks bind their old memory,
// new memory where the other ranks bind new memory.
//
// If only memory changes that no peer uses (weights, bias, most outputs), Bind is local: it sends nothing, waits for
// nothing and changes only the next runs of this rank. Runs in flight, and graphs that a caller has captured, continue
// with their old memory, which the caller keeps for them. A local Bind makes no call of CUDA about memory of the
// group's Driver, and no allocation. The first Replay or Run with addresses that the plan has no graph for captures a
// graph, after the runs in flight; the plan keeps the graphs of the bindings used last, at most Config.Graphs.
//
// Memory that peers use is new for all ranks or for none. If only some ranks bind new memory, the call ends by its ctx
// or Config.CallTimeout and aborts the group with an error that names the rank and the buffers. The caller owns the
// memory and keeps it until the runs with it have drained. The caller keeps memory that peers use until, on all ranks,
// another Bind has replaced it or Close has returned.
//
// Addresses are multiples of 16 bytes. Memory that peers read must be memory that can be exported: of cuMemAlloc, or of
// cuMemCreate with a handle for other processes, also in several parts. A buffer that runs write must overlap no other
// buffer of this rank, no arena, and no buffer of a peer that its peers use; two buffers that runs only read may be the
// same memory. Bind can't see the other buffers of a peer: ranks of one process must keep their buffers apart
// themselves. After an error the plan is not bound. All ranks get the error of a collective Bind, and this rank alone
// gets the error of a local Bind: ErrBusy, ErrClosed, *DisagreementError, *RankError for another rank's failure, or
// *group.AbortError. This rank alone also gets an error of writing to group.Config.DumpTo.
//
// Before Bind, the caller sets each Call of the schedule that no kernel does. If a Call is nil, a Bind that captures a
// graph fails with a *CallError; after any other Bind the first run fails with it, which aborts the group.
func (p *Plan) Bind(ctx context.Context, addr ...driver.Ptr) error {
	return p.BindCounts(ctx, nil, addr...)
}

// BindCounts is Bind for a program with uneven parts, whose sizes come from counts. With others it is collective.
func (p *Plan) BindCounts(ctx context.Context, counts []int, addr ...driver.Ptr) error {
	if err := p.enter(); err != nil {
		return fmt.Errorf("bind %s: %w", p, err)
	}
	defer p.leave()
	to := &p.next
	to.chunks = nil // as for counts that are refused
	for i, f := range p.bindable {
		to.memory[i] = binding{f.At(0), f.id}
	}
	wrong := p.count(to, counts)
	if wrong == nil { // the sizes are known
		wrong = p.inspect(to, addr)
	}
	same, local := p.changes(to)
	if wrong == nil && local {
		wrong = ctx.Err() // all ranks get the error of a collective Bind
	}
	if wrong == nil && same && p.bound {
		return nil
	}
	p.bound = false
	if wrong == nil {
		wrong = p.disjoint(to)
	}
	if local {
		wrong = p.bindLocal(to, wrong)
	} else {
		wrong = p.rebind(ctx, to, wrong)
	}
	if wrong != nil {
		return fmt.Errorf("bind %s: %w", p, wrong)
	}
	if err := p.group.Dump(p); err != nil {
		return fmt.Errorf("bind %s: %w", p, err)
	}
	p.bound = true
	return nil
}

// changes compares the target with the last Bind. same says that all memory is the same. local says that all shared
// memory is the same, so that this rank binds alone. A rank that binds no memory for a buffer that other ranks use, as
// all ranks but 0 for the source of a broadcast, can't know whether the other ranks' memory is new: no Bind of such a
// plan is local.
func (p *Plan) changes(to *target) (same, local bool) {
	same = to.chunks == p.chunks
	local = same && p.met && p.everywhere()
	for i, f := range p.bindable {
		if (binding{f.At(0), f.id}) != to.memory[i] {
			same, local = false, local && !f.shared && !p.symmetric(f.At(0)) && !p.symmetric(to.memory[i].at)
		}
	}
	return same, local
}

// everywhere reports whether each rank binds memory for each buffer that peers use.
func (p *Plan) everywhere() bool {
	for _, f := range p.bindable {
		for rank := range p.Size() {
			if f.shared && p.chunks.size(f, rank) == 0 && !p.tells(f) {
				return false
			}
		}
	}
	return true
}

// tells reports whether also a rank that has no part of a buffer binds memory for it: a rank whose balanced part has no
// rows. By this memory the rank knows whether the other ranks' memory is new.
func (p *Plan) tells(f *Buffer) bool { return p.balanced != nil && f.shared }

// bindLocal takes memory that no peer uses.
func (p *Plan) bindLocal(to *target, wrong error) error {
	if wrong == nil {
		wrong = p.apart(to)
	}
	if wrong != nil {
		return wrong
	}
	for i, f := range p.bindable {
		f.at[p.rank], f.id = to.memory[i].at, to.memory[i].id
	}
	return nil
}

// inspect checks the memory that the plan is to be bound to, and notes its identity.
func (p *Plan) inspect(to *target, addr []driver.Ptr) error {
	if len(addr) != len(p.bindable) {
		for i, at := range addr[:min(len(addr), len(p.bindable))] { // they tell whether peers bind new memory
			if at != to.memory[i].at {
				to.memory[i] = binding{at: at}
			}
		}
		return fmt.Errorf("%d addresses for %d buffers", len(addr), len(p.bindable))
	}
	var errs []error
	for i, f := range p.bindable {
		bytes := to.chunks.size(f, p.Rank())
		to.memory[i] = binding{at: addr[i]}
		if bytes == 0 && !p.tells(f) { // by the address the rank knows that the peers bind new memory
			continue
		}
		id, err := p.examine(f, addr[i], bytes)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", f.name, err))
		}
		to.memory[i].id = id
	}
	return errors.Join(errs...)
}

// examine returns an identity that tells the memory at an address from other memory at the same address. It knows
// memory of the group's driver without a call, and asks CUDA about other memory.
func (p *Plan) examine(f *Buffer, at driver.Ptr, bytes int64) (id uint64, err error) {
	if at == 0 {
		return 0, errors.New("no address (the program uses this buffer)")
	}
	if at%alignment != 0 {
		return 0, fmt.Errorf("address %#x is not a multiple of %d", at, alignment)
	}
	if a, ok := p.group.Imports().Allocated(at); ok {
		return a.ID, room(at, a.Base, a.Bytes, bytes)
	}
	a, err := p.driver.PointerGetAttributes(at)
	if err != nil {
		return 0, fmt.Errorf("look at %#x: %w", at, err)
	}
	switch {
	case a.LegacyIpcCapable:
	case !a.Device && !f.shared: // Export refuses shared buffers of this kind
		return a.BufferID, fmt.Errorf("%#x is not device memory", at)
	case f.shared && ipc.Mapped(a, p.driver.Properties().Ordinal): // each of its parts may be new
		return p.group.Imports().Identify(at, bytes)
	default:
		return a.BufferID, nil
	}
	base, size, err := p.driver.MemGetAddressRange(at)
	if err != nil {
		return a.BufferID, fmt.Errorf("look at %#x: %w", at, err)
	}
	return a.BufferID, room(at, base, size, bytes)
}

// room refuses an address whose allocation ends before the bytes wanted.
func room(at, base driver.Ptr, size, bytes int64) error {
	if have := size - int64(at-base); have < bytes {
		return fmt.Errorf("%d bytes wanted, and the allocation of %#x has %d from there", bytes, at, have)
	}
	return nil
}

// changed names the buffers whose memory differs from the last Bind's.
func (p *Plan) changed(to *target) []string {
	var names []string
	for i, f := range p.bindable {
		if (binding{f.At(0), f.id}) != to.memory[i] {
			names = append(names, f.name)
		}
	}
	return names
}

// rebind exchanges the memory, captures the graph, and releases the memory of the last Bind: its imports first, then,
// when all ranks have closed theirs, its exports.
func (p *Plan) rebind(ctx context.Context, to *target, wrong error) error {
	p.met = false
	if err := p.drain(ctx); err != nil {
		return err
	}
	what := fmt.Sprintf("bind %s", p)
	detail := ""
	if changed := p.changed(to); len(changed) > 0 {
		detail = fmt.Sprintf("; rank %d has new memory for %s", p.Rank(), strings.Join(changed, ", "))
	}
	if err := p.agreeOnCounts(ctx, what+" counts", to, wrong); err != nil {
		return err
	}
	if err := p.agreeOnPlaces(ctx, what+" symmetric memory", to, wrong); err != nil {
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
		err = p.apart(to)
	}
	if err == nil && !p.program.Eager {
		_, err = p.capture()
	}
	err = errors.Join(err, ipc.CloseImports(p.imports))
	p.imports = imports
	_, err = p.agree(ctx, what+" ready", nil, err)
	_ = closeExports(p.exports, true)
	p.exports = exports
	p.met = err == nil
	return err
}

// export exports the shared buffers, unless wrong is set already.
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

// closeExports closes exports. In a Bind, freed memory is no error: the caller binds again because it freed it.
func closeExports(exports []*ipc.Export, freed bool) error {
	var errs []error
	for _, e := range exports {
		if err := e.Close(); !freed || !errors.Is(err, ipc.ErrFreed) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// adopt takes the new places of chunks and the new addresses, this rank's and the peers'.
func (p *Plan) adopt(to *target, imports [][]*ipc.Import) error {
	p.forget()
	if err := p.graphs.drop(); err != nil { // the graphs hold the peers' old addresses
		return err
	}
	p.chunks = to.chunks
	p.chunks.adopt()
	next := make([]int, p.Size()) // next import in each rank's list
	for i, f := range p.bindable {
		f.at[p.Rank()], f.id = to.memory[i].at, to.memory[i].id
		if !f.exchanged() {
			continue
		}
		for _, r := range p.peers {
			bytes := to.chunks.size(f, r)
			if bytes == 0 || !p.group.Reaches(r) {
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
