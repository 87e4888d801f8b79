package plan

import (
	"fmt"
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

// A kernel that signals around its work awaits a word of each peer before it, and behind it another, in whose like at
// the peer it posts once it has taken the first; one of packets awaits the first packet of each peer, in either half.
func TestStepsNamePostsOfKernels(t *testing.T) {
	inWorld(t, 3, sim.Config{}, nil, func(w *world) {
		w.each(func(r int) {
			b := Build(w.groups[r], toyProgram, "posts")
			free, arrived := b.Semaphore("free"), b.Semaphore("arrived")
			land := b.Packets("landing", "landed", 96)
			p, err := b.Finish(w.Context(), func(q *Queue) {
				q.StepWords(q.Main(), "scatter", Signals{PrePost: free, PreWait: free, PostPost: arrived,
					PostWait: arrived, From: EveryPeer, To: EveryPeer})
				q.PacketWords(q.Main(), land, "packets")
			})
			if err != nil {
				w.Fatal(err)
			}
			var around, packets []group.Post
			for _, peer := range p.peers {
				around = append(around, group.Post{Peer: peer, Name: fmt.Sprintf("free[%d]", peer),
					Word: free.word(r, peer), Taken: arrived.word(peer, r)})
				first := land.base[r] + driver.Ptr(int64(peer)*land.part(3))
				packets = append(packets, group.Post{Peer: peer, Name: fmt.Sprintf("landed[%d]", peer), Word: first,
					Or: first + driver.Ptr(land.half(3))})
			}
			for _, peer := range p.peers {
				around = append(around, group.Post{Peer: peer, Name: fmt.Sprintf("arrived[%d]", peer),
					Word: arrived.word(r, peer), After: true})
			}
			for i, want := range [][]group.Post{around, packets} {
				if got := p.Steps()[i].Posts; !slices.Equal(got, want) {
					w.Errorf("rank %d: step %d awaits\n%+v\nwant\n%+v", r, i+1, got, want)
				}
			}
			if err := p.Close(w.Context()); err != nil {
				w.Error(err)
			}
		})
	})
}

// A step names each word of a group of tiles once, by peer and group. Beside a word that it awaits before its work it
// notes the word that this rank posts afterwards.
func TestStepNamesGroups(t *testing.T) {
	set := func(name string, base driver.Ptr) *Semaphore {
		return &Semaphore{set: &semaphores{name: name, count: 1, blocks: MostBlocks, single: true,
			base: []driver.Ptr{base, base + 1000, base + 2000}}}
	}
	p := &Plan{peers: []int{1, 2}, steps: []group.Step{{Number: 1}}, group: new(group.Group)}
	(&Queue{plan: p, dry: true}).AwaitsGroups(Signals{PreWait: set("free", 10000), PostPost: set("arrived", 20000),
		PostWait: set("arrived", 20000)}, 2)
	var before, after []group.Post
	for of := range 2 {
		for peer := 1; peer <= 2; peer++ {
			part := fmt.Sprintf("tile group %d of 2", of+1)
			before = append(before, group.Post{Peer: peer, Name: fmt.Sprintf("free[%d]", peer), Part: part,
				Word: driver.Ptr(10000 + 12*of + 4*peer), Taken: driver.Ptr(20000 + 12*of + 1000*peer)})
			after = append(after, group.Post{Peer: peer, Name: fmt.Sprintf("arrived[%d]", peer), Part: part,
				Word: driver.Ptr(20000 + 12*of + 4*peer), After: true})
		}
	}
	if got, want := p.steps[0].Posts, append(before, after...); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
