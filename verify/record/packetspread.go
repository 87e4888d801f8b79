package record

import (
	"ovgen/verify/ops"
	"ovgen/verify/touch"
)

// spread lists the operations of a block of a kernel that spreads results of the sum of packets. The touches of the sum
// end with the write of the sum. Behind it stand, in the order of the touches, the formulas, and for each result that
// is spread the copies to peers with their posts, and the waits with the copies of what landed.
func (l *launch) spread(n *Names, o ops.Op, k kind) (list []ops.Op, err error) {
	sum, rest := *l, []touch.Touch(nil)
	sum.kernel.Form = ""
	for i, t := range l.touches {
		at, err := n.loc(t.At)
		if err != nil {
			return nil, err
		}
		if t.Kind == touch.Write && t.Turn == 0 && !ops.IsStep(at) {
			sum.touches, rest = l.touches[:i+1], l.touches[i+1:]
			break
		}
	}
	if list, err = sum.packets(n, o, k); err != nil {
		return nil, err
	}
	k.gathers = true
	for len(rest) > 0 {
		formulas, moved, behind := stage(rest)
		made := o
		if made.Kind = ops.Apply; len(formulas) > 0 {
			functions, err := l.applied(n, made, formulas)
			if err != nil {
				return nil, err
			}
			list = append(list, functions...)
		}
		one := *l
		one.kernel.Form, one.touches = "", moved
		copied, err := one.packets(n, o, k)
		if err != nil {
			return nil, err
		}
		list, rest = append(list, copied...), behind
	}
	return list, nil
}

// stage parts touches into the touches of formulas at their head, the touches of one result that is sent or that lands,
// and the rest. Formulas touch no landing, and a sender reads a result from other memory first. Posts end a result that
// is sent, and waits begin one that lands.
func stage(list []touch.Touch) (formulas, moved, rest []touch.Touch) {
	first := 0
	for first < len(list) && list[first].Turn == 0 {
		first++
	}
	if first < len(list) && first > 0 && list[first].Kind == touch.Write {
		first--
	}
	formulas, moved = list[:first], list[first:]
	for i := 1; i < len(moved); i++ {
		posted := moved[i-1].Kind == touch.Post && moved[i].Kind != touch.Post
		waits := moved[i-1].Kind != touch.Wait && moved[i].Kind == touch.Wait
		if posted || waits {
			return formulas, moved[:i], moved[i:]
		}
	}
	return formulas, moved, nil
}

// applied lists the operations of the formulas of rows that a block makes.
func (l *launch) applied(n *Names, o ops.Op, touches []touch.Touch) ([]ops.Op, error) {
	for _, t := range touches {
		at, err := n.loc(t.At)
		if err != nil {
			return nil, err
		}
		o.Uses = append(o.Uses, ops.Use{Write: t.Kind == touch.Write, At: at, Bytes: t.Bytes})
	}
	list := l.formulas(o, o.Kernel)
	return list, wholeRows(n, list[0])
}
