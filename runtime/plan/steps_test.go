package plan

import (
	"testing"

	"ovgen/runtime/driver"
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
