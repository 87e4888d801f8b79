package prove

import (
	"fmt"
	"slices"

	"ovgen/schedule/hostir"
)

// allocations: New allocates the plan's memory, and the plan keeps it, on purpose, until
// Close has met all ranks; a run allocates and frees nothing. So only memory and words that
// no operation uses can leak.
func (p *proof) allocations() *Counterexample {
	used := map[string]bool{}
	for _, list := range p.lists {
		for _, o := range list {
			for _, u := range o.Uses {
				used[u.At.Buffer] = true
			}
			for _, w := range o.Words {
				used[w.At.Buffer] = true
			}
		}
	}
	if n := len(p.lists); n == 1 || p.model.Hosts == 1 || p.model.Hosts == n {
		return nil // alone, a rank exchanges nothing; nor does a host alone, or a rank alone on its host
	}
	names := append([]string{}, p.model.Semaphores...)
	for _, b := range p.model.Buffers {
		if b.Owner == hostir.Plan && !b.empty() {
			names = append(names, b.Name)
		}
	}
	for _, name := range names {
		if !used[name] {
			return p.against(Allocations, -1, -1, fmt.Sprintf("%s is allocated, and no operation uses it", name),
				"leave it out of the program")
		}
	}
	return nil
}

// empty reports whether the counts leave no rank a byte of the buffer.
func (x *Buffer) empty() bool {
	return len(x.Offsets) > 0 && !slices.ContainsFunc(x.Offsets, func(of []int64) bool { return of[len(of)-1] > 0 })
}
