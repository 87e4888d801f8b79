package record

import (
	"errors"
	"fmt"

	"ovgen/runtime/driver"
	"ovgen/runtime/kernels"
	"ovgen/verify/ops"
	"ovgen/verify/touch"
)

// tileThreads is the number of threads of a block that makes tiles.
const tileThreads = 384

// parts returns the operations of a launch of tiles. Block 0 of its touches is its beginning, and the last block is its
// end if it reads nothing. Each other block is a part, or a group of tiles of a part. A sum reads tiles after a wait,
// or tiles that the part has just made.
func (l *launch) parts(n *Names, o ops.Op, k kind) ([]ops.Op, error) {
	last := 0
	for _, t := range l.touches {
		last = max(last, t.Block)
	}
	var g grouped
	for block := 0; block <= last; block++ {
		x := tilePart{launch: l, names: n, plain: o, sums: k.sum}
		for _, t := range l.touches {
			if t.Block == block {
				if err := x.take(t); err != nil {
					return nil, fmt.Errorf("part %d: %w", block, err)
				}
			}
		}
		if err := x.flush(); err != nil {
			return nil, fmt.Errorf("part %d: %w", block, err)
		}
		if err := g.add(x.list, block == 0 || block == last && l.ends(last), k.groups); err != nil {
			return nil, fmt.Errorf("part %d: %w", block, err)
		}
	}
	return g.launch()
}

// ends reports whether the last part of a launch is its end, which reads nothing.
func (l *launch) ends(last int) bool {
	for _, t := range l.touches {
		if t.Block == last && t.Kind == touch.Read {
			return false
		}
	}
	return true
}

// tilePart turns the touches of one part into operations, in their order: words until memory is read, a copy where one
// tensor is read and then written, a product where several are read.
type tilePart struct {
	launch  *launch
	names   *Names
	plain   ops.Op
	list    []made
	count   ops.Loc
	signal  wait // awaited words, with their resets and writes of step words
	posts   ops.Op
	work    made
	written bool
	sums    bool // the work behind a product is a sum
	made    bool // a product of the part is listed
}

func (x *tilePart) take(t touch.Touch) error {
	at, err := x.names.loc(t.At)
	if err != nil {
		return err
	}
	word := func(o *ops.Op) error { return x.names.word(o, t.At, t.Value, t.Kind != touch.Wait) }
	switch {
	case ops.IsCount(at):
		if x.count.Buffer != "" && x.count != at || t.Kind != touch.Write {
			return fmt.Errorf("it counts in %s and in %s", x.count, at)
		}
		x.count = at
		return nil
	case t.Kind == touch.Wait:
		if x.written {
			if err := x.flush(); err != nil {
				return err
			}
		}
		return word(&x.signal.words)
	case t.Kind == touch.Post:
		return word(&x.posts)
	case ops.IsStep(at):
		return word(&x.signal.notes)
	case t.Kind == touch.Write && x.signal.awaits(at):
		return word(&x.signal.resets)
	case t.Type != x.names.Type && !(x.launch.kernel.Finish != "" && t.Kind == touch.Read && own(t.Type)):
		return fmt.Errorf("a product of %s in a plan of %s", t.Type, x.names.Type)
	}
	if t.Kind == touch.Read && x.written {
		if err := x.flush(); err != nil {
			return err
		}
	}
	x.written = x.written || t.Kind == touch.Write
	use := ops.Use{Write: t.Kind == touch.Write, At: at, Bytes: t.Bytes}
	var ranges []ops.Use
	t.Each(func(from driver.Ptr, _ int64) {
		u := use
		u.At.Offset += int64(from - t.At)
		ranges = append(ranges, u)
	})
	x.work.Uses, x.work.ranges = append(x.work.Uses, use), append(x.work.ranges, ranges)
	return nil
}

// flush ends the words and the work that have been collected: a wait, the work, and posts.
func (x *tilePart) flush() error {
	words, err := x.signal.list()
	if err != nil {
		return err
	}
	add := func(kind ops.Kind, words []ops.Word, work made) {
		if len(words)+len(work.Uses) == 0 {
			return
		}
		o := made{x.plain, work.ranges}
		o.Kind, o.Words, o.Uses = kind, words, work.Uses
		if kind == ops.Signal {
			o.Count = x.count
		}
		if kind == ops.Product {
			of, _ := x.launch.kernel.Row.(kernels.Row)
			o.Form, o.InOrder = "linear", of.InOrder
		}
		if kind == ops.Sum {
			x.launch.finish(&o.Op)
		}
		x.list = append(x.list, o)
	}
	add(ops.Signal, words, made{})
	kind := ops.Copy
	switch {
	case x.sums && x.made:
		kind = ops.Sum
	case len(x.work.Reads()) > 1:
		kind = ops.Product
	}
	x.made = x.made || kind == ops.Product
	if r, w := len(x.work.Reads()), len(x.work.Writes()); r+w > 0 && (r == 0 || w == 0) {
		return errors.New("it writes no results of its operands")
	}
	add(kind, nil, x.work)
	add(ops.Signal, x.posts.Words, made{})
	x.signal, x.posts, x.work, x.written = wait{}, ops.Op{}, made{}, false
	return nil
}
