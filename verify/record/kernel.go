package record

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"ovgen/runtime/driver"
	"ovgen/verify/ops"
)

// kind is what the recorder knows of an emitted kernel beside its touches.
type kind struct {
	sum      bool // its result is the sum of all it reads
	function bool // its result is that function of all it reads
	oneBlock bool // it is correct with one block only
	waits    bool // each of its blocks awaits its words, a thread each
	posts    bool // it posts its words, a thread each
}

// kinds of kernels, by the first part of their names; their templates say how each is launched.
var kinds = map[string]kind{
	"wait":   {oneBlock: true, waits: true},
	"post":   {oneBlock: true, posts: true},
	"copy":   {},
	"reduce": {sum: true},
	"get":    {waits: true},
	"put":    {waits: true},
	"shot":   {waits: true, sum: true},

	"silu":    {function: true},
	"swiglu":  {function: true},
	"rmsnorm": {function: true},
}

// launch is one launch of a kernel.
type launch struct {
	kernel      driver.Kernel
	grid, block driver.Dim3
	touches     []driver.Touch
}

// threads are the most of a block.
const threads = 1024

// check refuses a geometry of the launch with which the kernel is not correct.
func (l *launch) check(k kind) error {
	words := 0
	for _, t := range l.touches {
		if t.Kind == driver.TouchRead {
			break // what comes after the work is done by one thread
		}
		if k.waits && t.Kind == driver.TouchWait || k.posts && t.Kind == driver.TouchPost {
			words++
		}
	}
	switch {
	case l.grid.Y != 1 || l.grid.Z != 1 || l.block.Y != 1 || l.block.Z != 1:
		return errors.New("grid and block have one dimension")
	case l.grid.X < 1 || l.block.X < 1 || l.block.X > threads:
		return fmt.Errorf("a grid has a block, and a block 1 to %d threads", threads)
	case k.oneBlock && l.grid.X != 1:
		return errors.New("it is right with one block only")
	case int(l.block.X) < words:
		return fmt.Errorf("%d words, and a thread for each is needed", words)
	}
	return nil
}

// operations are those of one kernel: posts and waits before its work, the work, posts and
// waits after it, the waits with their resets. A kernel that does no work is one operation,
// any other has one for each of the five that it does.
func (l *launch) operations(n *Names, o ops.Op) ([]ops.Op, error) {
	name, _, _ := strings.Cut(l.kernel.Name, "_") // what follows is the element type of a sum
	name = strings.TrimRight(name, "0123456789")
	k, known := kinds[name]
	if !known {
		return nil, fmt.Errorf("the recorder does not know kernel %s", l.kernel.Name)
	}
	if err := l.check(k); err != nil {
		return nil, fmt.Errorf("kernel %s, grid %v, block %v: %w", name, l.grid, l.block, err)
	}
	o.Kernel = name
	list, err := l.split(n, o, k)
	if err != nil {
		return nil, fmt.Errorf("kernel %s: %w", name, err)
	}
	return list, nil
}

func (l *launch) split(n *Names, o ops.Op, k kind) ([]ops.Op, error) {
	opens, work, posts, worked := o, o, o, false
	work.Kind = ops.Copy
	if k.sum {
		work.Kind = ops.Sum
	}
	made := "a sum"
	if k.function {
		work.Kind, work.Form, made = ops.Apply, work.Kernel, "a function"
	}
	var opening, closing wait
	for _, t := range l.touches {
		post, waits := &opens, &opening
		if worked {
			post, waits = &posts, &closing
		}
		if t.Bytes == 0 { // part of the work on no bytes: its address may be 0
			worked = true
			continue
		}
		at, err := n.loc(t.At)
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(at.Buffer, "count[") { // held until the work is done
			if was := opens.Count; was.Buffer != "" && was != at || t.Kind != driver.TouchWrite {
				return nil, fmt.Errorf("it counts its blocks in %s and in %s", was, at)
			}
			opens.Count, work.Count = at, at
			continue
		}
		switch {
		case t.Kind == driver.TouchWait:
			err = n.word(&waits.words, t.At, t.Value, false)
		case t.Kind == driver.TouchPost:
			err = n.word(post, t.At, t.Value, true)
		case isStep(at) && len(closing.words.Words) > 0:
			err = n.word(&closing.notes, t.At, t.Value, true)
		case isStep(at):
			err = n.word(&opening.notes, t.At, t.Value, true)
		case t.Kind == driver.TouchWrite && closing.awaits(at):
			err = n.word(&closing.resets, t.At, t.Value, true)
		case t.Kind == driver.TouchWrite && opening.awaits(at):
			err = n.word(&opening.resets, t.At, t.Value, true)
		case (k.sum || k.function) && t.Type != n.Type:
			err = fmt.Errorf("%s of %s in a plan of %s", made, t.Type, n.Type)
		default:
			work.Uses, worked = append(work.Uses, ops.Use{Write: t.Kind == driver.TouchWrite, At: at, Bytes: t.Bytes}),
				true
		}
		if err != nil {
			return nil, err
		}
	}
	before, after := o, o
	var errs [2]error
	before.Count = opens.Count
	before.Words, errs[0] = opening.list()
	after.Words, errs[1] = closing.list()
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	if !worked {
		opens.Words = append(opens.Words, before.Words...)
		return []ops.Op{opens}, nil
	}
	var list []ops.Op
	for _, part := range []ops.Op{opens, before, work, posts, after} {
		if part.Kind != ops.Signal || len(part.Words) > 0 {
			list = append(list, part)
		}
	}
	return list, nil
}

// wait is one of a kernel's waits: the words that it awaits, their resets, and the notes
// of its step.
type wait struct{ words, resets, notes ops.Op }

// awaits reports whether it is for the word at that place.
func (w *wait) awaits(at ops.Loc) bool {
	return slices.ContainsFunc(w.words.Words, func(x ops.Word) bool { return x.At == at })
}

// list is the wait as a program has it: each word with its reset.
func (w *wait) list() (list []ops.Word, err error) {
	if len(w.resets.Words) != len(w.words.Words) {
		return nil, fmt.Errorf("it waits for %d words and resets %d", len(w.words.Words), len(w.resets.Words))
	}
	for i, x := range w.words.Words {
		list = append(list, x, w.resets.Words[i])
	}
	return append(list, w.notes.Words...), nil
}
