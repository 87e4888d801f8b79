package mutate

import (
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// spread leaves each result of a kernel that spreads results with its owner, and leaves out the last function of rows.
func spread(n hostir.Step, x hostir.PacketSpread, add adder) {
	sum, gathers := x.Steps(n)
	without := func(dropped int) hostir.Step {
		c, rest := n, x
		rest.Spread = nil
		c.Pre = slices.Clone(sum.Pre)
		for i, g := range gathers {
			if i != dropped {
				c.Pre, rest.Spread = append(c.Pre, g.Pre...), append(rest.Spread, x.Spread[i])
			}
		}
		c.Do = rest
		return c
	}
	for i, g := range x.Spread {
		if len(x.Spread) > 1 {
			add("drop a spread", "of "+g.To.String(), without(i))
		}
	}
	if last := len(x.Spread) - 1; last > 0 {
		add("drop a function", x.Sum.Then.Word, hostir.Changed(without(last), func(x *hostir.PacketSpread) {
			if n := len(x.Sum.Then.Then); n > 0 {
				x.Sum.Then.Then = x.Sum.Then.Then[:n-1]
			} else {
				x.Sum.Then = hostir.Apply{}
			}
		}))
	}
}

// rows leaves each result of a kernel that makes rows with the rank that made it, and leaves out its formulas.
func rows(n hostir.Step, x hostir.PacketRows, add adder) {
	steps := x.Steps(n)
	for i, g := range x.Spread {
		c, rest := n, x
		rest.Spread = slices.Delete(slices.Clone(x.Spread), i, i+1)
		c.Pre = nil
		for k, s := range steps {
			if k != i {
				c.Pre = append(c.Pre, s.Pre...)
			}
		}
		if c.Do = rest; len(rest.Spread) > 0 {
			add("drop a spread", "of "+g.To.String(), c)
		}
	}
	if len(x.Then.Makes) > 0 {
		add("drop a function", x.Then.Word, hostir.Changed(n, func(x *hostir.PacketRows) { x.Then = hostir.Apply{} }))
	}
	made, _ := hostir.Applied(x)
	if last := len(made.Makes) - 1; last > 0 {
		add("drop a function", made.Word, hostir.Changed(n, func(x *hostir.PacketRows) {
			x.Make.Makes = made.Makes[:last]
			x.Make.Operands = made.Operands[:len(schedule.Operands(x.Make.Nodes()))]
		}))
	}
}

// packets adds mistakes of kernels that send packets, on every rank: they read memory that no packet has announced.
func (m *maker) packets() {
	m.landed("without packets", "a peer's memory for what it sent", func(l landed) ops.Loc { return l.sent })
	m.landed("another rank's packets", "where they land at a third rank", func(l landed) ops.Loc {
		third := l.At
		for third.Rank == l.At.Rank || third.Rank == l.from {
			if third.Rank = (third.Rank + 1) % l.ranks; third.Rank == l.At.Rank {
				return third // there is none
			}
		}
		return third
	})
	m.add("packets twice", "a second launch takes them in the same run", func(d int) ([][]ops.Op, error) {
		lists := make([][]ops.Op, d)
		for r, list := range m.right[d] {
			for i, o := range list {
				lists[r] = append(lists[r], o)
				if o.Kind != ops.Take {
					continue
				}
				for _, again := range list[:i+1] {
					if again.Step == o.Step && (again.Kind == ops.Take || reads(again, o)) {
						again.Step += len(list) + i // of no other launch
						lists[r] = append(lists[r], again)
					}
				}
			}
		}
		return lists, nil
	})
}

// landed is a place in which packets of a rank land, and the place from which that rank sent them.
type landed struct {
	ops.Use
	sent  ops.Loc
	from  int
	ranks int
}

// landed makes kernels of packets read another place than the place where packets landed.
func (m *maker) landed(kind, what string, place func(landed) ops.Loc) {
	m.add(kind, what, func(d int) ([][]ops.Op, error) {
		sent := map[ops.Loc]ops.Loc{}
		for _, list := range m.right[d] {
			for _, o := range list {
				if hostir.Takes(o.Kernel) && o.Kind == ops.Copy {
					sent[o.Result().At] = o.Source().At
				}
			}
		}
		lists := make([][]ops.Op, d)
		for r, list := range m.right[d] {
			lists[r] = slices.Clone(list)
			for i, o := range list {
				if !hostir.Takes(o.Kernel) {
					continue
				}
				lists[r][i].Uses = slices.Clone(o.Uses)
				for j, u := range o.Uses {
					if at, lands := sent[u.At]; lands && !u.Write {
						lists[r][i].Uses[j].At = place(landed{u, at, at.Rank, d})
					}
				}
			}
		}
		return lists, nil
	})
}

// reads reports whether an operation reads packets that another one takes.
func reads(o, take ops.Op) bool {
	return slices.ContainsFunc(o.Uses, func(u ops.Use) bool {
		return !u.Write && slices.ContainsFunc(take.Uses, func(t ops.Use) bool { return t.At == u.At })
	})
}
