package record

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"ovgen/runtime/driver"
	"ovgen/verify/ops"
)

// LaunchKernel launches one of the package's kernels.
func (d *Driver) LaunchKernel(f driver.Function, grid, block driver.Dim3, s driver.Stream, params unsafe.Pointer) error {
	d.addAll(ops.Signal, s, func(o ops.Op) ([]ops.Op, error) {
		k, ok := d.kernels[f]
		if !ok || k.Touches == nil {
			return nil, fmt.Errorf("kernel %#x has no description", f)
		}
		_, o.Kernel, _ = strings.Cut(k.Name, "_")
		return d.launch(o, k.Touches(params, nil))
	})
	return d.Driver.LaunchKernel(f, grid, block, s, params)
}

// sums are the kernels whose result is the sum of all they read.
var sums = map[string]bool{"reduce": true, "shot": true}

// launch is what one kernel does: posts and waits ahead of its work, the work, posts and
// waits behind it, the waits with their resets. A kernel that does no work is one
// operation, any other has one for each of the five that it does.
func (d *Driver) launch(o ops.Op, touches []driver.Touch) ([]ops.Op, error) {
	opens, work, posts := o, o, o
	work.Kind = ops.Copy
	if sums[o.Kernel] {
		work.Kind = ops.Sum
	}
	var ahead, behind wait
	for _, t := range touches {
		at, err := d.names.loc(t.At)
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(at.Buffer, "count[") { // held until the work is done
			if was := opens.Count; was.Buffer != "" && was != at || t.Kind != driver.TouchWrite {
				return nil, fmt.Errorf("kernel %s counts its blocks in %s and in %s", o.Kernel, was, at)
			}
			opens.Count, work.Count = at, at
			continue
		}
		post, waits := &opens, &ahead
		if len(work.Uses) > 0 {
			post, waits = &posts, &behind
		}
		switch {
		case t.Kind == driver.TouchWait:
			err = d.word(&waits.words, t.At, t.Value, false)
		case t.Kind == driver.TouchPost:
			err = d.word(post, t.At, t.Value, true)
		case isStep(at) && len(behind.words.Words) > 0:
			err = d.word(&behind.notes, t.At, t.Value, true)
		case isStep(at):
			err = d.word(&ahead.notes, t.At, t.Value, true)
		case t.Kind == driver.TouchWrite && behind.awaits(at):
			err = d.word(&behind.resets, t.At, t.Value, true)
		case t.Kind == driver.TouchWrite && ahead.awaits(at):
			err = d.word(&ahead.resets, t.At, t.Value, true)
		default:
			work.Uses = append(work.Uses, ops.Use{Write: t.Kind == driver.TouchWrite, At: at, Bytes: t.Bytes})
		}
		if err != nil {
			return nil, err
		}
	}
	before, after := o, o
	var errs [2]error
	before.Count = opens.Count
	before.Words, errs[0] = ahead.list()
	after.Words, errs[1] = behind.list()
	if err := errors.Join(errs[:]...); err != nil {
		return nil, fmt.Errorf("kernel %s: %w", o.Kernel, err)
	}
	if len(work.Uses) == 0 {
		opens.Words = append(opens.Words, before.Words...)
		return []ops.Op{opens}, nil
	}
	var list []ops.Op
	for _, part := range []ops.Op{opens, before, work, posts, after} {
		if len(part.Words)+len(part.Uses) > 0 {
			list = append(list, part)
		}
	}
	return list, nil
}

// isStep says that a place is a stream's step word.
func isStep(l ops.Loc) bool { return strings.HasPrefix(l.Buffer, "step[") }

// wait is one of a kernel's waits: the words that it awaits, their resets, and the notes
// of its step.
type wait struct{ words, resets, notes ops.Op }

// awaits says that it is for the word at that place.
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
