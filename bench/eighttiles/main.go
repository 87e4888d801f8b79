// Command eighttiles checks kernels of tiles that multiply e4m3 on one GPU, and then times them beside cuBLASLt's best
// of eight: by scales of rows, with sums that are promoted and sums that are not, and by scales of blocks. The kernels
// are in a file of PTX, which cmd/ovgen/internal/nvrtc's test of such tiles writes where OVGEN_EIGHT_TILES names one. A
// figure is the median of rounds of graphs, which read weights in turn, more than a cache keeps.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"ovgen/bench/race"
	"ovgen/runtime/driver"
	_ "ovgen/runtime/driver/cuda"
	"ovgen/verify/reference"
)

var (
	file   = flag.String("ptx", "eighttiles.ptx", "the kernels")
	rounds = flag.Int("rounds", 15, "how often each graph runs")
	shapes = flag.String("shapes", "512,8192,14336;2048,8192,14336;4096,8192,14336;2048,14336,8192;4096,14336,8192;"+
		"2048,4096,7168;4096,7168,4096", "rows, depth and columns of each product")
)

// kernels lists each kernel's name, the columns of its tiles, the stages of its ring, and whether scales are of blocks.
var kernels = []struct {
	name          string
	columns, ring int
	blocks        bool
}{{"rows_promoted", 128, 6, false}, {"rows_fast", 256, 4, false}, {"blocks_promoted", 128, 6, true}}

// params are those of a kernel, struct tiles.
type params struct {
	a, b, c              driver.TensorMap
	scaleA, scaleB       driver.Ptr
	rows, depth, columns uint64
	_                    [3]uint64 // a map is aligned to 64 bytes
}

func main() {
	flag.Parse()
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "eighttiles:", err)
		os.Exit(1)
	}
}

// gpu is a device with the kernels and a workspace of the library.
type gpu struct {
	race.GPU
	module    driver.Module
	workspace driver.Ptr
}

func run() error {
	runtime.LockOSThread() // a capture ends on its thread
	device, err := race.Open()
	if err != nil {
		return err
	}
	defer device.Close()
	g := gpu{GPU: device}
	ptx, err := os.ReadFile(*file)
	if err != nil {
		return err
	}
	code := &driver.Code{Name: "eighttiles", PTX: ptx}
	for _, k := range kernels {
		shared := k.ring*((128+k.columns)*128+16) + 2*64*128
		code.Kernels = append(code.Kernels, driver.Kernel{Name: k.name, Params: int(unsafe.Sizeof(params{})),
			Shared: shared, Only: 90})
	}
	if g.module, err = g.ModuleLoadData(code); err != nil {
		return err
	}
	if g.workspace, err = g.MemAlloc(driver.WorkspaceBytes); err != nil {
		return err
	}
	fmt.Println(g.Properties().Name)
	for _, shape := range []string{"16,512,128", "136,1024,384", "1000,2048,2176", "2048,4096,4096"} {
		if err := g.shape(shape, g.check); err != nil {
			return fmt.Errorf("check %s: %w", shape, err)
		}
	}
	fmt.Println("rows, depth, columns: us a launch in a graph (over cuBLASLt by the same scales), median of", *rounds)
	for _, shape := range strings.Split(*shapes, ";") {
		if err := g.shape(shape, g.measure); err != nil {
			return fmt.Errorf("measure %s: %w", shape, err)
		}
	}
	return nil
}

// shape makes memory for a product, does something with it, and gives it back.
func (g *gpu) shape(text string, do func(*product) error) error {
	p := &product{gpu: g}
	if _, err := fmt.Sscanf(text, "%d,%d,%d", &p.m, &p.k, &p.n); err != nil {
		return fmt.Errorf("%q is no shape like 2048,8192,14336: %w", text, err)
	}
	if err := p.alloc(); err != nil {
		return err
	}
	return errors.Join(do(p), p.free())
}

// check compares each kernel's product with cuBLASLt's, bit by bit. The operands are small numbers, so sums are exact.
func (g *gpu) check(p *product) error {
	next := func() float32 { return float32(rand.IntN(3)-1) * float32(rand.IntN(9)/8) }
	power := func() float32 { return float32(math.Ldexp(1, rand.IntN(3))) }
	if err := p.fill(next, power); err != nil {
		return err
	}
	for i, k := range kernels {
		library, destroy, err := p.library(k.blocks, true)
		if err != nil {
			return err
		}
		want, err := p.made(library)
		if err != nil {
			return err
		}
		got, err := p.made(p.own(i))
		if err := errors.Join(err, destroy()); err != nil {
			return err
		}
		if !bytes.Equal(got, want) {
			return fmt.Errorf("%s makes other bits than the library", k.name)
		}
	}
	fmt.Printf("%d,%d,%d: exact sums are equal to the library's to the bit\n", p.m, p.k, p.n)
	return nil
}

// measure prints the times of a product.
func (g *gpu) measure(p *product) error {
	next := func() float32 { return 2*rand.Float32() - 1 }
	if err := p.fill(next, func() float32 { return 1 + rand.Float32() }); err != nil {
		return err
	}
	ways := []race.Way{}
	var ends []func() error
	for _, x := range []struct {
		name         string
		blocks, many bool
	}{{"tensor", false, false}, {"rows", false, true}, {"blocks", true, true}} {
		enqueue, destroy, err := p.library(x.blocks, x.many)
		if err != nil {
			return err
		}
		ways, ends = append(ways, race.Way{Name: "cuBLASLt-" + x.name, Enqueue: enqueue}), append(ends, destroy)
	}
	for i, k := range kernels {
		ways = append(ways, race.Way{Name: k.name, Enqueue: p.own(i)})
	}
	medians, err := g.Medians(ways, max(4, p.weights), *rounds)
	if err != nil {
		return err
	}
	fmt.Printf("%d,%d,%d:", p.m, p.k, p.n)
	for i, us := range medians {
		fmt.Printf("  %s %.1f", ways[i].Name, us)
		if own := i - len(medians) + len(kernels); own >= 0 {
			of := map[bool]int{false: 1, true: 2}[kernels[own].blocks]
			fmt.Printf(" (%.2f)", us/medians[of])
		}
	}
	fmt.Println()
	for _, end := range ends {
		err = errors.Join(err, end())
	}
	return err
}

// encoded returns count elements of a type. The numbers repeat after a million.
func encoded(typ driver.Type, count int, next func() float32) []byte {
	const most = 1<<20 - 3 // no row begins as another
	list := make([]float32, min(count, most))
	for i := range list {
		list[i] = next()
	}
	some, bytes := reference.Encode(typ, list), int(typ.Bytes(count))
	return slices.Repeat(some, (bytes+len(some)-1)/len(some))[:bytes]
}
