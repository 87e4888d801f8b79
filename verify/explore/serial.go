package explore

import (
	"fmt"
	"slices"
	"strings"
)

// ExploreSerial looks for a deadlock where each device takes one operation at a time, in any order that the edges of a
// run's graph allow. A wait that a device has begun keeps the device from all other operations. Modes of the system
// other than InOrder count as Captured.
//
// Copies and products end by themselves and no other rank sees them, so they are taken as soon as they can be: a
// program that deadlocks without them deadlocks with them. The operations that a free rank may begin depend on no other
// rank, so one rank at a time branches. A wait that no other rank needs is begun as soon as it can be. The other ranks
// go on as they would without it; so it ends in time, or it holds the device for ever, and that is a deadlock. All this
// needs that no post is lost, which Explore shows.
func ExploreSerial(sys System) Verdict {
	sys.Modes = slices.Clone(sys.Modes)
	for i, m := range sys.Modes {
		if m == Eager {
			sys.Modes[i] = Captured
		}
	}
	sys.Unbuffered = true // to be safe it must not rest on buffers of NCCL
	m := build(sys)
	if m.Limit == 0 {
		m.Limit = 20000
	}
	x := &serial{search: search{machine: m, next: make([][]int32, len(m.steps)), seen: map[string]bool{},
		verdict: Verdict{Complete: true}}, needed: map[int32]bool{}}
	for i, st := range m.steps {
		if st.kind == write && st.value != 0 || st.serialWait && st.kind == access {
			x.needed[st.group] = true
		}
		for _, p := range st.before {
			x.next[p] = append(x.next[p], int32(i))
		}
	}
	x.from(&device{state: m.start(), busy: make([]int32, len(sys.Ranks)), rest: make([]int, len(sys.Ranks))})
	return x.verdict
}

type serial struct {
	search
	needed map[int32]bool // operations that another rank may need: posts and collectives
	behind []marks        // for each step that first was asked about: the steps that come after it, and the step
}

// device is the state of all devices.
type device struct {
	*state
	busy []int32 // the operation that occupies each rank's device, 0 if none
	rest []int   // steps it has left
}

func (d *device) clone() *device {
	return &device{state: d.state.clone(), busy: slices.Clone(d.busy), rest: slices.Clone(d.rest)}
}

func (x *serial) from(d *device) {
	length := len(x.path)
	defer func() { x.path = x.path[:length] }()
	for {
		if !x.Full && x.greedy(d) {
			continue
		}
		choices := x.choices(d)
		switch {
		case len(choices) == 0:
			x.stuck(d)
			return
		case len(choices) == 1:
			x.begin(d, choices[0])
			continue
		}
		if key := d.key() + fmt.Sprint(d.busy); x.seen[key] {
			return
		} else if x.seen[key] = true; len(x.seen) > x.Limit {
			x.verdict.Complete = false
		}
		x.verdict.States++
		for _, i := range choices {
			if !x.verdict.Complete || x.verdict.Broke(Serial) {
				return
			}
			next, length := d.clone(), len(x.path)
			x.begin(next, i)
			x.from(next)
			x.path = x.path[:length]
		}
		return
	}
}

// greedy takes steps that end by themselves, takes steps with which occupied devices can go on, and begins waits that
// no other rank needs.
func (x *serial) greedy(d *device) bool {
	any := false
	for i, st := range x.steps {
		if d.done[i] || d.missing[i] > 0 {
			continue
		}
		switch busy := d.busy[st.rank]; {
		case busy == 0 && st.serialWait && !x.needed[st.group]:
			x.begin(d, int32(i))
			any = true
		case busy == 0 && x.branches(st) && x.first(d, int32(i)):
			x.begin(d, int32(i))
			any = true
		case !x.able(d.state, int32(i)):
		case busy == st.group && busy != 0:
			x.do(d, int32(i))
			any = true
		case busy == 0 && !x.branches(st):
			x.do(d, int32(i))
			any = true
		}
	}
	return any
}

// first reports whether a step comes before each wait that its rank has left to begin. Then each order that ends in a
// deadlock has the step, or still ends in a deadlock where the step is taken at once.
func (x *serial) first(d *device, i int32) bool {
	if x.behind == nil {
		x.behind = make([]marks, len(x.steps))
	}
	behind := &x.behind[i]
	if behind.when == nil {
		*behind = newMarks(len(x.steps))
		x.follow(behind, i)
	}
	for j, st := range x.steps {
		if st.serialWait && st.rank == x.steps[i].rank && !d.done[j] && !behind.has(int32(j)) {
			return false
		}
	}
	return true
}

// follow marks a step and all steps that come after it.
func (x *serial) follow(behind *marks, i int32) {
	if behind.has(i) {
		return
	}
	behind.put(i)
	for _, n := range x.next[i] {
		x.follow(behind, n)
	}
}

// branches reports whether it matters when a step is begun.
func (x *serial) branches(st *step) bool {
	return st.signals() || st.serialWait
}

// choices lists the steps that the first free rank may begin. In the full search it lists all steps that any rank may
// begin or go on with.
func (x *serial) choices(d *device) []int32 {
	var list []int32
	for r := range d.busy {
		for i, st := range x.steps {
			switch {
			case st.rank != r || d.done[i] || d.missing[i] > 0:
			case d.busy[r] == 0 && (x.Full || x.branches(st)),
				x.Full && d.busy[r] == st.group && x.able(d.state, int32(i)):
				list = append(list, int32(i))
			}
		}
		if len(list) > 0 && !x.Full {
			return list
		}
	}
	return list
}

// begin lets a device begin an operation; an operation that waits occupies the device.
func (x *serial) begin(d *device, i int32) {
	st := x.steps[i]
	if st.serialWait && d.busy[st.rank] == 0 {
		d.busy[st.rank], d.rest[st.rank] = st.group, x.left(d, st.group)
		return
	}
	x.do(d, i)
}

// left is the number of steps of a group that are not done.
func (x *serial) left(d *device, group int32) (n int) {
	for i, st := range x.steps {
		if st.group == group && !d.done[i] {
			n++
		}
	}
	return n
}

func (x *serial) do(d *device, i int32) {
	st := x.steps[i]
	x.path = append(x.path, i)
	x.verdict.Steps++
	if st.kind == write {
		d.value[st.word] = st.value
	}
	d.done[i] = true
	d.left--
	for _, n := range x.next[i] {
		d.missing[n]--
	}
	if d.busy[st.rank] == st.group && st.group != 0 {
		if d.rest[st.rank]--; d.rest[st.rank] == 0 {
			d.busy[st.rank] = 0
		}
	}
}

func (x *serial) stuck(d *device) {
	if d.left == 0 {
		return
	}
	var busy []string
	for i, st := range x.steps {
		if !d.done[i] && d.missing[i] == 0 && d.busy[st.rank] == st.group {
			busy = append(busy, st.String())
		}
	}
	x.found(Serial, "a wait occupies each device: "+strings.Join(busy, "; "))
}
