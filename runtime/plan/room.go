package plan

import (
	"fmt"

	"ovgen/runtime/driver"
)

// launch is the number of blocks of a launch, and the number of threads of a block.
type launch struct{ blocks, threads int }

// noteLaunch notes a launch while the steps are numbered.
func (k *Kernel) noteLaunch(grid, block driver.Dim3) {
	k.most = launch{max(k.most.blocks, int(grid.X)), max(k.most.threads, int(block.X))}
}

// together returns the largest launch of a kernel whose blocks must run at the same time, and no blocks where they need
// not. A kernel AtOnce is launched with at most one block for each multiprocessor. Where only Bind knows the counts,
// the result is the limit of the kernel.
func (p *Plan) together(k *Kernel) launch {
	all := launch{k.code.Blocks, k.code.Threads}
	switch {
	case k.code.AtOnce:
		return launch{p.driver.Properties().Multiprocessors, all.threads}
	case all.blocks == 0 || p.counts > 0:
		return all
	}
	return k.most
}

// room asks the device whether all blocks of a kernel that must run at the same time can do so.
func (p *Plan) room(k *Kernel) error {
	most, have := p.together(k), p.driver.Properties().Multiprocessors
	if most.blocks == 0 {
		return nil
	}
	each, err := p.driver.OccupancyMaxActiveBlocksPerMultiprocessor(k.handle, most.threads, k.code.Shared)
	if err != nil {
		return fmt.Errorf("ask whether the blocks of kernel %s have room: %w", k.name, err)
	}
	if each*have < most.blocks {
		return &RoomError{Program: p.program.Name, Kernel: k.name, Blocks: most.blocks, Threads: most.threads,
			Shared: k.code.Shared, Each: each, Multiprocessors: have}
	}
	return nil
}
