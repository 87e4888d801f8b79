package drivertest

import (
	"time"

	"ovgen/runtime/driver"
)

func streams(b *bench) {
	for _, p := range []driver.Priority{driver.Low, driver.Normal, driver.High} {
		s := b.stream(p)
		done, err := b.d.StreamQuery(s)
		b.must(err)
		if !done {
			b.Errorf("a fresh stream of priority %d is busy", p)
		}
		capturing, err := b.d.StreamIsCapturing(s)
		b.must(err)
		if capturing {
			b.Error("a fresh stream is capturing")
		}
	}
	b.must(b.d.CtxSynchronize())
}

// waitAndWrite blocks one stream, sees that it is blocked, and releases it.
func waitAndWrite(b *bench) {
	word := b.put(make([]byte, 16))
	waiter, poster := b.stream(driver.Low), b.stream(driver.High)
	b.must(b.d.StreamBatchMemOp(waiter, []driver.MemOp{
		{Kind: driver.WaitEqual, Value: 1, Address: word},
		{Kind: driver.Write, Value: 0, Address: word},
		{Kind: driver.Write, Value: 9, Address: word + 4},
	}))
	done, err := b.d.StreamQuery(waiter)
	b.must(err)
	if done {
		b.Fatal("the wait was over before the word was written")
	}
	b.must(b.d.StreamBatchMemOp(poster, []driver.MemOp{{Kind: driver.Write, Value: 1, Address: word}}))
	b.must(b.d.StreamSynchronize(waiter))
	if got := words(b.get(word, 8)); got[0] != 0 || got[1] != 9 {
		b.Errorf("words %v after the batch, want [0 9]", got)
	}
	b.must(b.d.StreamBatchMemOp(waiter, []driver.MemOp{{Kind: driver.WaitEqual, Value: 1, Address: word}}))
	b.must(b.d.MemsetD32Async(word, 1, 1, poster)) // an abort releases it in this way
	b.must(b.d.StreamSynchronize(waiter))
}

// longBatch needs more items than CUDA takes in one call.
func longBatch(b *bench) {
	const n = 700
	p, s := b.put(make([]byte, 4*n)), b.stream(driver.Normal)
	items := make([]driver.MemOp, 0, 2*n)
	for i := range n {
		at := p + driver.Ptr(4*i)
		items = append(items,
			driver.MemOp{Kind: driver.Write, Value: uint32(i + 1), Address: at},
			driver.MemOp{Kind: driver.WaitEqual, Value: uint32(i + 1), Address: at})
	}
	b.must(b.d.StreamBatchMemOp(s, items))
	b.must(b.d.StreamSynchronize(s))
	for i, w := range words(b.get(p, 4*n)) {
		if w != uint32(i+1) {
			b.Fatalf("word %d is %d, want %d", i, w, i+1)
		}
	}
}

func events(b *bench) {
	word := b.put(make([]byte, 8))
	first, second := b.stream(driver.Low), b.stream(driver.High)
	e := b.event(false)
	done, err := b.d.EventQuery(e)
	b.must(err)
	if !done {
		b.Error("an event that was never recorded is pending")
	}
	b.must(b.d.StreamBatchMemOp(first, []driver.MemOp{{Kind: driver.WaitEqual, Value: 1, Address: word}}))
	b.must(b.d.EventRecordWithFlags(e, first, 0))
	b.must(b.d.StreamWaitEvent(second, e, 0))
	b.must(b.d.MemsetD32Async(word+4, 5, 1, second))
	done, err = b.d.EventQuery(e)
	b.must(err)
	if done {
		b.Error("the event completed after a blocked wait")
	}
	third := b.stream(driver.High)
	b.must(b.d.MemsetD32Async(word, 1, 1, third))
	b.must(b.d.EventSynchronize(e))
	b.must(b.d.StreamSynchronize(second))
	if got := words(b.get(word, 8)); got[1] != 5 {
		b.Errorf("the second stream wrote %d, want 5", got[1])
	}
	elapsed(b, first, e)
}

func elapsed(b *bench, s driver.Stream, untimed driver.Event) {
	from, to := b.event(true), b.event(true)
	p := b.alloc(1 << 20)
	b.must(b.d.EventRecordWithFlags(from, s, 0))
	b.must(b.d.MemsetD32Async(p, 3, 1<<18, s))
	b.must(b.d.EventRecordWithFlags(to, s, 0))
	b.must(b.d.EventSynchronize(to))
	ms, err := b.d.EventElapsedTime(from, to)
	b.must(err)
	if ms < 0 || ms > 10000 {
		b.Errorf("a memset took %v ms", ms)
	}
	_, err = b.d.EventElapsedTime(untimed, to)
	b.status(err, "time since an event without timing")
}

// capture replays a fork, a batch, a memset and a copy; none of them may run while they are captured.
func capture(b *bench) {
	buf := b.put(make([]byte, 64))
	main, side := b.stream(driver.Normal), b.stream(driver.High)
	fork, join := b.event(false), b.event(false)
	b.must(b.d.StreamBeginCapture(main))
	b.must(b.d.EventRecordWithFlags(fork, main, 0))
	b.must(b.d.StreamWaitEvent(side, fork, 0))
	for _, s := range []driver.Stream{main, side} {
		capturing, err := b.d.StreamIsCapturing(s)
		b.must(err)
		if !capturing {
			b.Error("a stream of the capture is not capturing")
		}
	}
	b.must(b.d.MemsetD32Async(buf, 11, 2, main))
	b.must(b.d.StreamBatchMemOp(side, []driver.MemOp{
		{Kind: driver.WaitEqual, Value: 1, Address: buf + 32},
		{Kind: driver.Write, Value: 0, Address: buf + 32},
	}))
	b.must(b.d.EventRecordWithFlags(join, side, 0))
	b.must(b.d.StreamWaitEvent(main, join, 0))
	b.must(b.d.MemcpyDtoDAsync(buf+16, buf, 8, main))
	g, err := b.d.StreamEndCapture(main)
	b.must(err)
	if got := words(b.get(buf, 64)); got[0] != 0 {
		b.Error("captured work ran")
	}
	b.replay(g, main, buf)
}

