package prove

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// Unroll is the model and the operations of all ranks for a mesh size, at a small
// shape. It refuses, with a *Counterexample of Shapes, a program of which a proof at
// one shape would not be a proof at all.
func Unroll(p *hostir.Program, d int) (Model, [][]ops.Op, error) {
	if d < 1 {
		return Model{}, nil, fmt.Errorf("prove %s: %d ranks", p.Name, d)
	}
	small, large := shape(p, d, 2, 3, 5, 2), shape(p, d, 3, 7, 4, 4)
	if wrong := dependsOnShape(p); wrong != "" {
		return Model{}, nil, notAll(p, d, wrong)
	}
	m, lists, err := at(p, small)
	if err != nil {
		return Model{}, nil, err
	}
	_, other, err := at(p, large)
	if err != nil {
		return Model{}, nil, err
	}
	a, err := units(p, small, lists)
	if err != nil {
		return Model{}, nil, notAll(p, d, err.Error())
	}
	b, err := units(p, large, other)
	if err != nil {
		return Model{}, nil, notAll(p, d, err.Error())
	}
	for r := range a {
		for i := range min(len(a[r]), len(b[r])) {
			if a[r][i] != b[r][i] {
				return Model{}, nil, notAll(p, d, fmt.Sprintf("rank %d: %s at one shape, %s at another", r, a[r][i], b[r][i]))
			}
		}
		if len(a[r]) != len(b[r]) {
			return Model{}, nil, notAll(p, d, fmt.Sprintf("rank %d has %d operations at one shape and %d at another", r, len(a[r]), len(b[r])))
		}
	}
	return m, lists, nil
}

// shape is a shape that New accepts, with about that many rows a rank.
func shape(p *hostir.Program, d int, rows, k, n, size int64) ops.Case {
	c := ops.Case{Ranks: d, M: rows, K: k, N: n, ElementSize: size}
	for _, check := range p.Checks {
		by, err := strconv.ParseInt(string(check.By), 10, 64)
		if err != nil {
			by = int64(d)
		}
		switch check.Extent {
		case "M":
			c.M *= by
		case "K":
			c.K *= by
		case "N":
			c.N *= by
		}
	}
	return c
}

func at(p *hostir.Program, c ops.Case) (Model, [][]ops.Op, error) {
	m, err := Of(p, c)
	if err != nil {
		return Model{}, nil, err
	}
	lists := make([][]ops.Op, c.Ranks)
	for r := range lists {
		c.Rank = r
		if lists[r], err = ops.Unroll(p, c); err != nil {
			return Model{}, nil, err
		}
	}
	return m, lists, nil
}

func notAll(p *hostir.Program, d int, problem string) *Counterexample {
	return &Counterexample{Program: p.Name, Ranks: d, Property: Shapes, Problem: problem,
		Suggestion: "let indices, bounds, peers and branches depend on r, D and loop indices only, and slices be whole chunks"}
}

// units prints lists with offsets and sizes counted in each buffer's chunks.
func units(p *hostir.Program, c ops.Case, lists [][]ops.Op) ([][]string, error) {
	env := hostir.Env{"D": int64(c.Ranks), "M": c.M, "K": c.K, "N": c.N}
	maps.Copy(env, p.Constants)
	chunk := map[string]int64{}
	for _, b := range p.Buffers {
		n, err := b.Chunk.Eval(env)
		if err != nil || n <= 0 {
			return nil, fmt.Errorf("buffer %s has chunks of %d elements: %w", b.Name, n, err)
		}
		chunk[b.Name] = n * c.ElementSize
	}
	lines := make([][]string, len(lists))
	for r, list := range lists {
		for _, o := range list {
			o.Uses = slices.Clone(o.Uses)
			for i, u := range o.Uses {
				n, ok := chunk[u.At.Buffer]
				if !ok {
					continue
				}
				if u.At.Offset%n != 0 || u.Bytes%n != 0 {
					return nil, fmt.Errorf("%s: not whole chunks of %d bytes", u, n)
				}
				o.Uses[i].At.Offset, o.Uses[i].Bytes = u.At.Offset/n, u.Bytes/n
			}
			lines[r] = append(lines[r], o.String())
		}
	}
	return lines, nil
}

// dependsOnShape names an expression of the body that mentions an extent.
func dependsOnShape(p *hostir.Program) (wrong string) {
	see := func(what string, list ...hostir.Expr) {
		for _, e := range list {
			e.Vars(func(v string) {
				if wrong == "" && (v == "M" || v == "K" || v == "N") {
					wrong = fmt.Sprintf("%s %s depends on %s", what, e, v)
				}
			})
		}
	}
	views := func(list ...hostir.View) {
		for _, v := range list {
			see("the index of "+v.Buffer, v.Index)
			see("the peer of "+v.Buffer, v.Peer)
		}
	}
	hostir.Walk(p.Body, func(n hostir.Node) {
		for _, s := range hostir.Streams(n) {
			see("stream "+s.Set, s.Index, s.From, s.To)
		}
		for _, e := range hostir.Expand(n) {
			switch e := e.(type) {
			case hostir.For:
				see("the bound of "+e.Index, e.From, e.To)
			case hostir.Let:
				see(e.Name+" =", e.Value)
			case hostir.If:
				see("the branch on", e.X, e.Y)
			case hostir.Post:
				see("the peer of "+e.Semaphore, e.Peer)
			case hostir.Wait:
				see("the peer of "+e.Semaphore, e.Peer)
			case hostir.Set:
				views(e.Dst, e.Src)
			case hostir.Matmul:
				views(e.C, e.A, e.B)
			case hostir.Linear:
				views(e.C, e.A, e.B, e.Bias)
			}
		}
	})
	return wrong
}
