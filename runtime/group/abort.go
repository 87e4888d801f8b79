package group

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
	"unsafe"

	"ovgen/runtime/driver"
)

// Times of an abort. The first rank releases the streams only after the other ranks have read their step words: the
// error takes from these words which rank waited for which.
const (
	readTimeout  = 500 * time.Millisecond // to read this rank's step words
	reportGrace  = 200 * time.Millisecond // for the peers to report their waits
	releaseEvery = 2 * time.Millisecond
)

// abort is the state of the group's abort on this rank.
type abort struct {
	stream driver.Stream // kept free for the release since Join

	mu    sync.Mutex
	cause error // of this rank's Abort, nil if it did not abort
	err   *AbortError
}

// Abort ends all runs of the group, on all ranks, with an error that says reason. It returns at once and may be called
// from any goroutine at any time; Done is closed when this rank's error is complete.
func (g *Group) Abort(reason error) {
	if reason == nil {
		reason = errors.New("no reason given")
	}
	g.abort.mu.Lock()
	if g.abort.cause == nil {
		g.abort.cause = reason
		kind, gone := classify(reason)
		g.page.claim(kind, gone, reason.Error())
	}
	g.abort.mu.Unlock()
	g.watch.poke()
}

// Do does work of this rank for which other ranks wait, such as a step of a server. An error of the work aborts the
// group. So does a panic, which Do returns as an error with its stack, so that the goroutine of one rank does not end
// the process of all ranks. So does runtime.Goexit, as in a test's FailNow.
func (g *Group) Do(work func() error) (err error) {
	finished := false
	defer func() {
		if x := recover(); x == nil && !finished {
			g.Abort(errors.New("the work ended its goroutine (runtime.Goexit)"))
		} else if x != nil {
			panicked := fmt.Errorf("panic: %v", x)
			g.Abort(panicked)
			err = fmt.Errorf("%w\n%s", panicked, debug.Stack())
		} else if err != nil {
			g.Abort(err)
		}
	}()
	err = work()
	finished = true
	return err
}

// failure is the group's error, nil until the error is complete.
func (a *abort) failure() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.err == nil {
		return nil
	}
	return a.err
}

// perform is this rank's part of an abort once the abort word is set: it reports which rank waited for which, then
// releases the streams. It takes no lock that a goroutine blocked in an enqueue may hold.
func (g *Group) perform() {
	e := &AbortError{Rank: g.Rank(), By: g.page.abortedBy()}
	if g.place.hosts > 1 {
		e.Hosts, e.PerHost = g.place.names, g.place.each
	}
	g.abort.mu.Lock()
	if e.Cause = g.abort.cause; e.By != e.Rank || e.Cause == nil {
		e.Cause = g.page.restore(e.By)
	}
	g.abort.mu.Unlock()
	heard := g.news(e.By, e.Cause)
	if e.By == e.Rank {
		g.tell(heard) // at once: other hosts do not see the page
	}
	plans, flying := g.inFlight()
	words, err := g.readSteps()
	histories := g.page.history()
	if err != nil {
		e.Cause = fmt.Errorf("%w (rank %d could not read its step words: %w)", e.Cause, e.Rank, err)
	} else if w, ok := g.diagnose(plans, words, histories, e.Cause); ok && flying {
		g.page.report(w)
		heard.Wait = &w
	}
	g.page.own(sectionState).Store(1)
	heard.Report, heard.Runs, heard.Recent = true, histories[e.Rank].runs, histories[e.Rank].recent
	g.tell(heard)
	g.await(sectionState, reportGrace, g.Size())
	g.page.own(sectionState).Store(2)
	g.watch.wg.Go(g.release)

	e.Waits = g.page.waits()
	if g.Hosts() > 1 {
		histories = g.page.history() // with the reports of other hosts
	}
	e.Order = order(histories, g.planName)
	g.abort.mu.Lock()
	g.abort.err = e
	g.abort.mu.Unlock()
	close(g.done)
}

