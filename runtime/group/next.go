package group

import (
	"cmp"
	"slices"
	"unsafe"
)

// next is the wait that a stream comes to after the one its step word names.
type next struct {
	Step
	sure    bool   // the step words fit no other wait of the stream
	posted  bool   // all of Posts are there
	missing []Post // that are not there
}

// lacks are the peers whose posts the step may wait for.
func (n *next) lacks() []int {
	if len(n.missing) == len(n.Posts) {
		return n.Peers
	}
	var peers []int
	for _, p := range n.missing {
		if !slices.Contains(peers, p.Peer) {
			peers = append(peers, p.Peer)
		}
	}
	return peers
}

// part is the first part of the step that lacks a post of a peer: "tile group 3 of 8"; empty where steps have none.
func (n *next) part(peer int) string {
	if i := slices.IndexFunc(n.missing, func(p Post) bool { return p.Peer == peer }); i >= 0 {
		return n.missing[i].Part
	}
	return ""
}

// nexts is the next wait of each stream in a run of plan.
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
			i := slices.IndexFunc(waits[name],
				func(s Step) bool { return s.Number&0xffff == int(w&0xffff) })
			if i+1 < len(waits[name]) {
				x.Step = waits[name][i+1]
			} else {
				x.sure = false // the last wait of this run, or of the run before
			}
		}
		if x.Unmarked && len(waits[name]) > 1 {
			x.sure = false // the words do not say which of them it is
		}
		list = append(list, x)
	}
	return list
}

// earliest finds the step that a run waits at: a certain one before one that the words leave in doubt, then
// one whose posts are missing, then the first in issue order.
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

// readPosts copies the words of the posts that the steps await, and notes which are there. It notes nothing where
// the device does not answer, or where a rank may have set all words meanwhile.
func (g *Group) readPosts(list []next) {
	n := 0
	for _, x := range list {
		for _, p := range x.Posts {
			if n == mostPosts {
				break
			}
			to := unsafe.Pointer(&g.page.mem[section(g.Rank(), sectionPosts+4*n)])
			if err := g.drv.MemcpyDtoHAsync(to, p.Word, 4, g.abort.stream); err != nil {
				return
			}
			n++
		}
	}
	if n == 0 || g.drain(g.abort.stream, readTimeout) != nil || g.page.released() {
		return
	}
	at := 0
	for i := range list {
		x := &list[i]
		if at += len(x.Posts); at > n {
			return
		}
		for k, p := range x.Posts {
			if g.page.own(sectionPosts+4*(at-len(x.Posts)+k)).Load() == 0 {
				x.missing = append(x.missing, p)
			}
		}
		x.posted = len(x.Posts) > 0 && x.missing == nil
	}
}
