package inject

import "ovgen/runtime/driver"

// Collectives are the driver's, whose calls Before sees too.
func (f *Filter) Collectives() (driver.Collectives, error) {
	c, err := driver.CollectivesOf(f.Driver)
	if err != nil {
		return nil, err
	}
	return collectives{c, f}, nil
}

type collectives struct {
	driver.Collectives
	of *Filter
}

// CommInitRank is the driver's, if Before allows.
func (c collectives) CommInitRank(id driver.CommID, ranks, rank int) (driver.Comm, error) {
	if err := c.of.before("CommInitRank"); err != nil {
		return 0, err
	}
	return c.Collectives.CommInitRank(id, ranks, rank)
}

// Collective is the driver's, if Before allows.
func (c collectives) Collective(d driver.CollectiveDesc, recv, send driver.Ptr, comm driver.Comm,
	s driver.Stream) error {
	if c.of.Before != nil {
		call := Call{Name: "Collective", Stream: s, Enqueues: true}
		if d.Kind == driver.Exchange {
			call.Exchanges = d.Bytes
		}
		if err := c.of.Before(call); err != nil {
			return err
		}
	}
	return c.Collectives.Collective(d, recv, send, comm, s)
}
