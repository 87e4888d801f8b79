package schedule

import "fmt"

// MeshAxis is a direction of the mesh of ranks.
type MeshAxis struct {
	Name SplitKind // DeviceX, the ranks of a host, or DeviceY, the hosts
	Link Link      // between the ranks along it
}

// Link is the kind of link that joins ranks.
type Link string

// Links.
const (
	NVLink  Link = "nvlink"  // each rank reaches the memory of the others
	Network Link = "network" // ranks of different hosts
)

// Hosts is the mesh of several hosts with equally many ranks each; the ranks are numbered host by host. A placement
// over D, DIDx(D), is over all of them: rank r is the (r % L)-th of the L ranks of host r / L.
func Hosts() []MeshAxis {
	return []MeshAxis{{Name: DeviceY, Link: Network}, {Name: DeviceX, Link: NVLink}}
}

// OverHosts says that the mesh has an axis of hosts: only ranks of one host reach each other's memory.
func (s Schedule) OverHosts() bool {
	for _, a := range s.Mesh {
		if a.Name == DeviceY {
			return true
		}
	}
	return false
}

// HostsOf are the numbers of hosts among which the ranks may be divided evenly: one and, for a mesh of hosts, all
// divisors of the number of ranks.
func (s Schedule) HostsOf(ranks int) []int {
	list := []int{1}
	for h := 2; s.OverHosts() && h <= ranks; h++ {
		if ranks%h == 0 {
			list = append(list, h)
		}
	}
	return list
}

// FewestHosts is the least number of hosts above one, or one.
func (s Schedule) FewestHosts(ranks int) int {
	list := s.HostsOf(ranks)
	return list[min(1, len(list)-1)]
}

// links are the links between the ranks along each axis.
var links = map[SplitKind]Link{DeviceX: NVLink, DeviceY: Network}

// checkMesh refuses a list of axes that is no mesh, and links that no pass lowers.
func (s Schedule) checkMesh(v *validation) {
	seen := map[SplitKind]bool{}
	for i, a := range s.Mesh {
		path := fmt.Sprintf("Mesh[%d]", i)
		oneOf(v, path+".Link", a.Link, NVLink, Network)
		want, known := links[a.Name]
		switch {
		case !known:
			v.add(path+".Name", "use schedule.DeviceX or schedule.DeviceY", "unknown axis %q of the mesh", a.Name)
		case seen[a.Name]:
			v.add(path+".Name", "leave it out", "the mesh has the axis %s already", a.Name)
		case a.Name == DeviceY && i > 0:
			v.add(path+".Name", "use schedule.Hosts()", "the axis of hosts comes first")
		case a.Name == DeviceY && len(s.Mesh) == 1:
			v.add(path+".Name", "use schedule.Hosts()", "the mesh lacks DIDx, the ranks of a host")
		case (a.Link == NVLink || a.Link == Network) && a.Link != want:
			v.add(path+".Link", fmt.Sprintf("leave it out, or use %q", want),
				"no pass lowers an axis %s that %s joins", a.Name, a.Link)
		}
		seen[a.Name] = true
	}
}
