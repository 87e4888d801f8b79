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
	// Flags names the words that are packets' flags, where packets land in the memory. Data is then the bytes of data
	// of each rank, Part the bytes of a rank's packets, and Half the bytes of one of the two halves; the words of
	// blocks follow the halves. Where plain data lands, Words is the offset in each part at which the flags begin, a
	// word for each block.
	Flags                   string
	Data, Part, Half, Words int64
}

// Regions of a plan.
type Regions []Region

// Find returns the region that holds an address.
func (list Regions) Find(at driver.Ptr) (Region, bool) {
	for i := range list {
		if r := &list[i]; at >= r.Base && at < r.Base+driver.Ptr(r.Bytes) {
			return *r, true
		}
	}
	return Region{}, false
}

// Layout lists all memory that a run of the bound plan uses, for code that records or draws a run.
func (p *Plan) Layout() Regions {
	var list Regions
	for _, buffers := range [][]*Buffer{p.bindable, p.staged} {
		for _, b := range buffers {
			for r, at := range b.at {
				if at != 0 && b.present(r) {
					list = append(list, Region{Name: b.name, Rank: r, Base: at, Bytes: b.size(r)})
				}
			}
		}
	}
	for _, s := range p.semaphores {
		for r, at := range s.base {
			if at == 0 { // the rank is on another host
				continue
			}
			list = append(list, Region{Name: s.name, Rank: r, Base: at, Bytes: 4 * int64(s.words(p.Size()))})
		}
	}
	for _, x := range p.packets {
		words := int64(0)
		if x.words {
			words = x.flagsAt(p.Size())
		}
		for r, at := range x.base {
			list = append(list, Region{Name: x.name, Rank: r, Base: at, Bytes: x.size(p.Size()), Flags: x.flags,
				Data: x.bytes / int64(p.Size()), Part: x.part(p.Size()), Half: x.half(p.Size()), Words: words})
		}
	}
	for _, s := range p.streams {
		own := func(name string, at driver.Ptr, bytes int64) {
			list = append(list, Region{Name: name + "[" + s.String() + "]", Rank: p.Rank(), Base: at, Bytes: bytes})
		}
		own("step", s.step, 4)
		own("count", group.CountWord(s.step), 4)
		if s.workspace != 0 {
			own("workspace", s.workspace, driver.WorkspaceBytes)
		}
	}
	return list
}

// Streams are the handles of the plan's pooled streams, with their names; main is the stream that Run uses.
func (p *Plan) Streams() map[driver.Stream]string {
	names := map[driver.Stream]string{}
	for _, s := range p.streams {
		names[s.own] = s.String()
	}
	return names
}

// Side is the group's side stream (see group.Group.Side).
func (p *Plan) Side() driver.Stream { return p.group.Side() }
