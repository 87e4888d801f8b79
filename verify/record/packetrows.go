package record

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"ovgen/runtime/kernels"
	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
	"ovgen/verify/touch"
)

// sentRows lists the operations of a block of a kernel that makes rows and sends them: its formulas, for each result
// the copies to peers with their posts, the copies of own rows with the last function of these, for each result the
// waits with the copies of what landed, and the last function of these.
func (l *launch) sentRows(n *Names, o ops.Op, k kind) ([]ops.Op, error) {
	formulas, rest := l.ofFormulas()
	made := o
	made.Kind = ops.Apply
	list, err := l.applied(n, made, formulas)
	if err != nil {
		return nil, err
	}
	left := scales{formula: list[len(list)-1]}
	sent := 1 + lastOf(rest, touch.Post)
	local := slices.IndexFunc(rest, func(t touch.Touch) bool { return t.Kind == touch.Wait })
	if local < 0 {
		local = len(rest)
	}
	if local < sent {
		return nil, errors.New("it waits before it has sent all")
	}
	ranks := 1
	for local+ranks-1 < len(rest) && rest[local+ranks-1].Kind == touch.Wait {
		ranks++
	}
	for at, part := range [][]touch.Touch{rest[:sent], rest[sent:local], rest[local:]} {
		part, behind, err := l.widened(n, o, part, []int{0, 1, ranks - 1}[at])
		if err != nil {
			return nil, err
		}
		for len(part) > 0 {
			one := *l
			one.kernel.Form = ""
			if at == 1 {
				one.touches, part = part[:min(2, len(part))], part[min(2, len(part)):] // the copy of a result
			} else {
				_, one.touches, part = stage(part)
			}
			moved, err := one.packets(n, o, k)
			if err != nil {
				return nil, err
			}
			list = append(list, left.of(moved)...)
		}
		list = append(list, behind...)
	}
	return list, nil
}

// lastOf is the place of the last touch of a kind, or -1.
func lastOf(list []touch.Touch, kind touch.Kind) int {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].Kind == kind {
			return i
		}
	}
	return -1
}

// widened parts the touches of a function of each element of some ranks' rows from those ahead of it, and lists its
// operations, one for each rank's rows.
func (l *launch) widened(n *Names, o ops.Op, list []touch.Touch, ranks int) (rest []touch.Touch, behind []ops.Op,
	err error) {
	key := l.kernel.Finish
	if key == "" {
		return list, nil, nil
	}
	o.Kind = ops.Apply
	formula(&o, hostir.ElementsKernel, key, numbersOf(key), l.words[:l.kernel.FinishEnd])
	each := 2 + len(o.Lies) // what it reads and writes
	at := len(list) - ranks*each
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

// scales are the place where formulas left the scales of rows, if they did, and the memory where those of all ranks
// lie.
type scales struct {
	formula ops.Op
	all     string
}

// of notes of copies, and of the take of what they read, that they move scales: each is of a row.
func (s *scales) of(list []ops.Op) []ops.Op {
	if !s.formula.LeavesScales {
		return list
	}
	own := s.formula.Uses[len(s.formula.Uses)-1].At
	moves := slices.ContainsFunc(list, func(o ops.Op) bool {
		if o.Kind != ops.Copy {
			return false
		}
		if to := o.Result().At; o.Source().At == own && to.Rank == own.Rank {
			s.all = to.Buffer
		}
		return o.Source().At == own || o.Result().At.Buffer == s.all
	})
	for i, o := range list {
		if moves && (o.Kind == ops.Copy || o.Kind == ops.Take) {
			list[i].Scaled = s.formula.Columns
		}
	}
	return list
}
