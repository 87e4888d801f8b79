package plan

import (
	"fmt"
	"slices"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/ipc"
)

// Builder collects the needs of a plan. Its calls only record, in the same order on
// all ranks; mistakes are reported by Finish.
type Builder struct {
	plan *Plan
	errs []error
}

// Build begins a plan of prog on g. shape is the shape of New, as errors quote it: "m=512 k=64 n=32 bf16".
func Build(g *group.Group, prog *Program, shape string) *Builder {
	b := begin(g.Rank(), g.Size(), g.Hosts(), prog, shape)
	b.plan.group, b.plan.driver = g, g.Driver()
	return b
}

func begin(rank, ranks, hosts int, prog *Program, shape string) *Builder {
	p := &Plan{rank: rank, ranks: ranks, hosts: hosts, program: prog, shape: shape, turn: make(chan struct{}, 1)}
	each := ranks / hosts
	first := rank / each * each // first rank of the host
	for i := 1; i < each; i++ {
		p.peers = append(p.peers, first+(rank-first+i)%each)
	}
	p.queue.plan = p
	b := &Builder{plan: p}
	p.main = b.Stream(MainStream, driver.Low)
	return b
}

// MainStream names the stream of the group on which Plan.Run enqueues runs.
const MainStream = "main"

// Rank is the rank that the plan is made on.
func (b *Builder) Rank() int { return b.plan.Rank() }

// Size is the number of ranks.
func (b *Builder) Size() int { return b.plan.Size() }

// Hosts is the number of hosts that the ranks are on.
func (b *Builder) Hosts() int { return b.plan.hosts }

// PerHost is the number of ranks of each host.
func (b *Builder) PerHost() int { return b.plan.perHost() }

// Plan is the plan that is being built: Rank and Size may be used at once, the other methods once Finish has returned.
func (b *Builder) Plan() *Plan { return b.plan }

// Issue declares the function that enqueues one run, call by call.
func (b *Builder) Issue(issue func(*Queue)) { b.plan.issue = issue }

func (b *Builder) mistake(format string, args ...any) {
	b.errs = append(b.errs, fmt.Errorf(format, args...))
}

// Caller declares memory of the caller that this rank alone uses, of at least the given bytes. Bind takes its address.
func (b *Builder) Caller(name string, bytes int64) *Buffer {
	return b.bindable(&Buffer{name: name, bytes: bytes})
}

// Shared declares memory of the caller that peers use too. Bind takes its address and exchanges it.
func (b *Builder) Shared(name string, bytes int64) *Buffer {
	return b.bindable(&Buffer{name: name, bytes: bytes, shared: true})
}

// InLoop is Shared for memory that Queue.Share exchanges during runs, instead of Bind.
func (b *Builder) InLoop(name string, bytes int64) *Buffer {
	return b.bindable(&Buffer{name: name, bytes: bytes, shared: true, inLoop: true})
}

// Written says that runs write the buffer of the caller: Bind refuses memory for it that overlaps another buffer's.
func (b *Builder) Written(f *Buffer) *Buffer {
	f.written = true
	return f
}

// Alike says that all ranks must hold the same values in a buffer of the caller.
func (b *Builder) Alike(f *Buffer) *Buffer {
	f.alike = true
	return f
}

// Root says that only rank 0 has a buffer of the caller: the other ranks bind none.
func (b *Builder) Root(f *Buffer) *Buffer {
	f.root = true
	return f
}

func (b *Builder) bindable(f *Buffer) *Buffer {
	if f.bytes <= 0 {
		b.mistake("buffer %s has %d bytes", f.name, f.bytes)
	}
	f.at = make([]driver.Ptr, b.plan.Size())
	if f.inLoop {
		f.imports = make([]*ipc.Import, b.plan.Size())
	}
	f.rank = b.plan.Rank()
	b.plan.bindable = append(b.plan.bindable, f)
	return f
}

