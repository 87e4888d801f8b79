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
	of                    driver.Kernel // that is asked about
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
	if threads != c.of.Threads || shared != c.of.Shared {
		return 0, fmt.Errorf("asked about %d threads and %d bytes", threads, shared)
	}
	return c.each, nil
}

// New asks whether the blocks of a kernel have room that must run at the same time, and says what is missing.
func TestNewAsksForRoom(t *testing.T) {
	once := driver.Kernel{Name: "one", AtOnce: true, Threads: 384, Shared: 200 << 10}
	many := driver.Kernel{Name: "one", Threads: 512, Blocks: MostPacketBlocks}
	for _, c := range []struct {
		name                  string
		kernel                driver.Kernel
		each, multiprocessors int
		want                  string // in the error; empty: none
	}{
		{"one on each", once, 1, 132, ""},
		{"one on each of a slice", once, 1, 16, ""},
		{"no room for one", once, 0, 16, "up to 16 blocks that must run at the same time, each of 384 threads and " +
			"204800 bytes of shared memory, and the device has room for 0 (0 on each of 16 multiprocessors): use a larger " +
			"slice of the GPU"},
		{"two on each", many, 2, 64, ""},
		{"one on each of many", many, 1, 132, ""},
		{"one on each of too few", many, 1, 127, "up to 128 blocks"},
		{"two on each of too few", many, 2, 60, "has room for 120 (2 on each of 60"},
		{"any number", driver.Kernel{Name: "one", Threads: 512}, 0, 1, ""},
	} {
		prog := *toyProgram
		prog.Code = &driver.Code{Name: "toy", Kernels: []driver.Kernel{c.kernel}}
		inWorld(t, 2, sim.Config{}, func(d driver.Driver) driver.Driver {
			return &crowded{Driver: d, each: c.each, multiprocessors: c.multiprocessors, of: c.kernel}
		}, func(w *world) {
			w.each(func(r int) {
				b := Build(w.groups[r], &prog, "room")
				b.Kernel("one")
				p, err := b.Finish(w.Context(), func(*Queue) {})
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
