package prove

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// Dot writes the nodes of one run of a program on d ranks, and their order, as a graphviz
// graph: a cluster for each rank, a column for each stream, events dashed, edges from posts
// to waits in red.
func Dot(w io.Writer, p *hostir.Program, d int) error {
	m, lists, err := Unroll(p, d)
	if err != nil {
		return err
	}
	x := &proof{graph: build(m, lists, 1, false)}
	x.observed = x.follow()
	for _, seen := range x.seen {
		for i, n := range seen {
			if i > 0 && x.isWait(n) && x.isPost(seen[i-1]) {
				x.match[n] = seen[i-1]
			}
		}
	}
	x.pair()
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "digraph %q {\n  label=%q; rankdir=TB; node [shape=box, fontname=monospace, fontsize=10];\n",
		p.Name, fmt.Sprintf("%s, D = %d: what happens before what in a run", p.Name, d))
	for r, list := range lists {
		fmt.Fprintf(out, "  subgraph cluster_%d {\n    label=\"rank %d\";\n", r, r)
		for i, o := range list {
			fmt.Fprintf(out, "    %s [label=%q, group=%q%s];\n", dotName(r, i), x.dotLabel(&o),
				fmt.Sprint(r, o.Stream), dotStyle(o.Kind))
		}
		out.WriteString("  }\n")
	}
	x.dotEdges(out)
	out.WriteString("}\n")
	return out.Flush()
}

func dotName(rank, op int) string { return fmt.Sprintf("r%d_%d", rank, op) }

// dotEdges writes each edge between two operations once.
func (p *proof) dotEdges(out io.Writer) {
	drawn := map[string]bool{}
	for n, x := range p.nodes {
		for _, b := range p.before(int32(n)) {
			y := p.nodes[b]
			if x.kind >= caller || y.kind >= caller || x.rank == y.rank && x.op == y.op {
				continue
			}
			edge := dotName(int(y.rank), int(y.op)) + " -> " + dotName(int(x.rank), int(x.op))
			switch {
			case b == p.match[n]:
				edge += " [color=red, constraint=false]"
			case p.operation(int32(n)).Stream != p.operation(b).Stream:
				edge += " [style=dashed]"
			}
			if !drawn[edge] {
				drawn[edge] = true
				fmt.Fprintf(out, "  %s;\n", edge)
			}
		}
	}
}

// dotLabel is a few lines: stream and step, then the operation.
func (p *proof) dotLabel(o *ops.Op) string {
	lines := []string{o.Stream}
	if o.Step > 0 {
		lines[0] += fmt.Sprintf(" %d", o.Step)
	}
	if o.Kind != ops.Signal {
		return lines[0] + "\n" + strings.ReplaceAll(opText(o), " -> ", "\n-> ")
	}
	for _, w := range o.Words {
		switch {
		case ops.OfStream(w.At), w.Write && w.Value == 0:
		case w.Write:
			lines = append(lines, "post "+p.wordName(w.At))
		default:
			lines = append(lines, "wait "+p.wordName(w.At))
		}
	}
	return strings.Join(lines, "\n")
}

func dotStyle(k ops.Kind) string {
	switch k {
	case ops.Copy, ops.Collective:
		return ", style=filled, fillcolor=lightblue"
	case ops.Product:
		return ", style=filled, fillcolor=palegreen"
	case ops.Sum, ops.Apply, ops.Call, ops.Take:
		return ", style=filled, fillcolor=khaki"
	case ops.Signal:
		return ", style=filled, fillcolor=mistyrose"
	}
	return ", color=gray"
}
