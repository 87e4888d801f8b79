package lower

import "ovgen/schedule/hostir"

// simplify writes every expression of the program as a person would.
func simplify(p *hostir.Program) error {
	simple := func(_ string, e hostir.Expr) hostir.Expr { return e.Simplify() }
	p.Body = hostir.Rewrite(p.Body, hostir.Parts{Expr: simple})
	for i, b := range p.Buffers {
		b.Elements, b.Chunk = b.Elements.Simplify(), b.Chunk.Simplify()
		b.Counts, b.Room, b.Rows = b.Counts.Simplify(), b.Room.Simplify(), b.Rows.Simplify()
		p.Buffers[i] = b
	}
	for i, s := range p.Semaphores {
		p.Semaphores[i].Count = s.Count.Simplify()
	}
	for i, s := range p.Streams {
		p.Streams[i].First, p.Streams[i].Count = s.First.Simplify(), s.Count.Simplify()
	}
	return nil
}