// Allocate declares memory of the plan, at the same offset in every rank's arena. Its contents do not outlive a run:
// the plans of a group share the memory.
func (b *Builder) Allocate(name string, bytes int64) *Buffer {
	if bytes < 0 {
		b.mistake("buffer %s has %d bytes", name, bytes)
	}
	f := &Buffer{name: name, bytes: bytes, at: make([]driver.Ptr, b.plan.Size()), rank: b.plan.Rank()}
	b.plan.staged = append(b.plan.staged, f)
	return f
}

// Semaphore declares a word for each peer in every rank's arena, zero between runs.
func (b *Builder) Semaphore(name string) *Semaphore {
	set := &semaphores{name: name, count: 1, blocks: 1, single: true}
	b.plan.semaphores = append(b.plan.semaphores, set)
	return &Semaphore{set: set}
}

// MostBlocks is the largest number of blocks of a kernel whose blocks signal each for itself. Such blocks run side by
// side on every GPU with as many multiprocessors, and MostBlocks of them fill its links.
const MostBlocks = 64

// ByBlocks gives a semaphore separate words for each block of the kernels that signal it.
func (b *Builder) ByBlocks(s *Semaphore) *Semaphore {
	s.set.blocks = MostBlocks
	return s
}

// Semaphores declares n semaphores of one name.
func (b *Builder) Semaphores(name string, n int) []*Semaphore {
	set := &semaphores{name: name, count: n, blocks: 1}
	b.plan.semaphores = append(b.plan.semaphores, set)
	members := make([]*Semaphore, n)
	for i := range members {
		members[i] = &Semaphore{set: set, member: i}
	}
	return members
}

// Stream declares a stream. Plans of the group that use the same name and priority share it.
func (b *Builder) Stream(name string, p driver.Priority) *Stream {
	return b.stream(name, 0, p)
}

// Streams declares streams name[first] to name[n-1]; the entries of the result below first are nil.
func (b *Builder) Streams(name string, first, n int, p driver.Priority) []*Stream {
	s := make([]*Stream, max(first, n))
	for i := first; i < n; i++ {
		s[i] = b.stream(name, i, p)
		s[i].member = true
	}
	return s
}

// FallingStreams declares streams as Streams does, with falling priorities: the priority of the first is below High,
// and each later priority is below the one before it until Low is reached.
func (b *Builder) FallingStreams(name string, first, n int) []*Stream {
	s := b.Streams(name, first, n, driver.Low)
	for i := first; i < n; i++ {
		s[i].priority = max(driver.High-1-driver.Priority(i-first), driver.Low)
	}
	return s
}

func (b *Builder) stream(name string, index int, p driver.Priority) *Stream {
	s := &Stream{name: name, index: index, priority: p}
	b.plan.streams = append(b.plan.streams, s)
	return s
}

// Matmul declares a matrix product; equal products are declared once. M may be zero, on ranks without rows.
func (b *Builder) Matmul(d driver.MatmulDesc) *Product {
	if d.M < 0 {
		b.mistake("a product of %d rows", d.M)
	}
	for _, m := range b.plan.products {
		if m.desc == d {
			return m
		}
	}
	m := &Product{desc: d}
	b.plan.products = append(b.plan.products, m)
	return m
}

// Kernel declares a kernel of the program's Code.
func (b *Builder) Kernel(name string) *Kernel {
	k := &Kernel{name: name}
	code := b.plan.program.Code
	if code == nil {
		b.mistake("kernel %s: the program has no code", name)
		return k
	}
	i := slices.IndexFunc(code.Kernels, func(k driver.Kernel) bool { return k.Name == name })
	if i < 0 {
		b.mistake("kernel %s: the program's code does not hold it", name)
		return k
	}
	k.code = &code.Kernels[i]
	k.params = make([]uint64, (k.code.Params+7)/8+1)
	b.plan.kernels = append(b.plan.kernels, k)
	return k
}

// Try has New try something on this rank once the kernels are loaded: New returns its error. It may allocate the given
// bytes meanwhile.
func (b *Builder) Try(bytes int64, try func(driver.Driver, driver.Module, driver.Stream) error) {
	b.plan.trials, b.plan.tried = append(b.plan.trials, try), max(b.plan.tried, bytes)
}
