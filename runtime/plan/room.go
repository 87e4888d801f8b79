package plan

import "fmt"

// room asks the device whether all blocks of a launch can run at the same time, where some wait for others.
func (p *Plan) room(k *Kernel) error {
	c, have := k.code, p.driver.Properties().Multiprocessors
	blocks := c.Blocks
	if c.AtOnce {
		blocks = have
	}
	if blocks == 0 {
		return nil
	}
	each, err := p.driver.OccupancyMaxActiveBlocksPerMultiprocessor(k.handle, c.Threads, c.Shared)
	if err != nil {
		return fmt.Errorf("ask whether the blocks of kernel %s have room: %w", k.name, err)
	}
	if each*have < blocks {
		return &RoomError{Program: p.program.Name, Kernel: k.name, Blocks: blocks, Threads: c.Threads, Shared: c.Shared,
			Each: each, Multiprocessors: have}
	}
	return nil
}
