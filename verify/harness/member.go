package harness

import (
	"context"

	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
)

// Member is one rank of a group, with its kernels, streams and inputs for the runs of a
// program.
type Member struct {
	*group.Group
	Kernels *Kernels       // make and compare tensors; nil where the host does that
	Caller  *device.Stream // the caller's stream
	Space   driver.Ptr     // workspace of the harness's products
	Seed    uint32         // of the inputs
}

// ClosePlan closes a plan. After an abort it reports no failure: the abort is the error.
func (m *Member) ClosePlan(ctx context.Context, p Plan) error {
	if err := p.Close(ctx); err != nil && m.Err() == nil {
		return err
	}
	return nil
}
