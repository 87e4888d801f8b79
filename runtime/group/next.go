package group

import (
	"cmp"
	"slices"
	"strings"
)

// next is the wait that a stream reaches after the wait that its step word names.
type next struct {
	Step
	sure    bool   // the step words fit no other wait of the stream
	posted  bool   // the step waits for none of Posts
	missing []Post // the posts that the step waits for
}

// lacks returns the peers whose posts the step may wait for.
func (n *next) lacks() []int {
	var peers []int
	for _, p := range n.missing {
		if !slices.Contains(peers, p.Peer) {
			peers = append(peers, p.Peer)
		}
	}
	if peers == nil {
		return n.Peers
	}
	return peers
}

// words names the posts that the step waits for, if they are only some of its posts. Where the step works in parts, it
// names the first missing part of each peer: "arrived[1] of tile group 3 of 8, arrived[2] of tile group 1 of 8". A step
// takes packets from one peer after the other, so some of the named packets may have arrived.
func (n *next) words() string {
	if len(n.missing) == 0 || len(n.missing) == len(n.Posts) && n.missing[0].Part == "" {
		return ""
	}
	var names, peers []string
	between := ", "
	for _, p := range n.missing {
		if slices.Contains(peers, p.Name) {
			continue
		}
		peers = append(peers, p.Name)
		if p.Part != "" {
			p.Name += " of " + p.Part
		}
		if p.Or != 0 {
			between = " or "
		}
		names = append(names, p.Name)
	}
	return strings.Join(names, between)
}

// nexts returns the next wait of each stream in a run of plan.
func nexts(steps []Step, plan int, words map[string]uint32) (list []next) {
	waits := map[string][]Step{}
	var streams []string
	for _, s := range steps {
		if s.Wait {
			if waits[s.Stream] == nil {
				streams = append(streams, s.Stream)
			}
			waits[s.Stream] = append(waits[s.Stream], s)
		}
	}
	for _, name := range streams {
		x := next{Step: waits[name][0], sure: true}
		if w := words[name]; int(w>>16) == plan {
			i := slices.IndexFunc(waits[name], func(s Step) bool { return s.Number&0xffff == int(w&0xffff) })
			if i+1 < len(waits[name]) {
				x.Step = waits[name][i+1]
			} else {
				x.sure = false // it is the last wait of this run, or of the run before
			}
		}
		if x.Unmarked && len(waits[name]) > 1 {
			x.sure = false // the words do not say which wait of the stream it is
		}
		list = append(list, x)
	}
	return list
}

// earliest finds the step at which a run waits: a step that is sure before one that is not, then a step whose posts are
// missing, then the first step in issue order.
func earliest(list []next) (at next, ok bool) {
	later := func(a, b bool) int { // true comes later
		switch {
		case a == b:
			return 0
		case a:
			return 1
		}
		return -1
	}
	if len(list) == 0 {
		return next{}, false
	}
	return slices.MinFunc(list, func(a, b next) int {
		return cmp.Or(later(!a.sure, !b.sure), later(a.posted, b.posted), cmp.Compare(a.Number, b.Number))
	}), true
}
