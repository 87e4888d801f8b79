package group

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ovgen/runtime/driver"
)

// TestMissing has a step await words before its work and behind it. The step waits for the words that are 0, but not
// for words that it has taken and set to 0 itself.
func TestMissing(t *testing.T) {
	// Of peer p: free is word p, arrived is p + 10, and this rank posts in p + 20 once it has taken free.
	var around, packets []Post
	for p := 1; p <= 2; p++ {
		at := driver.Ptr(p)
		around = append(around, Post{Peer: p, Name: fmt.Sprintf("free[%d]", p), Word: at, Taken: at + 20})
		packets = append(packets, Post{Peer: p, Name: fmt.Sprintf("arrived[%d]", p), Word: at, Or: at + 10})
	}
	for p := 1; p <= 2; p++ {
		around = append(around, Post{Peer: p, Name: fmt.Sprintf("arrived[%d]", p), Word: driver.Ptr(p) + 10,
			After: true})
	}
	for _, c := range []struct {
		posts []Post
		set   []driver.Ptr
		want  string
	}{
		{around, nil, "free[1] free[2]"},
		{around, []driver.Ptr{1}, "free[2]"},
		{around, []driver.Ptr{1, 2}, ""},                        // at work
		{around, []driver.Ptr{21, 2}, ""},                       // peer 1's are done
		{around, []driver.Ptr{21}, "free[2]"},                   // and peer 2 has not come
		{around, []driver.Ptr{21, 22}, "arrived[1] arrived[2]"}, // all is done here
		{around, []driver.Ptr{21, 22, 12}, "arrived[1]"},
		{around, []driver.Ptr{21, 12}, "arrived[1]"}, // peer 2 has done all, and taken this rank's post
		{around, []driver.Ptr{11, 12}, ""},
		{around[2:], []driver.Ptr{11}, "arrived[2]"},
		{packets, nil, "arrived[1] arrived[2]"},
		{packets, []driver.Ptr{2}, "arrived[1]"},
		{packets, []driver.Ptr{11}, "arrived[2]"}, // in the other half
		{packets, []driver.Ptr{11, 2}, ""},
	} {
		list := missing(c.posts, func(word driver.Ptr) bool { return word != 0 && slices.Contains(c.set, word) })
		var names []string
		for _, p := range list {
			names = append(names, p.Name)
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%v set: waits for %q, want %q", c.set, got, c.want)
		}
	}
}

// TestWordsOfPosts: a step names the posts that it misses, where others are there, and the first part of each peer's.
func TestWordsOfPosts(t *testing.T) {
	one, two := Post{Name: "arrived[1]"}, Post{Name: "arrived[2]"}
	packet := Post{Name: "arrived[1]", Or: 1}
	part := func(name string, number int) Post {
		return Post{Name: name, Part: fmt.Sprintf("tile group %d of 8", number)}
	}
	groups := []Post{part("arrived[1]", 3), part("arrived[2]", 1), part("arrived[1]", 4)}
	for _, c := range []struct {
		posts, missing []Post
		want           string
	}{
		{[]Post{one, two}, nil, ""},
		{[]Post{one, two}, []Post{one, two}, ""},
		{[]Post{one, two}, []Post{two}, "arrived[2]"},
		{[]Post{one, two, one}, []Post{one, two}, "arrived[1], arrived[2]"},
		{[]Post{packet, two, one}, []Post{packet, two}, "arrived[1] or arrived[2]"},
		{groups, groups, "arrived[1] of tile group 3 of 8, arrived[2] of tile group 1 of 8"},
	} {
		n := next{Step: Step{Posts: c.posts}, missing: c.missing}
		if got := n.words(); got != c.want {
			t.Errorf("%v of %v: %q, want %q", c.missing, c.posts, got, c.want)
		}
	}
}
