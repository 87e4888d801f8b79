package harness

import (
	"context"
	"errors"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
)

// Bits are this rank's parts of the results of one run in the simulator, on real numbers drawn by a seed.
func Bits(ctx context.Context, g *group.Group, p *Program, s Shape, seed uint32) (made map[string][]byte, err error) {
	t, err := (&Member{Group: g, Seed: seed}).Tensors(p, s)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.Free()) }()
	plan, err := t.Plan(ctx, p)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, plan.Close(ctx)) }()
	stream, err := g.Driver().StreamCreateWithPriority(driver.Normal)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, g.Driver().StreamDestroy(stream)) }()
	err = errors.Join(t.upload(t.Inputs(0, true)), plan.Enqueue(stream), g.Driver().StreamSynchronize(stream), g.Err())
	if err != nil {
		return nil, err
	}
	made = map[string][]byte{}
	for name, bytes := range t.Made() {
		made[name] = make([]byte, bytes)
		if err := g.Driver().MemcpyDtoH(made[name], t.At[name]); err != nil {
			return nil, err
		}
	}
	return made, nil
}
