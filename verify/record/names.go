package record

import (
	"fmt"

	"ovgen/runtime/driver"
	"ovgen/verify/ops"
)

// Region is memory with a name: [Base, Base+Bytes) is Buffer of Rank from Offset on.
type Region struct {
	Base   driver.Ptr
	Bytes  int64
	Rank   int
	Buffer string
	Offset int64
}

// Names resolve what driver calls mention.
type Names struct {
	Regions []Region
	Streams map[driver.Stream]string
}

// loc names an address.
func (n Names) loc(p driver.Ptr) (ops.Loc, error) {
	for _, r := range n.Regions {
		if p >= r.Base && p < r.Base+driver.Ptr(r.Bytes) {
			return ops.Loc{Rank: r.Rank, Buffer: r.Buffer, Offset: r.Offset + int64(p-r.Base)}, nil
		}
	}
	return ops.Loc{}, fmt.Errorf("address %#x lies in no buffer of the plan", p)
}

func (n Names) stream(s driver.Stream) (string, error) {
	if name, ok := n.Streams[s]; ok {
		return name, nil
	}
	return "", fmt.Errorf("stream %#x is none of the plan", s)
}