// inFlight returns the plan of the oldest run in flight. The host does not see the caller's replays: it knows only
// whether one may be in flight, and which plans were captured.
func (g *Group) inFlight() (plans []int, ok bool) {
	if f, ok := g.runs.front(); ok {
		return []int{f.plan}, true
	}
	plans, order := g.runs.replayed()
	if order == 0 {
		return nil, false
	}
	done, err := g.drv.EventQuery(order)
	return plans, !done && err == nil
}

// readSteps copies this rank's step words into its section of the page.
func (g *Group) readSteps() ([]uint32, error) {
	g.pool.mu.Lock()
	n := len(g.pool.streams)
	g.pool.mu.Unlock()
	words := make([]uint32, n)
	if n == 0 {
		return words, nil
	}
	at := unsafe.Pointer(&g.page.mem[section(g.Rank(), sectionSteps)])
	if err := g.drv.MemcpyDtoHAsync(at, g.arena.Base(g.Rank()), int64(4*n), g.abort.stream); err != nil {
		return words, err
	}
	if err := g.drain(g.abort.stream, readTimeout); err != nil {
		return words, err
	}
	for i := range words {
		words[i] = g.page.own(sectionSteps + 4*i).Load()
	}
	return words, nil
}

// await polls until every rank that may be alive has set the word at offset of its section, or the limit has passed. It
// polls the given number of ranks, beginning with the first rank of this host.
func (g *Group) await(offset int, limit time.Duration, ranks int) {
	first := g.Host() * g.PerHost()
	for end := time.Now().Add(limit); ; time.Sleep(time.Millisecond) {
		g.hearAll()
		missing := false
		for i := range ranks {
			r := (first + i) % g.Size()
			missing = missing || g.page.word(section(r, offset)).Load() == 0 && !g.gone(r)
		}
		if !missing || !time.Now().Before(end) {
			return
		}
	}
}

// drain polls a stream, since a blocking wait on a stuck one would never return.
func (g *Group) drain(s driver.Stream, limit time.Duration) error {
	for end := time.Now().Add(limit); ; time.Sleep(pollEvery) {
		done, err := g.drv.StreamQuery(s)
		if done || err != nil {
			return err
		}
		if !time.Now().Before(end) {
			return fmt.Errorf("the stream did not drain within %v", limit)
		}
	}
}

const pollEvery = 100 * time.Microsecond

// release sets the semaphore words of all ranks to 1 again and again, until the
// watch is stopped: a released stream may wait again, and posts may be missing.
func (g *Group) release() {
	tick := time.NewTimer(0)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-tick.C:
		case <-g.watch.stop:
			return
		}
		every := releaseEvery
		if n > 1000 { // everything has long drained; go on for a caller's graph
			every *= 10
		}
		tick.Reset(every)
		if n == 1 { // release words first: a stream that waits for a word holds up NCCL
			g.communicator.disconnect(true)
		}
		// Never more than one round in flight: a full stream would block us.
		if done, err := g.drv.StreamQuery(g.abort.stream); !done || err != nil {
			continue
		}
		g.releaseOnce()
	}
}

// releaseOnce enqueues one round of writes, this rank's words first. A later round repeats failed writes.
func (g *Group) releaseOnce() {
	words, low := g.arena.used(), g.arena.lowest()
	for i := range g.Size() {
		r := (g.Rank() + i) % g.Size()
		if g.arena.Base(r) == 0 {
			continue // a rank that is apart has no word of this one's
		}
		if words > 0 {
			_ = g.drv.MemsetD32Async(g.arena.Base(r)+semaphoreAt, 1, words, g.abort.stream)
		}
		if kept := (g.arena.Bytes() - low) / 4; kept > 0 {
			_ = g.drv.MemsetD32Async(g.arena.Base(r)+driver.Ptr(low), 1, kept, g.abort.stream)
		}
	}
}
