package record

import (
	"errors"
	"fmt"
	"slices"

	"ovgen/runtime/driver"
	"ovgen/verify/ops"
	"ovgen/verify/touch"
)

// phases are the operations of one launch, filled in the order of its touches.
type phases struct {
	names              *Names
	kind               kind
	finishes           bool // its sum ends with formulas
	opens, work, posts ops.Op
	opening, closing   wait // before the work and after it
	worked             bool // the work has begun
}

// take adds one touch.
func (p *phases) take(t touch.Touch) error {
	if t.Bytes == 0 { // part of the work on no bytes: its address may be 0
		p.worked = true
		return nil
	}
	at, err := p.names.loc(t.At)
	if err != nil {
		return err
	}
	if ops.IsCount(at) {
		return p.count(t, at)
	}
	if to := p.words(t, at); to != nil {
		return p.names.word(to, t.At, t.Value, t.Kind != touch.Wait)
	}
	typ := p.names.Type
	switch {
	case p.kind.widens && t.Kind == touch.Write:
		typ = driver.FP32
	case (p.kind.function || p.finishes && t.Kind == touch.Read || p.kind.product && len(p.work.Writes()) > 0) &&
		own(t.Type):
		typ = t.Type
	}
	if p.kind.sum && p.scaledTerm(t) {
		typ = t.Type
	}
	switch next := p.work.Next(); {
	case p.kind.narrow && next.B:
		typ = driver.E4M3
	case p.kind.narrow && next.ScaleB:
		typ = driver.FP32
	}
	if (p.kind.sum || p.kind.function || p.kind.product) && t.Type != typ {
		made := "sum"
		if p.kind.product {
			made = "product"
		}
		if p.kind.function {
			made = "function"
		}
		return fmt.Errorf("a %s of %s in a plan of %s", made, t.Type, p.names.Type)
	}
	p.work.Uses = append(p.work.Uses, ops.Use{Write: t.Kind == touch.Write, At: at, Bytes: t.Bytes})
	p.worked = true
	return nil
}

// scaledTerm reports whether the next read of a sum is a term of eight bits, which it counts, or the scales of a term.
// Then it notes the elements of the term for each scale.
func (p *phases) scaledTerm(t touch.Touch) bool {
	o, at := &p.work, len(p.work.Uses)
	switch {
	case t.Kind == touch.Read && t.Type.Valid() && t.Type.Saturates() && at == o.ScaledTerms:
		o.ScaledTerms++
	case t.Kind == touch.Read && o.ScaledTerms <= at && at < 2*o.ScaledTerms && t.Type == driver.FP32:
		o.Scaled = o.Source().Bytes / max(t.Bytes/driver.FP32.Size(), 1)
	default:
		return false
	}
	return true
}

// own reports whether functions read or make elements of this type in plans of every type.
func own(typ driver.Type) bool { return typ == driver.FP32 || typ.Valid() && typ.Saturates() }

// count notes the word in which the kernel counts its blocks until the work is done.
func (p *phases) count(t touch.Touch, at ops.Loc) error {
	if was := p.opens.Count; was.Buffer != "" && was != at || t.Kind != touch.Write {
		return fmt.Errorf("it counts its blocks in %s and in %s", was, at)
	}
	p.opens.Count, p.work.Count = at, at
	return nil
}

// words is the operation to whose words a touch belongs; nil where the touch is part of the work.
func (p *phases) words(t touch.Touch, at ops.Loc) *ops.Op {
	post, waits := &p.opens, &p.opening
	if p.worked {
		post, waits = &p.posts, &p.closing
	}
	switch {
	case t.Kind == touch.Wait:
		return &waits.words
	case t.Kind == touch.Post:
		return post
	case ops.IsStep(at) && len(p.closing.words.Words) > 0:
		return &p.closing.notes
	case ops.IsStep(at):
		return &p.opening.notes
	case t.Kind == touch.Write && p.closing.awaits(at):
		return &p.closing.resets
	case t.Kind == touch.Write && p.opening.awaits(at):
		return &p.opening.resets
	}
	return nil
}

// list lists the phases that do anything, made from the plain operation o.
func (p *phases) list(o ops.Op) (list []ops.Op, err error) {
	before, after := o, o
	var errs [2]error
	before.Count = p.opens.Count
	before.Words, errs[0] = p.opening.list()
	after.Words, errs[1] = p.closing.list()
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	if !p.worked {
		p.opens.Words = append(p.opens.Words, before.Words...)
		return []ops.Op{p.opens}, nil
	}
	parts := []ops.Op{p.opens, before, p.work, p.posts, after}
	if p.kind.gathers {
		parts = slices.Concat(parts[:2], p.work.Copies(), parts[3:])
	}
	for _, part := range parts {
		if part.Kind != ops.Signal || len(part.Words) > 0 {
			list = append(list, part)
		}
	}
	return list, nil
}

// wait is one of a kernel's waits: the words that it awaits, their resets, and the writes of step words.
type wait struct{ words, resets, notes ops.Op }

// awaits reports whether the wait is for the word at that place.
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
