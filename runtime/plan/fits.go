package plan

import (
	"errors"
	"fmt"

	"ovgen/runtime/driver"
	"ovgen/runtime/fabric"
	"ovgen/runtime/group"
)

// runs returns the reason why a program's kernels can't run on a device, or nil.
func (p *Program) runs(on driver.Properties) error {
	if p.Code == nil {
		return nil
	}
	have := 10*on.Major + on.Minor
	for _, k := range p.Code.Kernels {
		switch {
		case k.Only != 0 && k.Only != have, k.From > have:
			return &CapabilityError{p.Name, k.Name, max(k.Only, k.From), have, k.Only == 0}
		case on.Multiprocessors < k.Multiprocessors:
			return &BlocksError{Program: p.Name, Blocks: k.Multiprocessors, Have: on.Multiprocessors}
		}
	}
	return nil
}

// Suits returns the reason why a program can't run on the device and the group's links, or nil. Ranks of equal devices
// get the same answer. reaches says that the program uses peers' memory.
func Suits(g *group.Group, prog *Program, reaches bool) error {
	if err := prog.runs(g.Driver().Properties()); err != nil {
		return err
	}
	if n := g.Hosts(); n > 1 && !prog.Hosts {
		return &HostsError{Program: prog.Name, Hosts: n}
	}
	if g.Apart() && reaches && (!prog.Ring || !g.Ring()) {
		return &ApartError{Program: prog.Name, Ring: g.Ring()}
	}
	if !prog.Puts {
		return nil
	}
	links, n := g.Fabric(), g.Size()
	for a := range n {
		for b := range a {
			near := a-b == 1 || a-b == n-1
			if l := links.Pair(a, b); l != fabric.Network && !l.Fast() && (near || !prog.Ring) {
				return &LinkError{Program: prog.Name, Ranks: [2]int{b, a}}
			}
		}
	}
	return nil
}

// Reaches reports whether a plan with this need uses peers' memory: it signals, or peers use a buffer that the caller
// binds. A plan by NCCL alone does neither.
func (m Memory) Reaches() bool {
	for _, b := range m.Buffers {
		if b.Shared {
			return true
		}
	}
	return m.Words+m.Packets > 0
}

// stage takes memory for buffers of the given sizes and returns the offset of each buffer, in the arena or from
// p.staging on. Buffers that only collectives use are staged in symmetric memory where the group has enough of it left.
func (p *Plan) stage(sizes []int64) ([]int64, error) {
	if p.collective && !p.reaches() && p.group.SymmetricBytes() > 0 {
		offsets, total := apart(sizes)
		if total > 0 {
			p.staging = p.group.StageSymmetric(total)
		}
		if p.inWindow = p.staging != 0; p.inWindow {
			return offsets, nil
		}
	}
	offsets, err := p.group.Arena().Stage(sizes...)
	if err != nil {
		return p.outside(sizes, err)
	}
	return offsets, nil
}

// apart lays out buffers one behind the other.
func apart(sizes []int64) (offsets []int64, total int64) {
	for _, n := range sizes {
		offsets = append(offsets, total)
		total += group.StagingBytes(n)
	}
	return offsets, total
}

// outside allocates staging outside the arena, where the arena has no room for it, no peer uses it and the group's
// configuration allows the fall-back; else it returns err.
func (p *Plan) outside(sizes []int64, err error) ([]int64, error) {
	if !errors.As(err, new(*group.ArenaError)) || p.reaches() || !p.group.FallsBack() {
		return nil, err
	}
	offsets, total := apart(sizes)
	if p.staging, err = p.driver.MemAlloc(total); err != nil {
		return nil, fmt.Errorf("allocate staging of %d bytes, for which the arena has no room: %w", total, err)
	}
	return offsets, nil
}
