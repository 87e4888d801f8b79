package group

import (
	"fmt"
	"strings"
)

// place is a rank's place among the hosts of a group. Ranks are numbered host by host, as many on each host.
type place struct {
	hosts, each int // hosts of the group, ranks of each
	host, local int // this rank's host, and its number there

	names []string // of the hosts
}

// Hosts is the number of hosts that the group's ranks are on.
func (g *Group) Hosts() int { return g.place.hosts }

// PerHost is the number of ranks of each host.
func (g *Group) PerHost() int { return g.place.each }

// Host is the number of this rank's host, from 0.
func (g *Group) Host() int { return g.place.host }

// Local is the number of this rank on its host, from 0.
func (g *Group) Local() int { return g.place.local }

// beside reports whether a rank is on this rank's host.
func (g *Group) beside(rank int) bool { return rank/g.place.each == g.place.host }

// rail describes this rank's communicator: its first rank in the group, how many ranks it has, and this rank's number
// in it. On one host it has all ranks. On several it has one rank of each, all with the same number on their hosts.
func (g *Group) rail() (first, ranks, rank int) {
	if g.place.hosts == 1 {
		return 0, g.Size(), g.Rank()
	}
	return g.place.local, g.place.hosts, g.place.host
}

// places finds the hosts of the ranks, and the place of one rank.
func places(all []identity, rank int) (place, error) {
	p := place{hosts: 1, each: len(all)}
	first := []int{0} // first rank of each host
	for r := 1; r < len(all); r++ {
		if all[r].Host == all[r-1].Host {
			continue
		}
		for _, f := range first {
			if all[f].Host == all[r].Host {
				return p, &CheckError{"host", []int{f, r}, fmt.Sprintf("ranks %d and %d are on %q, and ranks between "+
					"them on another host (number the ranks host by host)", f, r, all[r].Host)}
			}
		}
		first = append(first, r)
	}
	for i, f := range first {
		end := len(all)
		if i+1 < len(first) {
			end = first[i+1]
		}
		if i == 0 {
			p.each = end
		}
		if end-f != p.each {
			return p, &CheckError{"host", []int{0, f}, fmt.Sprintf("%q has %d ranks, %q has %d "+
				"(start as many on each host)", all[0].Host, p.each, all[f].Host, end-f)}
		}
	}
	p.hosts = len(first)
	p.host, p.local = rank/p.each, rank%p.each
	for _, f := range first {
		_, name, _ := strings.Cut(all[f].Host, " ") // the name follows the boot id
		p.names = append(p.names, name)
	}
	return p, nil
}
