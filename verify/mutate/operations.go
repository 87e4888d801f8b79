package mutate

import (
	"errors"
	"fmt"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// The only mesh size and rank whose operations are changed.
const oneSize, oneRank = 3, 1

var errOther = errors.New("another mesh size")

// operations adds the mutants of one rank's operations: mistakes that only the host of one rank makes, or that the text
// of a program can't express.
func (m *maker) operations() {
	list := m.right[oneSize][oneRank]
	for i, o := range list {
		if o.Kind == ops.After || o.Kind == ops.Done {
			continue
		}
		m.rank("drop", o.String(), slices.Delete(slices.Clone(list), i, i+1))
		if j := m.nextOnStream(list, i); j > 0 {
			swapped := slices.Clone(list)
			swapped[i], swapped[j] = list[j], list[i]
			m.rank("swap", o.String()+" with "+list[j].String(), swapped)
		}
		if j := m.nextCollective(list, i); j > 0 {
			swapped := slices.Clone(list)
			swapped[i], swapped[j] = list[j], list[i]
			m.rank("swap collectives", o.String()+" with "+list[j].String(), swapped)
		}
		m.items(list, i)
		m.misfits(list, i)
	}
	m.shares()
	m.ungrouped()
	m.packets()
}

// rank adds the mutant in which one rank has another list.
func (m *maker) rank(kind, what string, list []ops.Op) {
	what = fmt.Sprintf("on rank %d of %d: %s", oneRank, oneSize, what)
	m.add(kind, what, func(d int) ([][]ops.Op, error) {
		if d != oneSize {
			return nil, errOther
		}
		lists := slices.Clone(m.right[d])
		lists[oneRank] = list
		return lists, nil
	})
}

// nextOnStream is the next operation on the same stream that may be swapped with operation i.
func (m *maker) nextOnStream(list []ops.Op, i int) int {
	for j := i + 1; j < len(list); j++ {
		if list[j].Kind == ops.Done {
			return 0
		}
		if list[j].Stream == list[i].Stream {
			return j
		}
	}
	return 0
}

// nextCollective is the next collective after collective i.
func (m *maker) nextCollective(list []ops.Op, i int) int {
	if list[i].Kind != ops.Collective {
		return 0
	}
	if j := slices.IndexFunc(list[i+1:], func(o ops.Op) bool { return o.Kind == ops.Collective }); j >= 0 {
		return i + 1 + j
	}
	return 0
}

// changing adds the mutant in which an operation is another one.
type changing func(kind, what string, o ops.Op)

// items changes operation i: its work, its heads, its words and its uses, one at a time.
func (m *maker) items(list []ops.Op, i int) {
	change := func(kind, what string, o ops.Op) {
		changed := slices.Clone(list)
		changed[i] = o
		m.rank(kind, list[i].Stream+": "+what, changed)
	}
	m.work(list, i, change)
	heads(list[i], change)
	words(list[i], change)
	uses(list[i], change)
}

// work changes an operation's work: it drops terms, swaps or moves operands, and makes other functions.
func (m *maker) work(list []ops.Op, i int, change changing) {
	o := list[i]
	if o.Kind == ops.Sum {
		for n, u := range o.Uses {
			if c := o; !u.Write {
				c.Uses = slices.Delete(slices.Clone(o.Uses), n, n+1)
				change("drop a term", u.String(), c)
			}
		}
	}
	if o.Kind == ops.Call {
		m.called(list, i, change)
	}
	if o.Kind == ops.Product {
		c := o
		c.Uses = slices.Clone(o.Uses)
		x := c.Factors()
		text := o.Form + " of " + x.A.String() + " and " + x.B.String()
		*x.A, *x.B = *x.B, *x.A
		change("swap operands", text, c)
	}
	if o.InBlocks && o.Factors().ScaleA != nil {
		m.rank("cut scales as their rows", o.String(), slices.Replace(slices.Clone(list), i, i+1, halved(o, 0),
			halved(o, 1)))
	}
	if o.Early {
		c := o
		c.Uses = slices.Clone(o.Uses)
		c.Factors().A.Ahead = true
		change("read rows ahead", o.String(), c)
	}
	if o.Kind == ops.Collective {
		m.collective(list, i, change)
	}
	if s, ok := o.Node.(hostir.Step); ok && o.Kind == ops.Apply {
		change("make another function", o.String(), makesMore(o, s))
	}
}

// heads halves each width of heads.
func heads(o ops.Op, change changing) {
	for w, width := range o.Heads {
		c := o
		c.Heads = slices.Clone(o.Heads)
		c.Heads[w] = width / 2
		change("halve the width of heads", o.String(), c)
	}
}

// words drops each word that an operation awaits or posts, swaps it with the next, and takes another rank's.
func words(o ops.Op, change changing) {
	for w, word := range o.Words {
		c := o
		c.Words = slices.Delete(slices.Clone(o.Words), w, w+1)
		change("drop an item", word.String(), c)
		if w+1 < len(o.Words) {
			c.Words = slices.Clone(o.Words)
			c.Words[w], c.Words[w+1] = o.Words[w+1], o.Words[w]
			change("swap the order", word.String()+" and "+o.Words[w+1].String(), c)
		}
		c.Words = slices.Clone(o.Words)
		c.Words[w].At.Rank = (word.At.Rank + 1) % oneSize
		change("shift an index", word.String()+" to "+c.Words[w].String(), c)
	}
}

// uses takes rows in place of columns, and another rank's memory in place of a peer's.
func uses(o ops.Op, change changing) {
	for n, u := range o.Uses {
		if u.Columns {
			c := o
			c.Uses = slices.Clone(o.Uses)
			c.Uses[n].Columns = false
			change("rows for columns", u.String(), c)
		}
		if u.At.Rank == oneRank {
			continue
		}
		c := o
		c.Uses = slices.Clone(o.Uses)
		c.Uses[n].At.Rank = (u.At.Rank + 1) % oneSize
		change("shift an index", u.String()+" to "+c.Uses[n].String(), c)
	}
}

// halved is a product of a half of its rows, with that half of the bytes of their scales.
func halved(o ops.Op, half int64) ops.Op {
	o.Uses = slices.Clone(o.Uses)
	x := o.Factors()
	for _, u := range []*ops.Use{x.A, x.ScaleA, &o.Uses[len(o.Uses)-1]} {
		u.Bytes /= 2
		u.At.Offset += half * u.Bytes
	}
	return o
}

// called changes the operands of a call: it leaves one out, takes another rank's, or takes one in place of another.
func (m *maker) called(list []ops.Op, i int, change changing) {
	o := list[i]
	reads := o.Reads()
	for n, u := range reads {
		c := o
		c.Uses = slices.Delete(slices.Clone(o.Uses), n, n+1)
		change("drop an operand", u.String(), c)
		c.Uses = slices.Clone(o.Uses)
		c.Uses[n].At.Rank = (oneRank + 1) % oneSize
		change("an operand of another rank", c.Uses[n].String(), c)
		if n+1 < len(reads) {
			next := reads[n+1]
			c.Uses = slices.Clone(o.Uses)
			c.Uses[n], c.Uses[n+1] = next, u
			change("swap operands", u.String()+" and "+next.String(), c)
		}
	}
}

// makesMore is an operation of a step of formulas, with one more formula at the end.
func makesMore(o ops.Op, s hostir.Step) ops.Op {
	x, _ := s.Do.(hostir.Apply)
	x.Makes = append(slices.Clone(x.Makes), schedule.Abs(schedule.X))
	s.Do = x
	o.Node, o.Form = s, schedule.Key(x.Nodes())
	return o
}

// collective halves the source or the destination of a collective, and writes the source beside it.
func (m *maker) collective(list []ops.Op, i int, change changing) {
	o := list[i]
	for n, u := range o.Uses {
		c := o
		c.Uses = slices.Clone(o.Uses)
		c.Uses[n].Bytes /= 2
		change("halve a count", u.String(), c)
	}
	sent := o.Source()
	if got := o.Result(); o.Exchanges() && sent.Bytes != got.Bytes {
		c := o
		c.Uses = slices.Clone(o.Uses)
		c.Uses[len(c.Uses)-1].Bytes = sent.Bytes
		change("get as much as is sent", got.String(), c)
	}
	if first := m.program.Schedule.Tensors[0].Name; sent.At.Buffer != first && o.Stream != hostir.MainStream {
		from := ops.Use{At: ops.Loc{Rank: oneRank, Buffer: first}, Bytes: sent.Bytes}
		sent.Write = true
		m.rank("write what is sent", o.String(), slices.Insert(slices.Clone(list), i+1,
			ops.Op{Kind: ops.Copy, Stream: hostir.MainStream, Uses: []ops.Use{from, sent}}))
	}
}

// ungrouped splits each exchange, on every rank, into one that sends and then one that gets.
func (m *maker) ungrouped() {
	m.add("not grouped", "all exchanges", func(d int) ([][]ops.Op, error) {
		lists := make([][]ops.Op, d)
		for r, list := range m.right[d] {
			for _, o := range list {
				if o.Form != string(hostir.Exchange) {
					lists[r] = append(lists[r], o)
					continue
				}
				sends, gets := o, o
				sends.Form, sends.Uses = "send", o.Reads()
				gets.Form, gets.Uses = "receive", o.Writes()
				lists[r] = append(lists[r], sends, gets)
			}
		}
		return lists, nil
	})
}

// shares gives two streams one workspace, or one word for counting blocks, on every rank.
func (m *maker) shares() {
	workspaces, counts := map[string]bool{}, map[string]bool{}
	for _, o := range m.right[oneSize][oneRank] {
		for _, u := range o.Uses {
			if ops.IsWorkspace(u.At) {
				workspaces[u.At.Buffer] = true
			}
		}
		if o.Count.Buffer != "" {
			counts[o.Count.Buffer] = true
		}
	}
	m.share("share a workspace", workspaces)
	m.share("share a count word", counts)
}

// share replaces one of each two names by the other.
func (m *maker) share(kind string, names map[string]bool) {
	sorted := []string{}
	for n := range names {
		sorted = append(sorted, n)
	}
	slices.Sort(sorted)
	for i, keep := range sorted {
		for _, drop := range sorted[i+1:] {
			m.add(kind, keep+" is "+drop+" too", func(d int) ([][]ops.Op, error) {
				return renamed(m.right[d], drop, keep), nil
			})
		}
	}
}

// renamed uses buffer to where lists use buffer from.
func renamed(lists [][]ops.Op, from, to string) [][]ops.Op {
	out := make([][]ops.Op, len(lists))
	for r, list := range lists {
		out[r] = slices.Clone(list)
		for i, o := range list {
			out[r][i].Uses = slices.Clone(o.Uses)
			for n, u := range o.Uses {
				if u.At.Buffer == from {
					out[r][i].Uses[n].At.Buffer = to
				}
			}
			if o.Count.Buffer == from {
				out[r][i].Count.Buffer = to
			}
		}
	}
	return out
}
