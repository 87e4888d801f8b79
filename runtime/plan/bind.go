package plan

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ovgen/runtime/driver"
	"ovgen/runtime/ipc"
)

// alignment of a caller's buffer, which the kernels' vector loads need.
const alignment = 16

// binding is an address with the identity of its memory.
type binding struct {
	at driver.Ptr
	id uint64
}

// target is the binding that a Bind tries to make. Nothing of it is the plan's until this rank
// has accepted it, and all ranks have where Bind is collective.
type target struct {
	memory []binding // by buffer of the caller; zero where this rank has nothing of it
	chunks *chunking // of uneven buffers
}

// Bind gives the plan its buffers, in the order of their declarations. It is collective where a count, or memory that
// peers use, differs from the plan's last collective Bind; the first Bind of a plan that has such memory is collective
// too. A collective Bind waits for the runs in flight, exchanges the handles that the peers do not have, and captures
// the plan's graph. Every Bind is collective where a rank has nothing of a buffer that peers use. Of balanced parts,
// however, a rank without rows binds memory all the same: its old memory where the others bind their old memory, new
// memory where the others bind new memory.
//
// Where only memory changes that no peer uses (weights, bias, most outputs), Bind is local: it sends nothing, waits for
// nothing and changes only the next runs of this rank. Runs in flight, and graphs that a caller has captured, go on
// with their old memory, which the caller keeps for them. A local Bind asks CUDA nothing about memory of the group's
// Driver, and makes no allocation. The first Replay or Run with addresses that the plan has no graph for captures one,
// after the runs in flight; the plan keeps the graphs of the bindings used last, Config.Graphs of them.
//
// Memory that peers use is new for all ranks or for none: where only some ranks bind it anew, the call ends by its ctx
// or Config.CallTimeout and aborts the group, with the rank and the buffers. The caller owns the memory and keeps it
// until the runs with it have drained. It keeps memory that peers use until another Bind has replaced it, or Close has
// returned, on all ranks.
//
// Addresses are multiples of 16 bytes. Memory that peers read must be memory that can be exported: of cuMemAlloc, or of
// cuMemCreate with a handle for other processes, also in several parts. A buffer that runs write must overlap no other
// buffer of this rank, no arena, and no buffer of a peer that its peers use; two buffers that runs only read may be
// one. Bind can't see the other buffers of a peer: ranks of one process keep their buffers apart themselves. After an
// error the plan is not bound. All ranks get the error of a collective Bind, and this rank alone the error of a local
// one: ErrBusy, ErrClosed, *DisagreementError, *RankError for another rank's failure, or *group.AbortError. This rank
// alone also gets an error of writing to group.Config.DumpTo.
//
// Before Bind, the caller sets each Call of the schedule that no kernel does. Where one is nil, a Bind that captures a
// graph fails by a *CallError; after another Bind the first run fails by it, which ends the group.
func (p *Plan) Bind(ctx context.Context, addr ...driver.Ptr) error {
	return p.BindCounts(ctx, nil, addr...)
}

// BindCounts is Bind of a program with uneven parts, which the counts give their
// sizes; other counts are another collective Bind.
func (p *Plan) BindCounts(ctx context.Context, counts []int, addr ...driver.Ptr) error {
	if err := p.enter(); err != nil {
		return fmt.Errorf("bind %s: %w", p, err)
	}
	defer p.leave()
	to := &p.next
	to.chunks = nil // as of counts that are refused
	for i, f := range p.bindable {
		to.memory[i] = binding{f.At(0), f.id}
	}
	wrong := p.count(to, counts)
	if wrong == nil { // the sizes are known
		wrong = p.inspect(to, addr)
	}
	same, local := p.changes(to)
	if wrong == nil && local {
		wrong = ctx.Err() // of a collective one, all ranks get it
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

// changes reports whether all memory, and whether all shared memory, is the last Bind's: in the second case this rank
// binds alone. A rank that binds no memory for a buffer that others use, as all ranks but 0 for the source of a
// broadcast, can't know that the others' memory is new: no Bind of such a plan is local.
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

// everywhere says whether each rank binds memory for each buffer that peers use.
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

// tells says whether also a rank that has nothing of a buffer binds memory for it, by which it knows whether the
// others' is new: where balanced parts leave it no row.
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

// inspect looks at the memory that the plan is to be bound to.
func (p *Plan) inspect(to *target, addr []driver.Ptr) error {
	if len(addr) != len(p.bindable) {
		for i, at := range addr[:min(len(addr), len(p.bindable))] { // which tell whether the peers bind anew
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
		if bytes == 0 && !p.tells(f) { // by the address the rank knows that the peers bind anew
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

// examine returns an identity that tells the memory at an address from other memory there. It knows memory of the
// group's driver without a call, and asks CUDA about other memory.
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
	case !a.Device && !f.shared: // Export says it of shared ones
		return a.BufferID, fmt.Errorf("%#x is not device memory", at)
	case f.shared && ipc.Mapped(a, p.driver.Properties().Ordinal): // it may have several parts, and each may be new
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

// changed names the buffers whose memory is not that of the last Bind.
func (p *Plan) changed(to *target) []string {
	var names []string
	for i, f := range p.bindable {
		if (binding{f.At(0), f.id}) != to.memory[i] {
			names = append(names, f.name)
		}
	}
	return names
}

// rebind exchanges, captures, and gives up the memory of the Bind before: its
// imports first, then, when all ranks have closed theirs, its exports.
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

// closeExports gives up exports. In a Bind, memory that was freed is no error: it is why the caller binds again.
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
	if err := p.graphs.drop(); err != nil { // they hold the peers' old addresses
		return err
	}
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
