package plan

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"ovgen/runtime/driver"
	"ovgen/verify/sim"
)

// crowded is a driver of a device with room for so many blocks on each of a few multiprocessors. It loads any kernel.
type crowded struct {
	driver.Driver
	each, multiprocessors int
	threads, shared       int // that are asked about
}

func (c *crowded) Properties() driver.Properties {
	p := c.Driver.Properties()
	p.Multiprocessors = c.multiprocessors
	return p
}

func (c *crowded) ModuleLoadData(*driver.Code) (driver.Module, error)               { return 1, nil }
func (c *crowded) ModuleGetFunction(driver.Module, string) (driver.Function, error) { return 1, nil }
func (c *crowded) ModuleUnload(driver.Module) error                                 { return nil }
func (c *crowded) LaunchKernel(driver.Function, driver.Dim3, driver.Dim3, driver.Stream, unsafe.Pointer) error {
	return nil
}

func (c *crowded) OccupancyMaxActiveBlocksPerMultiprocessor(_ driver.Function, threads, shared int) (int, error) {
	if threads != c.threads || shared != c.shared {
		return 0, fmt.Errorf("asked about %d threads and %d bytes", threads, shared)
	}
	return c.each, nil
}

// New asks whether blocks that must run at the same time have room, and its error says how much room is missing.
func TestNewAsksForRoom(t *testing.T) {
	once := driver.Kernel{Name: "one", AtOnce: true, Threads: 384, Shared: 200 << 10}
	many := driver.Kernel{Name: "one", Threads: 512, Blocks: MostPacketBlocks}
	half := launch{MostPacketBlocks / 2, 384}
	full := launch{MostPacketBlocks, 512}
	for _, c := range []struct {
		name                  string
		kernel                driver.Kernel
		run                   launch // of a run
		each, multiprocessors int
		want                  string // in the error; empty: none
	}{
		{"one on each", once, launch{}, 1, 132, ""},
		{"one on each of a slice", once, launch{}, 1, 16, ""},
		{"no room for one", once, launch{}, 0, 16, "up to 16 blocks that must run at the same time, each of 384 " +
			"threads and 204800 bytes of shared memory, and the device has room for 0 (0 on each of 16 " +
			"multiprocessors): use a larger slice of the GPU"},
		{"two on each", many, full, 2, 64, ""},
		{"one on each of many", many, full, 1, 132, ""},
		{"one on each of too few", many, full, 1, 127, "up to 128 blocks"},
		{"two on each of too few", many, full, 2, 60, "has room for 120 (2 on each of 60"},
		{"one on each of half as many", many, half, 1, 64, ""},
		{"one on each of too few for half", many, half, 1, 63, "up to 64 blocks that must run at the same time, " +
			"each of 384 threads"},
		{"any number", driver.Kernel{Name: "one"}, full, 0, 1, ""},
	} {
		prog := *toyProgram
		prog.Code = &driver.Code{Name: "toy", Kernels: []driver.Kernel{c.kernel}}
		inWorld(t, 2, sim.Config{}, func(d driver.Driver) driver.Driver {
			return &crowded{Driver: d, each: c.each, multiprocessors: c.multiprocessors, shared: c.kernel.Shared,
				threads: max(c.run.threads, 384)}
		}, func(w *world) {
			w.each(func(r int) {
				b := Build(w.groups[r], &prog, "room")
				k := b.Kernel("one")
				p, err := b.Finish(w.Context(), func(q *Queue) {
					dim := func(n int) driver.Dim3 { return driver.Dim3{X: uint32(n), Y: 1, Z: 1} }
					q.Launch(q.Main(), k, dim(c.run.blocks), dim(c.run.threads), nil)
				})
				if err == nil {
					err = p.Close(w.Context())
				}
				wrong := new(RoomError)
				if c.want == "" && err != nil ||
					c.want != "" && (!errors.As(err, &wrong) || !strings.Contains(err.Error(), c.want)) {
					w.Errorf("%s, rank %d: %v, want %q", c.name, r, err, c.want)
				}
			})
		})
	}
}
