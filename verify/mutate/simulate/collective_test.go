package simulate

import (
	"errors"

	"ovgen/runtime/driver"
	"ovgen/verify/ops"
)

// connect makes the communicator of all ranks.
func connect(ranks []*rank) error {
	var id driver.CommID
	for _, r := range ranks {
		c, err := driver.CollectivesOf(r.Driver)
		if err != nil {
			return err
		}
		if r.number == 0 {
			if id, err = c.CommGetUniqueID(); err != nil {
				return err
			}
		}
		if r.comm, err = c.CommInitRank(id, len(ranks), r.number); err != nil && !errors.Is(err, driver.ErrInProgress) {
			return err
		}
		r.collectives = c
	}
	return nil
}

// collective enqueues one, and asks until it is.
func (r *rank) collective(s driver.Stream, o ops.Op) error {
	d := driver.CollectiveDesc{Kind: driver.CollectiveKind(o.Form), Bytes: o.Uses[0].Bytes, Type: driver.FP32}
	switch d.Kind {
	case driver.ReduceScatter:
		d.Bytes = o.Uses[1].Bytes
	case driver.AllToAll:
		d.Bytes /= int64(len(r.at))
	}
	err := r.settled()
	if err == nil {
		err = r.collectives.Collective(d, r.ptr(o.Uses[1].At), r.ptr(o.Uses[0].At), r.comm, s)
	}
	if errors.Is(err, driver.ErrInProgress) {
		err = r.settled()
	}
	return err
}

// settled asks until the call before has ended.
func (r *rank) settled() error {
	for {
		if err := r.collectives.CommGetAsyncError(r.comm); !errors.Is(err, driver.ErrInProgress) {
			return err
		}
	}
}