// replay launches g twice; each launch waits for a post.
func (b *bench) replay(g driver.Graph, s driver.Stream, buf driver.Ptr) {
	exec, err := b.d.GraphInstantiate(g)
	b.must(err)
	b.must(b.d.GraphDestroy(g))
	b.must(b.d.GraphUpload(exec, s))
	post := b.stream(driver.High)
	for range 2 {
		b.must(b.d.MemsetD32Async(buf, 0, 8, s))
		b.must(b.d.GraphLaunch(exec, s))
		b.must(b.d.StreamBatchMemOp(post, []driver.MemOp{{Kind: driver.Write, Value: 1, Address: buf + 32}}))
		b.must(b.d.StreamSynchronize(s))
		if got := words(b.get(buf, 64)); got[4] != 11 || got[5] != 11 || got[8] != 0 {
			b.Errorf("the replay left %v", got)
		}
	}
	b.must(b.d.GraphExecDestroy(exec))
}

// external orders a replay after and before work outside of the graph, as the runs of a group are ordered.
func external(b *bench) {
	word := b.put(make([]byte, 16))
	inside, outside := b.stream(driver.Normal), b.stream(driver.Normal)
	before, after := b.event(false), b.event(false)
	b.must(b.d.StreamBeginCapture(inside))
	b.must(b.d.StreamWaitEvent(inside, before, driver.External))
	b.must(b.d.MemcpyDtoDAsync(word+4, word, 4, inside))
	b.must(b.d.EventRecordWithFlags(after, inside, driver.External))
	g, err := b.d.StreamEndCapture(inside)
	b.must(err)
	exec, err := b.d.GraphInstantiate(g)
	b.must(err)
	for run := range uint32(2) {
		b.must(b.d.StreamBatchMemOp(outside, []driver.MemOp{
			{Kind: driver.WaitEqual, Value: run + 1, Address: word + 12},
			{Kind: driver.Write, Value: run + 41, Address: word},
		}))
		b.must(b.d.EventRecordWithFlags(before, outside, 0))
		b.must(b.d.GraphLaunch(exec, inside))
		b.must(b.d.MemsetD32Async(word+12, run+1, 1, b.stream(driver.High)))
		b.must(b.d.StreamSynchronize(inside))
		b.must(b.d.EventSynchronize(after))
		if got := words(b.get(word, 16)); got[1] != run+41 {
			b.Errorf("run %d copied %d, want %d", run, got[1], run+41)
		}
	}
	b.must(b.d.GraphExecDestroy(exec))
	b.must(b.d.GraphDestroy(g))
}

// betweenGraphs orders a graph, and work outside of graphs, after a graph that was launched before on another stream,
// as the runs of a group follow each other on streams of their own. The first graph waits for a word. The second one,
// and a copy outside of graphs, run when it has ended, and no earlier.
func betweenGraphs(b *bench) {
	word := b.put(make([]byte, 24))
	order := b.event(false)
	first, second, third := b.stream(driver.Normal), b.stream(driver.Normal), b.stream(driver.High)
	graph := func(s driver.Stream, work func()) driver.GraphExec {
		b.must(b.d.StreamBeginCapture(s))
		b.must(b.d.StreamWaitEvent(s, order, driver.External))
		work()
		b.must(b.d.EventRecordWithFlags(order, s, driver.External))
		g, err := b.d.StreamEndCapture(s)
		b.must(err)
		exec, err := b.d.GraphInstantiate(g)
		b.must(err)
		b.must(b.d.GraphDestroy(g))
		return exec
	}
	opens := graph(first, func() {
		b.must(b.d.StreamBatchMemOp(first, []driver.MemOp{
			{Kind: driver.WaitEqual, Value: 1, Address: word},
			{Kind: driver.Write, Value: 0, Address: word},
		}))
		b.must(b.d.MemcpyDtoDAsync(word+8, word+4, 4, first))
	})
	follows := graph(second, func() { b.must(b.d.MemcpyDtoDAsync(word+12, word+8, 4, second)) })
	for run := range uint32(8) {
		b.must(b.d.MemsetD32Async(word+4, run+41, 1, first))
		b.must(b.d.GraphLaunch(opens, first))
		b.must(b.d.GraphLaunch(follows, second))
		b.must(b.d.StreamWaitEvent(third, order, 0))
		b.must(b.d.MemcpyDtoDAsync(word+16, word+12, 4, third))
		time.Sleep(2 * time.Millisecond) // in which what waits for nothing would run
		for _, s := range []driver.Stream{second, third} {
			done, err := b.d.StreamQuery(s)
			b.must(err)
			if done {
				b.Errorf("run %d: what follows the first graph ran before it", run)
			}
		}
		b.must(b.d.MemsetD32Async(word, 1, 1, b.stream(driver.High)))
		b.must(b.d.StreamSynchronize(third))
		if got := words(b.get(word, 24)); got[3] != run+41 || got[4] != run+41 {
			b.Errorf("run %d: the graph behind copied %d and the stream behind that %d, want %d", run, got[3], got[4],
				run+41)
		}
		b.must(b.d.EventRecordWithFlags(order, third, 0))
	}
	b.must(b.d.GraphExecDestroy(opens))
	b.must(b.d.GraphExecDestroy(follows))
}
