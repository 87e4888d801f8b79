package memory

import (
	"fmt"
	"math"

	"ovgen/runtime/group"
	"ovgen/runtime/plan"
	"ovgen/runtime/samebits"
	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// Of is the memory that a plan of p needs for a case: each amount on the rank that needs the most of it. The rank of c
// does not matter.
func Of(p *hostir.Program, c ops.Case) (most plan.Memory, err error) {
	for c.Rank = range c.Ranks {
		m, err := onRank(p, c)
		if err != nil {
			return plan.Memory{}, fmt.Errorf("measure %s: %w", p.Name, err)
		}
		if c.Rank == 0 {
			most = m
		}
		most.Cover(m)
	}
	return most, nil
}

// onRank is the memory that rank c.Rank needs.
func onRank(p *hostir.Program, c ops.Case) (m plan.Memory, err error) {
	if p.OverHosts() { // no other number of hosts takes more
		c.Hosts = c.Ranks
	}
	env := c.Env(p)
	for _, b := range p.Buffers {
		elements, err := b.Elements.Eval(env)
		if err != nil {
			return m, fmt.Errorf("buffer %s: %w", b.Name, err)
		}
		bytes, err := b.Bytes(elements, c.ElementBits)
		if err != nil {
			return m, fmt.Errorf("buffer %s: %w", b.Name, err)
		}
		if b.Lands.Flags != "" {
			m.Packets += plan.PacketBytes(bytes, c.Ranks, b.Lands.Words)
		} else if b.Owner == hostir.Plan {
			m.Staging += group.StagingBytes(bytes)
		} else {
			m.Buffers = append(m.Buffers, plan.BufferMemory{Name: b.Name, Bytes: bytes, Shared: b.Shared})
		}
	}
	byBlocks, landings := p.BlockSemaphores(), p.Landings()
	for _, s := range p.Semaphores {
		if _, flags := landings[s.Name]; flags {
			continue
		}
		count := int64(1)
		if byBlocks[s.Name] {
			count = plan.MostBlocks
		}
		if !s.Count.IsZero() {
			if count, err = s.Count.Eval(env); err != nil {
				return m, fmt.Errorf("semaphore %s: %w", s.Name, err)
			}
		}
		m.Words += count * int64(c.Ranks)
	}
	list, err := ops.Unroll(p, c)
	if err != nil {
		return m, err
	}
	multiplies := map[string]bool{}
	var tried [2]int64 // the most bytes that a collective sends, and receives
	for _, o := range list {
		if o.Kind == ops.Collective {
			tried[0], tried[1] = max(tried[0], o.Source().Bytes, 1), max(tried[1], o.Result().Bytes, 1)
		}
		if o.Kind == ops.Product && o.Kernel == "" { // the library of products makes it
			multiplies[o.Stream] = true
			m.Tuning = max(m.Tuning, tuning(o, c.ElementBits))
		} else if o.Kind == ops.Product && o.InOrder { // by tiles, which New compares; few rows are not InOrder
			_, k, n := shape(o, c.ElementBits)
			m.Tuning = max(m.Tuning, samebits.Bytes(k, n))
		}
	}
	m.Workspaces = len(multiplies)
	if tried[0] > 0 {
		m.Tuning = max(m.Tuning, plan.RehearsalBytes(tried[0], tried[1]))
	}
	return m, nil
}

// tuning is the memory that New allocates while it tunes a product.
func tuning(o ops.Op, bits int64) int64 {
	m, k, n := shape(o, bits)
	return plan.TuningBytes(plan.RowsTried(m, o.InOrder), k, n, bits/8, bits/8)
}

// shape is the number of a product's rows, its depth, and the number of its columns.
func shape(o ops.Op, bits int64) (m, k, n int64) {
	rows, depth, columns := o.Shape(bits)
	return int64(math.Round(rows)), int64(math.Round(depth)), int64(math.Round(columns))
}
