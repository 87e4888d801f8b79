package record

import (
	"fmt"
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

// launch is what one kernel does: waits with their resets, its work, posts. A kernel
// that does no work is one operation, any other has one for each of the three that it
// does.
func (d *Driver) launch(o ops.Op, touches []driver.Touch) ([]ops.Op, error) {
	before, work, after := o, o, o
	work.Kind = ops.Copy
	if sums[o.Kernel] {
		work.Kind = ops.Sum
	}
	var waits, resets, notes ops.Op
	for _, t := range touches {
		at, err := d.names.loc(t.At)
		if err != nil {
			return nil, err
		}
		switch {
		case t.Kind == driver.TouchWait:
			err = d.word(&waits, t.At, t.Value, false)
		case t.Kind == driver.TouchPost:
			err = d.word(&after, t.At, t.Value, true)
		case isStep(at):
			err = d.word(&notes, t.At, t.Value, true)
		case t.Kind == driver.TouchWrite && awaits(waits, at):
			err = d.word(&resets, t.At, t.Value, true)
		default:
			work.Uses = append(work.Uses, ops.Use{Write: t.Kind == driver.TouchWrite, At: at, Bytes: t.Bytes})
		}
		if err != nil {
			return nil, err
		}
	}
	if len(resets.Words) != len(waits.Words) {
		return nil, fmt.Errorf("kernel %s waits for %d words and resets %d", o.Kernel, len(waits.Words), len(resets.Words))
	}
	for i, w := range waits.Words {
		before.Words = append(before.Words, w, resets.Words[i])
	}
	before.Words = append(before.Words, notes.Words...)
	if len(work.Uses) == 0 {
		before.Words = append(before.Words, after.Words...)
		return []ops.Op{before}, nil
	}
	var list []ops.Op
	for _, part := range []ops.Op{before, work, after} {
		if len(part.Words)+len(part.Uses) > 0 {
			list = append(list, part)
		}
	}
	return list, nil
}

// isStep says that a place is a stream's step word.
func isStep(l ops.Loc) bool { return strings.HasPrefix(l.Buffer, "step[") }

// awaits says that one of the waits is for the word at that place.
func awaits(waits ops.Op, at ops.Loc) bool {
	for _, w := range waits.Words {
		if w.At == at {
			return true
		}
	}
	return false
}
