package record

import (
	"fmt"

	"ovgen/verify/ops"
	"ovgen/verify/touch"
)

// packets lists the operations of a block of a kernel of packets: a copy to each peer, the posts and waits of flags,
// the sum or the copies of a gather, and the take of the packets that these read.
func (l *launch) packets(n *Names, o ops.Op, k kind) (list []ops.Op, err error) {
	copied, sum, take, signal, made := o, o, o, o, o
	made.Kind = ops.Apply
	summed := false // the later touches are of the function
	copied.Kind, sum.Kind, take.Kind, signal.Kind = ops.Copy, ops.Sum, ops.Take, ops.Signal
	posts, waits, resets := signal, wait{}, 0
	most := len(l.touches) / 4 // each peer has at least a copy, a post, a wait and a reset
	list, sum.Uses = make([]ops.Op, 0, most), make([]ops.Use, 0, most)
	for _, words := range []*ops.Op{&posts, &waits.words, &waits.resets} {
		words.Words = make([]ops.Word, 0, most)
	}
	for _, t := range l.touches {
		at, flag, err := l.landed(n, t)
		if err != nil {
			return nil, err
		}
		word := ops.Word{Write: t.Kind != touch.Wait, At: at, Value: t.Value}
		switch {
		case flag && t.Kind == touch.Post:
			posts.Words = append(posts.Words, word)
		case flag && t.Kind == touch.Wait:
			waits.words.Words = append(waits.words.Words, word)
		case flag:
			waits.resets.Words = append(waits.resets.Words, word)
			resets++
		case ops.IsStep(at):
			err = n.word(&waits.notes, t.At, t.Value, true)
		case t.Type != n.Type && !k.gathers && !((summed || l.kernel.Finish != "") && own(t.Type)):
			err = fmt.Errorf("a sum of %s in a plan of %s", t.Type, n.Type)
		case summed:
			made.Uses = append(made.Uses, ops.Use{Write: t.Kind == touch.Write, At: at, Bytes: t.Bytes})
		case len(posts.Words)+resets > 0 || len(list) == 0 && len(copied.Uses) == 0 && l.alone():
			sum.Uses = append(sum.Uses, ops.Use{Write: t.Kind == touch.Write, At: at, Bytes: t.Bytes})
			if t.Packets {
				take.Uses = append(take.Uses, ops.Use{Write: true, At: at, Bytes: t.Bytes})
			}
			summed = l.kernel.Form != "" && t.Kind == touch.Write
		default:
			copied.Uses = append(copied.Uses, ops.Use{Write: t.Kind == touch.Write, At: at, Bytes: t.Bytes})
		}
		if err != nil {
			return nil, err
		}
		if len(copied.Uses) == 2 {
			list = append(list, copied)
			copied.Uses = nil
		}
	}
	if !k.gathers {
		l.finish(&sum)
	}
	waited := signal
	if waited.Words, err = waits.list(); err != nil {
		return nil, err
	}
	parts := []ops.Op{posts, waited, sum}
	if k.gathers {
		sum.Kind = ops.Copy
		parts = append(parts[:2], sum.Copies()...)
	}
	functions := []ops.Op{made}
	if l.kernel.Form != "" {
		functions = l.formulas(made, o.Kernel)
	}
	for _, part := range append(append(parts, take), functions...) {
		if len(part.Words)+len(part.Uses) > 0 {
			list = append(list, part)
		}
	}
	return list, wholeRows(n, functions[0])
}

// wholeRows refuses a block that applies a function to parts of rows.
func wholeRows(n *Names, made ops.Op) error {
	if len(made.Uses) > 0 && (made.Columns < 1 || made.Source().Bytes%(made.Columns*n.Type.Size()) != 0) {
		return fmt.Errorf("a block has a part of a row of %d columns: %s", made.Columns, made.Source())
	}
	return nil
}

// alone reports whether the launch sends nothing.
func (l *launch) alone() bool {
	for _, t := range l.touches {
		if t.Kind == touch.Post {
			return false
		}
	}
	return true
}

// landed names the place of a touch. A touch of packets is in the rank's data, or is their sender's flag, one for each
// block. The half and the block's turn must belong to the memory in which the packets land.
func (l *launch) landed(n *Names, t touch.Touch) (at ops.Loc, flag bool, err error) {
	r, err := n.region(t.At)
	if err != nil {
		return at, false, err
	}
	at = ops.Loc{Rank: r.Rank, Buffer: r.Name, Offset: int64(t.At - r.Base)}
	switch {
	case t.Turn == 0 && r.Flags == "":
		return at, false, nil
	case t.Turn == 0 || r.Flags == "" || t.Packets != (r.Words == 0):
		return at, false, fmt.Errorf("it uses %s, and takes it for packets or does not where they land", at)
	case at.Offset >= r.Half:
		return at, false, fmt.Errorf("it uses %s, which is not in the first half", at)
	}
	own, err := n.loc(t.Turn)
	if err != nil {
		return at, false, err
	}
	if want := 2*r.Half + 4*int64(t.Block-1); own.Buffer != r.Name || own.Rank != n.Rank || own.Offset != want ||
		t.Half != r.Half {
		return at, false, fmt.Errorf("it takes turns by %s and halves of %d bytes", own, t.Half)
	}
	sender, within := at.Offset/r.Part, at.Offset%r.Part
	plain := r.Words > 0
	if flag = t.Flag || plain && within >= r.Words; flag {
		if plain && within != r.Words+4*int64(t.Block-1) {
			return at, false, fmt.Errorf("it uses %s, which is not its block's word", at)
		}
		ranks := r.Half / r.Part
		return ops.Loc{Rank: r.Rank, Buffer: r.Flags, Offset: 4 * (int64(t.Block-1)*ranks + sender)}, true, nil
	}
	at.Offset = sender*r.Data + within
	return at, false, nil
}
