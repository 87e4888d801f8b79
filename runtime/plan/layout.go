package plan

import (
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
)

// Region is memory of a plan on one rank, as mapped here.
type Region struct {
	Name  string // the buffer, the semaphore, step[STREAM], count[STREAM] or workspace[STREAM]
	Rank  int
	Base  driver.Ptr
	Bytes int64
}

// Layout lists all memory that a run of the bound plan uses, for whoever records
// or draws a run.
func (p *Plan) Layout() []Region {
	var list []Region
	for _, buffers := range [][]*Buffer{p.bindable, p.staged} {
		for _, b := range buffers {
			for r, at := range b.at {
				if at != 0 && b.present(r) {
					list = append(list, Region{b.name, r, at, b.size(r)})
				}
			}
		}
	}
	for _, s := range p.semaphores {
		for r, at := range s.base {
			if at == 0 { // of another host
				continue
			}
			list = append(list, Region{s.name, r, at, 4 * int64(s.words(p.Size()))})
		}
	}
	for _, s := range p.streams {
		list = append(list, Region{"step[" + s.String() + "]", p.Rank(), s.step, 4},
			Region{"count[" + s.String() + "]", p.Rank(), group.CountWord(s.step), 4})
		if s.workspace != 0 {
			list = append(list, Region{"workspace[" + s.String() + "]", p.Rank(), s.workspace, driver.WorkspaceBytes})
		}
	}
	return list
}

// Streams are the handles of the plan's own streams by name; main is the one that
// Run uses.
func (p *Plan) Streams() map[driver.Stream]string {
	names := map[driver.Stream]string{}
	for _, s := range p.streams {
		names[s.own] = s.String()
	}
	return names
}

// Side is the group's own stream (see group.Group.Side).
func (p *Plan) Side() driver.Stream { return p.group.Side() }
