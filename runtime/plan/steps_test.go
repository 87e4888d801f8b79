package plan

import (
	"slices"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/verify/sim"
)

// Each step that waits names the words in which its peers post, in this rank's arena and each once.
func TestStepsNamePosts(t *testing.T) {
	inWorld(t, 3, sim.Config{}, nil, func(w *world) {
		toys := w.toys()
		w.each(func(r int) {
			p := toys[r].plan
			words := map[driver.Ptr]bool{}
			for _, s := range p.Steps() {
				if !s.Wait && len(s.Posts) > 0 || s.Wait && len(s.Posts) != len(s.Peers) {
					w.Errorf("rank %d: %+v", r, s)
				}
				for i, x := range s.Posts {
					if x.Peer != s.Peers[i] || words[x.Word] || !p.holds(r, x.Word) {
						w.Errorf("rank %d: %s awaits %+v of %v", r, s.Text, x, s.Peers)
					}
					words[x.Word] = true
				}
			}
			if len(words) == 0 {
				w.Errorf("rank %d: no step awaits a post", r)
			}
		})
		w.all(toys, func(t *toy) error { return t.close(w.Context()) })
	})
}

// holds says that a rank's semaphores have a word.
func (p *Plan) holds(rank int, word driver.Ptr) bool {
	for _, s := range p.semaphores {
		if at := s.base[rank]; word >= at && word < at+driver.Ptr(4*s.words(p.Size())) {
			return true
		}
	}
	return false
}

// The words of groups of tiles are named by peer and group, each once.
func TestStepNamesGroups(t *testing.T) {
	set := &semaphores{name: "arrived", count: 1, blocks: MostBlocks, single: true, base: []driver.Ptr{1000, 0, 0}}
	p := &Plan{peers: []int{1, 2}, steps: []group.Step{{Number: 1}}, group: new(group.Group)}
	(&Queue{plan: p, dry: true}).AwaitsGroups(&Semaphore{set: set}, 2)
	const first, second = "tile group 1 of 2", "tile group 2 of 2"
	want := []group.Post{{Peer: 1, Word: 1004, Part: first}, {Peer: 2, Word: 1008, Part: first},
		{Peer: 1, Word: 1016, Part: second}, {Peer: 2, Word: 1020, Part: second}}
	if got := p.steps[0].Posts; !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
