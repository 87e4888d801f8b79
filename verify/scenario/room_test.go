//go:build cgo

package scenario

import (
	"errors"
	"testing"

	"ovgen/generated/allgatherlinearpackets"
	"ovgen/generated/allgatherlineartiles"
	"ovgen/generated/allgatheroneshot"
	"ovgen/generated/allreduceoneshot"
	"ovgen/generated/allreducepackets"
	"ovgen/generated/allreducepush"
	"ovgen/generated/allreducetwoshot"
	"ovgen/generated/blockbehindattentionpackets"
	"ovgen/generated/linearreducescattertiles"
	"ovgen/runtime/driver"
	"ovgen/runtime/plan"
)

// TestRoom logs what the device says of each kernel whose blocks must run at the same time, and that they can.
func TestRoom(t *testing.T) {
	backend, err := driver.Lookup(*driverFlag)
	if err != nil {
		t.Fatal(err)
	}
	d, err := backend.Open(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}()
	have, asked := d.Properties().Multiprocessors, 0
	for _, p := range []*plan.Program{&allgatherlinearpackets.Program, &allgatherlineartiles.Program,
		&allgatheroneshot.Program, &allreduceoneshot.Program, &allreducepackets.Program, &allreducepush.Program,
		&allreducetwoshot.Program, &blockbehindattentionpackets.Program, &linearreducescattertiles.Program} {
		m, err := d.ModuleLoadData(p.Code)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range p.Code.Kernels {
			if k.Threads == 0 {
				continue
			}
			asked++
			blocks := k.Blocks
			if k.AtOnce {
				blocks = have
			}
			f, err := d.ModuleGetFunction(m, k.Name)
			each, wrong := d.OccupancyMaxActiveBlocksPerMultiprocessor(f, k.Threads, k.Shared)
			if err := errors.Join(err, wrong); err != nil || each*have < blocks {
				t.Errorf("%s of %s has no room: %v", k.Name, p.Name, err)
			}
			t.Logf("%-28s %-16s %3d threads, %6d bytes: %d on each of %d multiprocessors, needs %d in all", p.Name,
				k.Name, k.Threads, k.Shared, each, have, blocks)
		}
		if err := d.ModuleUnload(m); err != nil {
			t.Error(err)
		}
	}
	if asked == 0 {
		t.Error("no kernel was asked about")
	}
}
