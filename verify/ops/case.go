package ops

import (
	"fmt"
	"maps"
	"strconv"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// Case is the rank, mesh, sizes and type for which a program is unrolled.
type Case struct {
	Ranks int // D
	Rank  int // r
	Hosts int // H, for a program over hosts; 0 means one host
	// Extents of the whole operation by symbol: M, K, N and others.
	Extents hostir.Env
	// Counts of uneven chunks, as Bind takes them; counts of balanced parts follow from the extents.
	Counts      []int64
	ElementBits int64 // bits of an element of the plan's type
}

// Env gives the names in a program's expressions their values on the case's rank.
func (c Case) Env(p *hostir.Program) hostir.Env {
	env := hostir.Env{}.Place(c.Rank, c.Ranks, c.Hosts)
	maps.Copy(env, c.Extents)
	maps.Copy(env, p.Constants)
	return env
}

// At is the case on another rank.
func (c Case) At(rank int) Case {
	c.Rank = rank
	return c
}

// Extent is the value of a symbol, of D, or of a constant.
func (c Case) Extent(e schedule.Extent) (int64, error) {
	if e == schedule.D {
		return int64(c.Ranks), nil
	}
	if n, ok := c.Extents[string(e)]; ok {
		return n, nil
	}
	if of, columns, blocks := e.Blocks(); blocks {
		n, err := c.Extent(of)
		return n / columns, err
	}
	n, err := strconv.ParseInt(string(e), 10, 64)
	if err != nil || n <= 0 {
		return 0, fmt.Errorf("extent %q has no value", e)
	}
	return n, nil
}

// Unroll lists the operations that each rank enqueues for one run of p.
func (c Case) Unroll(p *hostir.Program) ([][]Op, error) {
	lists, malformed := make([][]Op, c.Ranks), hostir.Check(p.Body)
	for r := range lists {
		var err error
		if lists[r], err = unroll(p, c.At(r), malformed); err != nil {
			return nil, err
		}
	}
	return lists, nil
}
