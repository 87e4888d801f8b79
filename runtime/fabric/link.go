package fabric

import (
	"errors"
	"fmt"

	"ovgen/runtime/driver"
)

// Link is the connection of one device to another.
type Link string

// Links.
const (
	Self    Link = "-"
	NVLink  Link = "nvlink"  // peer access, and atomic operations; straight to the other device
	Switch  Link = "switch"  // the same through an NVSwitch
	PCIe    Link = "pcie"    // peer access without atomic operations
	None    Link = "none"    // no peer access
	Network Link = "network" // the devices are on different hosts
	Unknown Link = "?"       // CUDA returns an error
)

// order of links, the best first.
var order = map[Link]int{Self: 0, Switch: 1, NVLink: 2, PCIe: 3, None: 4, Network: 5, Unknown: 6}

// Fast reports whether NVLink carries the link.
func (l Link) Fast() bool { return l == NVLink || l == Switch }

// Reaches reports whether one device maps the memory of the other.
func (l Link) Reaches() bool { return l.Fast() || l == PCIe || l == Self }

// Read is the link from an opened device to another. CUDA does not say which of the two kinds of NVLink a link is; Read
// returns NVLink for both where the driver's DeviceGetNVLinks does not know.
func Read(d driver.Driver, peer driver.UUID) (Link, error) {
	can, err := d.DeviceCanAccessPeer(peer)
	switch {
	case err != nil:
		return Unknown, err
	case !can:
		return None, nil
	}
	switch n, err := d.DeviceGetP2PAttribute(driver.NativeAtomics, peer); {
	case err != nil:
		return Unknown, err
	case n != 1:
		return PCIe, nil
	}
	n, err := d.DeviceGetNVLinks(peer)
	switch {
	case errors.Is(err, driver.ErrUnavailable):
		return NVLink, nil
	case err != nil:
		return Unknown, fmt.Errorf("look at the wires: %w", err)
	case n.Direct == 0 && n.Switch > 0:
		return Switch, nil
	}
	return NVLink, nil
}
