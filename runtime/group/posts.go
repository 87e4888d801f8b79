package group

import (
	"slices"
	"unsafe"

	"ovgen/runtime/driver"
)

// Post is a word that a step awaits from a peer.
type Post struct {
	Peer int
	Name string     // "arrived[1]"
	Part string     // part of the awaiting step, where its parts have separate words: "tile group 3 of 8"
	Word driver.Ptr // in this rank's arena: not 0 from the peer's post until the step takes it
	Or   driver.Ptr // second word, in which the peer may post instead, as packets do; 0: none
	// After says that the step awaits the post behind its work.
	After bool
	// Taken is a word at the peer, which this rank posts once it has taken this post; 0: none.
	Taken driver.Ptr
}

// readPosts copies the words of the posts that the steps await, and notes the posts that each step waits for. It notes
// nothing where the device does not answer, or where a rank may have set all words meanwhile.
func (g *Group) readPosts(list []next) {
	var at []driver.Ptr // of the words, in the order in which they are copied
	read := func(word driver.Ptr) error {
		if word == 0 || len(at) == mostPosts || slices.Contains(at, word) {
			return nil
		}
		to := unsafe.Pointer(&g.page.mem[section(g.Rank(), sectionPosts+4*len(at))])
		err := g.drv.MemcpyDtoHAsync(to, word, 4, g.abort.stream)
		if err == nil {
			at = append(at, word)
		}
		return err
	}
	for _, x := range list {
		for _, p := range x.Posts {
			if read(p.Word) != nil || read(p.Or) != nil {
				return
			}
			_ = read(p.Taken) // the word of a peer that may be gone
		}
	}
	if len(at) == 0 || g.drain(g.abort.stream, readTimeout) != nil || g.page.released() {
		return
	}
	known := func(word driver.Ptr) bool { return slices.Contains(at, word) }
	set := func(word driver.Ptr) bool {
		return known(word) && g.page.own(sectionPosts+4*slices.Index(at, word)).Load() != 0
	}
	for i := range list {
		x := &list[i]
		if len(x.Posts) > 0 && !slices.ContainsFunc(x.Posts, func(p Post) bool { return !known(p.Word) }) {
			x.missing = missing(x.Posts, set)
			x.posted = x.missing == nil
		}
	}
}

// missing returns the posts that a step waits for, by the words that are set: the posts that let its work begin, or
// else the posts behind its work. It returns nil while the step works on parts whose posts have arrived.
func missing(posts []Post, set func(driver.Ptr) bool) (list []Post) {
	there := func(p Post) bool { return set(p.Word) || set(p.Or) }
	works := false
	for _, p := range posts {
		further := func(o Post) bool { return o.After && o.Peer == p.Peer && there(o) } // the peer is past p
		switch {
		case p.After:
		case there(p):
			works = true
		case !set(p.Taken) && !slices.ContainsFunc(posts, further):
			list = append(list, p)
		}
	}
	if list != nil || works {
		return list
	}
	for _, p := range posts {
		if p.After && !there(p) {
			list = append(list, p)
		}
	}
	return list
}
