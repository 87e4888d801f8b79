package hostir

import (
	"regexp"

	"ovgen/schedule"
)

// Rename gives buffers other names, in every place and in the remarks.
func (p *Program) Rename(names map[string]string) {
	r := renaming(names)
	for i := range p.Buffers {
		b := &p.Buffers[i]
		b.Name, b.Tensor, b.Inner.Tensor = r.name(b.Name), r.tensor(b.Tensor), r.tensor(b.Inner.Tensor)
	}
	p.Setup, p.Body = Map(p.Setup, r.rewrite), Map(p.Body, r.rewrite)
}

// renaming maps old names to new ones.
type renaming map[string]string

func (r renaming) name(old string) string {
	if n, ok := r[old]; ok {
		return n
	}
	return old
}

func (r renaming) tensor(t schedule.Tensor) schedule.Tensor {
	t.Name, t.Within = r.name(t.Name), r.name(t.Within)
	return t
}

// word matches a name in a remark.
var word = regexp.MustCompile(`[A-Za-z][A-Za-z0-9]*`)

func (r renaming) rewrite(n Node) []Node {
	n = n.With(Parts{View: func(_ string, v View) View {
		v.Buffer = r.name(v.Buffer)
		return v
	}})
	switch x := n.(type) {
	case Step:
		x.MoveOf = r.name(x.MoveOf)
		x.Remark = word.ReplaceAllStringFunc(x.Remark, r.name)
		return []Node{x}
	case Share:
		buffers := make([]string, len(x.Buffers))
		for i, b := range x.Buffers {
			buffers[i] = r.name(b)
		}
		x.Buffers = buffers
		return []Node{x}
	}
	return []Node{n}
}
