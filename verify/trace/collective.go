package trace

import (
	"errors"

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

// Collective enqueues a communication of all ranks and returns once NCCL has enqueued all of it, so that the event
// recorded next marks its end.
func (c collectives) Collective(x driver.CollectiveDesc, recv, send driver.Ptr, comm driver.Comm,
	s driver.Stream) error {
	return c.of.time(s, timeline.Copy, string(x.Kind), func() error {
		err := c.Collectives.Collective(x, recv, send, comm, s)
		for errors.Is(err, driver.ErrInProgress) {
			err = c.CommGetAsyncError(comm)
		}
		return err
	})
}
