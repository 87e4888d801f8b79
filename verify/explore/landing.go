package explore

import (
	"slices"

	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// Turn is memory that runs use in turn: run n has place n modulo Halves of as many places, each of so many bytes. It
// belongs to the plan alone: nothing is written there between runs, and peers may write there outside of the owner's.
type Turn struct {
	Halves int
	Bytes  int64
}

// turns adds the buffers that packets land in, and the words of their flags, and enough runs for each place to be used
// twice.
func (s *System) turns(p *hostir.Program, shape Shape) error {
	asked := len(s.Modes)
	for flags, b := range p.Landings() {
		n, err := b.Elements.Eval(shape.env(p, 0))
		if err != nil {
			return err
		}
		if s.Turns == nil {
			s.Turns = map[string]Turn{}
		}
		s.Turns[b.Name] = Turn{b.Lands.Halves, n * shape.ElementSize}
		s.Turns[flags] = Turn{b.Lands.Halves, s.Words[flags]}
		for asked > 0 && len(s.Modes) < b.Lands.Halves+1 {
			s.Modes = append(s.Modes[:len(s.Modes):len(s.Modes)], s.Modes[len(s.Modes)%asked])
		}
	}
	return nil
}

// half is where a run finds something that runs use in turn.
func (s *System) half(at ops.Loc, run int) ops.Loc {
	if t, ok := s.Turns[at.Buffer]; ok {
		at.Offset += int64(run%t.Halves) * t.Bytes
	}
	return at
}

// turned is an operation at the places of a run.
func (s *System) turned(o *ops.Op, run int) *ops.Op {
	if len(s.Turns) == 0 {
		return o
	}
	c := *o
	c.Words, c.Uses = slices.Clone(o.Words), slices.Clone(o.Uses)
	for i := range c.Words {
		c.Words[i].At = s.half(c.Words[i].At, run)
	}
	for i := range c.Uses {
		c.Uses[i].At = s.half(c.Uses[i].At, run)
	}
	return &c
}
