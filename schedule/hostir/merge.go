package hostir

import (
	"fmt"

	"ovgen/schedule"
)

// Merge gives two buffers of the caller one memory, under the outer's name: inner lies at its place in outer. A copy of
// a chunk to itself goes away. The order of the program stays, so a program without races may have one afterwards.
func (p *Program) Merge(inner, outer string) error {
	in, ok := p.Buffer(inner)
	to, found := p.Buffer(outer)
	if !ok || !found || in.Owner != Caller || to.Owner != Caller || !in.Counts.Equal(to.Counts) {
		return fmt.Errorf("merge %s into %s: both must be buffers of the caller with chunks alike", inner, outer)
	}
	place, ok := in.Tensor.PlaceWithin(to.Tensor)
	if !ok {
		return fmt.Errorf("merge %s into %s: the placements give it no place", inner, outer)
	}
	part := place == schedule.PartOf
	var err error
	body := Rewrite(p.Body, Parts{View: func(_ string, v View) View {
		if v.Buffer != inner {
			return v
		}
		if !part && (v.Index.IsZero() || in.Chunk.Equal(to.Chunk)) {
			v.Buffer = outer
			return v
		}
		if !part || !v.Index.IsZero() || !in.Elements.Equal(to.Chunk) {
			err = fmt.Errorf("merge %s into %s: their parts are of other rows or columns", inner, outer)
		}
		of := Rank
		if !v.Peer.IsZero() {
			of = v.Peer
		}
		return View{Buffer: outer, Index: of, Peer: v.Peer, Each: v.Each}
	}})
	body = MapSteps(body, func(s Step) []Node {
		if x, copies := s.Do.(Copy); copies && !s.Fused() && x.To.equal(x.From) {
			return nil
		}
		return []Node{s}
	})
	if err != nil {
		return err
	}
	p.Body = body
	var buffers []Buffer
	for _, b := range p.Buffers {
		switch b.Name {
		case inner:
			continue
		case outer:
			b.Shared = b.Shared || in.Shared
			b.Inner = Inner{in.Tensor, part}
		}
		buffers = append(buffers, b)
	}
	p.Buffers = buffers
	return nil
}

// equal reports whether two views are of the same chunks.
func (v View) equal(o View) bool {
	return v.Buffer == o.Buffer && v.Padded == o.Padded && v.Columns == o.Columns &&
		v.Index.Equal(o.Index) && v.Count.Equal(o.Count) && v.Peer.Equal(o.Peer)
}
