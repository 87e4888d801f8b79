package trace

import (
	"ovgen/runtime/driver"
	"ovgen/verify/timeline"
)

// Collectives are the driver's, and timed.
func (d *Driver) Collectives() (driver.Collectives, error) {
	c, err := driver.CollectivesOf(d.Driver)
	if err != nil {
		return nil, err
	}
	return collectives{c, d}, nil
}

type collectives struct {
	driver.Collectives
	of *Driver
}

// Collective is a communication of all ranks.
func (c collectives) Collective(x driver.CollectiveDesc, recv, send driver.Ptr, comm driver.Comm,
	s driver.Stream) error {
	var begun error
	err := c.of.time(s, timeline.Copy, string(x.Kind), func() error {
		begun = c.Collectives.Collective(x, recv, send, comm, s)
		for begun == driver.ErrInProgress { // nothing may be enqueued behind it until it is done
			begun = c.CommGetAsyncError(comm)
		}
		return begun
	})
	return err
}
