package explore

import (
	"fmt"

	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// Shape is what a program is unrolled for.
type Shape struct {
	Ranks       int
	M, K, N     int64
	ElementSize int64
}

// Of is the system of an all-gather program: each rank's C is made of every rank's A
// and its own B and Bias. Lists of nil are unrolled from the program.
func Of(p *hostir.Program, shape Shape, lists [][]ops.Op, modes ...Mode) (System, error) {
	s := System{Ranks: lists, Modes: modes}
	if lists == nil {
		for r := range shape.Ranks {
			list, err := ops.Unroll(p, ops.Case{Ranks: shape.Ranks, Rank: r, M: shape.M, K: shape.K, N: shape.N, ElementSize: shape.ElementSize})
			if err != nil {
				return System{}, err
			}
			s.Ranks = append(s.Ranks, list)
		}
	}
	sizes := map[string]int64{}
	for r := range shape.Ranks {
		env := hostir.Env{"r": int64(r), "D": int64(shape.Ranks), "M": shape.M, "K": shape.K, "N": shape.N}
		for _, b := range p.Buffers {
			n, err := b.Elements.Eval(env)
			if err != nil {
				return System{}, fmt.Errorf("size %s: %w", b.Name, err)
			}
			sizes[b.Name] = n * shape.ElementSize
			plan := b.Owner == hostir.Plan
			s.Memory = append(s.Memory, Buffer{Plan: plan, Input: !plan && b.Name != "C",
				Use: ops.Use{At: ops.Loc{Rank: r, Buffer: b.Name}, Bytes: sizes[b.Name]}})
		}
	}
	s.Results = gathered(shape.Ranks, sizes)
	return s, nil
}

// gathered are the results of an all-gather of A: chunk j of C is made of rank j's A.
func gathered(ranks int, sizes map[string]int64) []Result {
	var list []Result
	chunk := sizes["C"] / int64(ranks)
	for r := range ranks {
		for j := range ranks {
			res := Result{At: ops.Use{At: ops.Loc{Rank: r, Buffer: "C", Offset: int64(j) * chunk}, Bytes: chunk}}
			for _, name := range []string{"A", "B", "Bias"} {
				at := ops.Loc{Rank: r, Buffer: name}
				if name == "A" {
					at.Rank = j
				}
				if sizes[name] > 0 {
					res.From = append(res.From, ops.Use{At: at, Bytes: sizes[name]})
				}
			}
			list = append(list, res)
		}
	}
	return list
}
