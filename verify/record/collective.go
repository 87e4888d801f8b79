package record

import (
	"errors"
	"fmt"

	"ovgen/runtime/driver"
	"ovgen/verify/ops"
)

// Collectives returns the device itself.
func (d *Driver) Collectives() (driver.Collectives, error) { return d, nil }

// CommGetUniqueID makes an id.
func (d *Driver) CommGetUniqueID() (driver.CommID, error) { return driver.CommID{1}, nil }

// Over puts the ranks on several hosts, with that number of ranks on each. The communicator then joins the ranks that
// have this rank's number on their hosts.
func (d *Driver) Over(each int) { d.each = each }

// member is the program's rank for a rank of the communicator.
func (d *Driver) member(rank int) int {
	if d.each == 0 {
		return rank
	}
	return rank*d.each + d.rank%d.each
}

// CommInitRank makes a communicator.
func (d *Driver) CommInitRank(_ driver.CommID, ranks, _ int) (driver.Comm, error) {
	c := driver.Comm(d.handle())
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.comm != 0 {
		return 0, errors.New("a plan has one communicator")
	}
	d.comm, d.ranks = c, ranks
	return c, nil
}

// CommGetAsyncError returns nil.
func (d *Driver) CommGetAsyncError(driver.Comm) error { return nil }

// Collective records a collective.
func (d *Driver) Collective(x driver.CollectiveDesc, recv, send driver.Ptr, c driver.Comm, s driver.Stream) error {
	d.mu.Lock()
	known, ranks := c != 0 && c == d.comm, d.ranks
	d.mu.Unlock()
	return d.take(call{stream: s, kind: ops.Collective, operations: func(n *Names, o ops.Op) ([]ops.Op, error) {
		if !known {
			return nil, fmt.Errorf("communicator %#x was not made by CommInitRank", c)
		}
		if err := x.Check(); err != nil {
			return nil, err
		}
		if x.Kind.Sums() && x.Type != n.Type {
			return nil, fmt.Errorf("a sum of %s in a plan of %s", x.Type, n.Type)
		}
		sent, got := x.Sizes(ranks)
		if o.Form = string(x.Kind); x.Kind == driver.Exchange {
			o.To, o.From = d.member(x.To), d.member(x.From)
		}
		err := n.uses(&o, use{send, sent, false}, use{recv, got, true})
		return []ops.Op{o}, err
	}})
}

// CommAbort does nothing.
func (d *Driver) CommAbort(driver.Comm) error { return nil }

// CommDestroy does nothing.
func (d *Driver) CommDestroy(driver.Comm) error { return nil }
