package record

import (
	"fmt"
	"slices"
	"strings"

	"ovgen/runtime/kernels"
	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
	"ovgen/verify/touch"
)

// sentRows lists the operations of a block of a kernel that makes rows and sends them: its formulas, for each result the
// copies to peers with their posts, and for each the waits with the copies of what landed.
func (l *launch) sentRows(n *Names, o ops.Op, k kind) ([]ops.Op, error) {
	formulas, rest := l.ofFormulas()
	made := o
	made.Kind = ops.Apply
	list, err := l.applied(n, made, formulas)
	if err != nil {
		return nil, err
	}
	last := list[len(list)-1]
	rest, behind, err := l.widened(n, o, rest)
	if err != nil {
		return nil, err
	}
	for len(rest) > 0 {
		one := *l
		if one.kernel.Form, one.touches = "", rest; l.alone() {
			one.touches, rest = rest[:2], rest[2:] // the copy of a result
		} else {
			_, one.touches, rest = stage(rest)
		}
		moved, err := one.packets(n, o, k)
		if err != nil {
			return nil, err
		}
		list = append(list, scalesOf(last, moved)...)
	}
	return append(list, behind...), nil
}

// widened parts the touches of a function of each element of all ranks' rows from those ahead of it, and lists its
// operations, one for each rank's rows.
func (l *launch) widened(n *Names, o ops.Op, list []touch.Touch) (rest []touch.Touch, behind []ops.Op, err error) {
	key := l.kernel.Finish
	if key == "" {
		return list, nil, nil
	}
	o.Kind = ops.Apply
	formula(&o, hostir.ElementsKernel, key, numbersOf(key), l.words[:l.kernel.FinishEnd])
	each := 2 + len(o.Lies) // what it reads and writes
	at := len(list) - l.ranks()*each
	if at < 0 {
		return nil, nil, fmt.Errorf("it has %d touches, and those of its last function are missing", len(list))
	}
	for touches := range slices.Chunk(list[at:], each) {
		one := o
		one.Uses = nil
		for _, t := range touches {
			place, err := n.loc(t.At)
			if err != nil {
				return nil, nil, err
			}
			one.Uses = append(one.Uses, ops.Use{Write: t.Kind == touch.Write, At: place, Bytes: t.Bytes})
		}
		behind = append(behind, one)
	}
	return list[:at], behind, nil
}

// ranks is the number of ranks that send rows: one more than the first waits that stand together.
func (l *launch) ranks() int {
	first := slices.IndexFunc(l.touches, func(t touch.Touch) bool { return t.Kind == touch.Wait })
	n := 1
	for first >= 0 && first+n <= len(l.touches) && l.touches[first+n-1].Kind == touch.Wait {
		n++
	}
	return n
}

// ofFormulas parts the touches into those of the formulas at their head and the rest. The touches of each formula end
// with what it writes, those of the last with all that it writes.
func (l *launch) ofFormulas() (formulas, rest []touch.Touch) {
	at := 0
	for range strings.Split(l.kernel.Form, kernels.Joint) {
		for at < len(l.touches) && l.touches[at].Kind == touch.Read {
			at++
		}
		for at < len(l.touches) && l.touches[at].Kind == touch.Write {
			at++
		}
	}
	return l.touches[:at], l.touches[at:]
}

// scalesOf notes of copies, and of the take of what they read, that they move the scales that a formula left: each is
// of a row.
func scalesOf(formula ops.Op, list []ops.Op) []ops.Op {
	if !formula.LeavesScales {
		return list
	}
	scales := formula.Uses[len(formula.Uses)-1].At
	if !slices.ContainsFunc(list, func(o ops.Op) bool { return o.Kind == ops.Copy && o.Source().At == scales }) {
		return list
	}
	for i, o := range list {
		if o.Kind == ops.Copy || o.Kind == ops.Take {
			list[i].Scaled = formula.Columns
		}
	}
	return list
}
