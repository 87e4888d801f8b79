package simulate

import (
	"errors"
	"fmt"

	"ovgen/runtime/driver"
	"ovgen/verify/ops"
)

// connect makes the communicator of all ranks, or over hosts one of each rail.
func connect(ranks []*rank) error {
	ids := map[int]driver.CommID{}
	for _, r := range ranks {
		c, err := driver.CollectivesOf(r.Driver)
		if err != nil {
			return err
		}
		rail := r.rail(r.number)
		if _, ok := ids[rail]; !ok {
			if ids[rail], err = c.CommGetUniqueID(); err != nil {
				return err
			}
		}
		members, number := len(ranks), r.number
		if r.Shape.Hosts > 0 {
			members, number = r.Shape.Hosts, r.host(r.number)
		}
		r.comm, err = c.CommInitRank(ids[rail], members, number)
		if err != nil && !errors.Is(err, driver.ErrInProgress) {
			return err
		}
		r.collectives = c
	}
	return nil
}

// perHost counts the ranks of each host.
func (r *rank) perHost() int { return len(r.at) / max(r.Shape.Hosts, 1) }

// rail is a rank's number on its host, and host the number of that; of a program for one host all are of one rail.
func (r *rank) rail(rank int) int {
	if r.Shape.Hosts == 0 {
		return 0
	}
	return rank % r.perHost()
}

func (r *rank) host(rank int) int { return rank / r.perHost() }

// collective enqueues one, and asks until it is.
func (r *rank) collective(s driver.Stream, o ops.Op) error {
	d := driver.CollectiveDesc{Kind: driver.CollectiveKind(o.Form), Bytes: o.Uses[0].Bytes, Type: driver.FP32}
	switch d.Kind {
	case driver.ReduceScatter:
		d.Bytes = o.Uses[1].Bytes
	case driver.AllToAll:
		d.Bytes /= int64(len(r.at))
	case driver.Exchange:
		if r.rail(o.To) != r.rail(r.number) || r.rail(o.From) != r.rail(r.number) || o.Uses[1].Bytes != d.Bytes {
			return fmt.Errorf("no such exchange: %s", o)
		}
		d.To, d.From = r.host(o.To), r.host(o.From)
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
