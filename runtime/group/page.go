package group

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"ovgen/runtime/driver"
)

// Layout of the page that all ranks of a host map, in bytes. Every word is written by one rank only, the rank whose
// section it lies in, with two exceptions. The first rank to abort swaps the abort word from 0 to its rank plus one.
// All ranks of this host write the same news into the sections of ranks on other hosts.
const (
	pageAbort    = 0
	pageSections = 256

	sectionBytes  = 4096
	sectionRuns   = 0    // uint64: runs begun by this rank's host
	sectionState  = 8    // 1: since the abort the rank has read its words and written its waits; 2: it sets all words
	sectionClosed = 12   // 1: the rank has closed its imports
	sectionProbe  = 20   // word on which Join blocks a stream
	sectionKind   = 24   // kind of the rank's reason to abort
	sectionGone   = 28   // the rank that was gone
	sectionWait   = 32   // plan, step, peer plus one, sure, posted
	sectionRecent = 64   // plans of the rank's last runs, a ring of recentRuns
	sectionReason = 192  // length, text
	sectionText   = 704  // length, text: the step at which the rank waited
	sectionSteps  = 1024 // the rank's step words at the abort
	sectionPosts  = 2048 // the rank's semaphore words that it may wait for, at the abort

	recentRuns  = 32
	mostPosts   = (sectionBytes - sectionPosts) / 4
	reasonBytes = sectionText - sectionReason - 4
	textBytes   = sectionSteps - sectionText - 4
)

// page is the host's shared memory. The host's first rank makes it as a memfd, so nothing lies in the file system; the
// other ranks open it through /proc, and every rank pins it for its device.
type page struct {
	rank int
	size int
	each int // ranks of a host; sections of ranks on other hosts hold their news

	mu     sync.RWMutex // held to read where Close may unmap meanwhile
	mem    []byte
	device driver.Ptr
	drv    driver.Driver
}

func pageBytes(size int) int {
	n := pageSections + size*sectionBytes
	return (n + os.Getpagesize() - 1) / os.Getpagesize() * os.Getpagesize()
}

// newPage makes the memory, at a host's first rank.
func newPage(size int) (*os.File, error) {
	f, err := memfd("ovgen")
	if err != nil {
		return nil, fmt.Errorf("make the shared page: %w", err)
	}
	if err := f.Truncate(int64(pageBytes(size))); err != nil {
		f.Close()
		return nil, fmt.Errorf("make the shared page: %w", err)
	}
	return f, nil
}

// mapPage maps the page from its place in /proc and pins it.
func mapPage(path string, rank, size, each int, d driver.Driver) (*page, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("open the shared page (ranks must share a pid namespace): %w", err)
	}
	defer f.Close()
	mem, err := unix.Mmap(int(f.Fd()), 0, pageBytes(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map the shared page: %w", err)
	}
	dev, err := d.MemHostRegister(unsafe.Pointer(&mem[0]), int64(len(mem)))
	if err != nil {
		unix.Munmap(mem)
		return nil, fmt.Errorf("pin the shared page: %w", err)
	}
	return &page{rank: rank, size: size, each: each, mem: mem, device: dev, drv: d}, nil
}

// close unpins and unmaps the page.
func (p *page) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mem == nil {
		return nil
	}
	if err := p.drv.MemHostUnregister(unsafe.Pointer(&p.mem[0])); err != nil {
		return fmt.Errorf("unpin the shared page: %w", err)
	}
	mem := p.mem
	p.mem = nil
	return unix.Munmap(mem)
}

func section(rank, offset int) int { return pageSections + rank*sectionBytes + offset }

// word is the 32-bit word at an offset of the page.
func (p *page) word(at int) *atomic.Uint32 {
	return (*atomic.Uint32)(unsafe.Pointer(&p.mem[at]))
}

// own is a word of this rank's section.
func (p *page) own(offset int) *atomic.Uint32 { return p.word(section(p.rank, offset)) }

// aborted reports whether the abort word is set.
func (p *page) aborted() bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.mem != nil && p.word(pageAbort).Load() != 0
}

// abortedBy is the rank that set the abort word.
func (p *page) abortedBy() int { return int(p.word(pageAbort).Load()) - 1 }

// claim sets the abort word, unless another rank has set it. It writes the reason first, so that every rank that sees
// the word can read the reason.
func (p *page) claim(kind, gone uint32, reason string) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.mem == nil {
		return
	}
	p.own(sectionKind).Store(kind)
	p.own(sectionGone).Store(gone)
	p.writeText(sectionReason, reasonBytes, reason)
	p.word(pageAbort).CompareAndSwap(0, uint32(p.rank+1))
}

// released reports whether a rank may have begun to set the words of all ranks.
func (p *page) released() bool {
	for r := range p.size {
		if p.word(section(r, sectionState)).Load() == 2 {
			return true
		}
	}
	return false
}

// writeText stores a length and a text in this rank's section.
func (p *page) writeText(offset, limit int, text string) { p.writeTextOf(p.rank, offset, limit, text) }

func (p *page) writeTextOf(rank, offset, limit int, text string) {
	if len(text) > limit {
		text = text[:limit]
	}
	at := section(rank, offset)
	copy(p.mem[at+4:at+4+limit], text)
	p.word(at).Store(uint32(len(text)))
}

// text reads the text of writeText from rank's section.
func (p *page) text(rank, offset, limit int) string {
	at := section(rank, offset)
	n := min(int(p.word(at).Load()), limit)
	return string(p.mem[at+4 : at+4+n])
}

// begun notes that this rank begins a run of plan.
func (p *page) begun(plan int) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.mem == nil {
		return
	}
	count := p.runs(p.rank)
	n := count.Load()
	p.own(sectionRecent + 4*int(n%recentRuns)).Store(uint32(plan))
	count.Store(n + 1)
}

// runs counts the runs begun by a rank.
func (p *page) runs(rank int) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Pointer(&p.mem[section(rank, sectionRuns)]))
}

// history has the number of runs that a rank has begun, and the plans of the last runs.
type history struct {
	runs   uint64
	recent [recentRuns]uint32
}

// history returns every rank's history. For a rank on another host that has sent no news, it returns this rank's.
func (p *page) history() []history {
	all := make([]history, p.size)
	for i := range all {
		r := i
		if r/p.each != p.rank/p.each && p.word(section(r, sectionState)).Load() == 0 {
			r = p.rank
		}
		all[i].runs = p.runs(r).Load()
		for n := range all[i].recent {
			all[i].recent[n] = p.word(section(r, sectionRecent+4*n)).Load()
		}
	}
	return all
}
