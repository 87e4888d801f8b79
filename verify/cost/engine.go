package cost

import (
	"container/heap"
	"slices"
)

// engine runs functions at moments of a virtual clock; it runs functions of one moment in the order in which they were
// added.
type engine struct {
	now   float64
	queue moments
	count int
}

type moment struct {
	at    float64
	order int
	do    func()
}

func (e *engine) after(time float64, do func()) {
	e.count++
	heap.Push(&e.queue, moment{e.now + max(time, 0), e.count, do})
}

func (e *engine) run() {
	for len(e.queue) > 0 {
		m := heap.Pop(&e.queue).(moment)
		e.now = m.at
		m.do()
	}
}

type moments []moment

func (q moments) Len() int { return len(q) }
func (q moments) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].order < q[j].order
}
func (q moments) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *moments) Push(m any)   { *q = append(*q, m.(moment)) }
func (q *moments) Pop() any {
	last := len(*q) - 1
	m := (*q)[last]
	*q = (*q)[:last]
	return m
}

// pool is the multiprocessors of one GPU. A block keeps a multiprocessor from its start to its end. Blocks that find
// none wait, in the order of their streams' priorities, and then of launches; launches of one moment are in the order
// of enqueueing.
type pool struct {
	*engine
	free    int
	waiting []*claim
}

// claim is the blocks of a launch that have not yet started.
type claim struct {
	priority int // of its stream
	order    int // the order in which the host enqueued the launch
	at       float64
	blocks   int
	start    func(blocks int) // called when some of the blocks get a multiprocessor each
}

func (p *pool) take(c *claim) {
	c.at = p.now
	i := len(p.waiting)
	for i > 0 && c.before(p.waiting[i-1]) {
		i--
	}
	p.waiting = slices.Insert(p.waiting, i, c)
	p.after(0, p.grant) // after all other functions of this moment
}

func (c *claim) before(o *claim) bool {
	if c.priority != o.priority {
		return c.priority > o.priority
	}
	return c.at == o.at && c.order < o.order
}

func (p *pool) give(blocks int) {
	p.free += blocks
	p.grant()
}

func (p *pool) grant() {
	for p.free > 0 && len(p.waiting) > 0 {
		c := p.waiting[0]
		n := min(p.free, c.blocks)
		p.free -= n
		if c.blocks -= n; c.blocks == 0 {
			p.waiting = p.waiting[1:]
		}
		c.start(n)
	}
}

// links are the links of all GPUs, one a direction. Transfers share them evenly.
type links struct {
	*engine
	rate    float64 // of one direction of one GPU
	active  []*transfer
	last    float64 // when the remaining bytes were last computed
	version int
}

// transfer is bytes on their way from one rank's memory to another's.
type transfer struct {
	from, to    int
	left, limit float64
	rate        float64
	done        func()
}

func (l *links) add(t *transfer) {
	l.settle()
	l.active = append(l.active, t)
	l.share()
}

// settle subtracts the bytes that have moved since the rates were set.
func (l *links) settle() {
	for _, t := range l.active {
		t.left -= t.rate * (l.now - l.last)
	}
	l.last = l.now
}

// share sets the rates anew, and finds the transfer that ends next.
func (l *links) share() {
	out, in := map[int]float64{}, map[int]float64{}
	for _, t := range l.active {
		out[t.from]++
		in[t.to]++
	}
	var next *transfer
	for _, t := range l.active {
		t.rate = min(t.limit, l.rate/out[t.from], l.rate/in[t.to])
		if next == nil || t.left/t.rate < next.left/next.rate {
			next = t
		}
	}
	l.version++
	if next == nil {
		return
	}
	version := l.version
	l.after(next.left/next.rate, func() {
		if version != l.version {
			return
		}
		l.settle()
		for i, t := range l.active {
			if t == next {
				l.active = append(l.active[:i:i], l.active[i+1:]...)
				break
			}
		}
		l.share()
		next.done()
	})
}
