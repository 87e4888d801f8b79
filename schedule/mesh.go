package schedule

import "fmt"

// MeshAxis is a direction of the mesh of ranks.
type MeshAxis struct {
	Name SplitKind // as placements have it: DeviceX or DeviceY
	Link Link      // what joins the ranks along it
}

// Link is the kind of link that joins ranks.
type Link string

// Links.
const (
	NVLink  Link = "nvlink"  // each rank reaches the memory of the others
	Network Link = "network" // ranks of different hosts
)

// checkMesh refuses a list of axes that is no mesh, and the axis of hosts, which nothing
// lowers yet.
func (s Schedule) checkMesh(v *validation) {
	for i, a := range s.Mesh {
		path := fmt.Sprintf("Mesh[%d]", i)
		oneOf(v, path+".Link", a.Link, NVLink, Network)
		switch {
		case a.Name == DeviceY:
			v.add(path+".Name", "leave it out: the mesh is DIDx, the ranks of one host",
				"no pass lowers an axis of hosts")
		case a.Name != DeviceX:
			v.add(path+".Name", "use schedule.DeviceX", "unknown axis %q of the mesh", a.Name)
		case i > 0:
			v.add(path+".Name", "leave it out", "the mesh has the axis %s already", a.Name)
		case a.Link == Network:
			v.add(path+".Link", "leave it out, or use schedule.NVLink", "no pass lowers ranks that a network joins")
		}
	}
}
