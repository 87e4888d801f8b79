// Command fewrows checks the kernels of few rows on one GPU, and then times them beside cuBLASLt's best of eight and a
// read of the weight. The kernels are in files of PTX, which cmd/ovgen/internal/nvrtc's test of few rows writes where
// OVGEN_FEWROWS_PTX names one; of several files each is a variant, and of one whose name begins with early launches may
// start before the launch before them has ended. With -making the kernels apply functions; the command checks and times
// them beside kernels that apply the same functions behind the products. A figure is the median of rounds. Each
// round shuffles the graphs of the variants, and each graph reads more weights than the cache holds.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"ovgen/bench/fewrows/functions"
	"ovgen/bench/race"
	"ovgen/runtime/driver"
	_ "ovgen/runtime/driver/cuda"
	"ovgen/runtime/fewrows"
	"ovgen/templates"
)

var (
	files   = flag.String("ptx", "fewrows.ptx", "the kernels, by files with commas between them")
	rounds  = flag.Int("rounds", 15, "how often each graph runs")
	weights = flag.String("weights", "14336x4096,4096x14336,6144x4096,4096x4096,28672x8192", "columns x depth of each")
	counts  = flag.String("rows", "1,4,16,32,64", "how many")
	only    = flag.Bool("check", false, "check, and time nothing")
	sure    = flag.Bool("timed", false, "time, and check nothing")
	makes   = flag.Bool("making", false, "kernels that apply functions, beside these functions behind products")
)

func main() {
	flag.Parse()
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "fewrows:", err)
		os.Exit(1)
	}
}

// gpu is a device with a stream and the variants' modules.
type gpu struct {
	race.GPU
	names   []string
	modules []driver.Module
	making  templates.Device // the kernels that apply functions
}

func run() error {
	runtime.LockOSThread() // a capture ends on its thread
	device, err := race.Open()
	if err != nil {
		return err
	}
	defer device.Close()
	g := gpu{GPU: device}
	if g.making, err = functions.Device(slices.Concat(fewrows.Kernels, fewrows.Narrow)); err != nil {
		return err
	}
	for _, file := range strings.Split(*files, ",") {
		if err := g.load(file); err != nil {
			return fmt.Errorf("load %s: %w", file, err)
		}
	}
	fmt.Println(g.Properties().Name)
	checks, line := g.checks, g.line
	if *makes {
		checks, line = g.checksMaking, g.lineMaking
	}
	if err := checks(); err != nil {
		return err
	}
	if *only {
		return nil
	}
	return errors.Join(g.measure(0, line), g.measure(driver.E4M3, line))
}

// checks checks all variants in all types.
func (g *gpu) checks() error {
	if *sure {
		return nil
	}
	for _, typ := range []driver.Type{driver.BF16, driver.FP16} {
		for _, of := range []driver.Type{0, driver.E4M3} {
			for i, name := range g.names {
				what := fmt.Sprintf("%s of %s by %s", name, typ, cmp.Or(of, typ))
				if err := errors.Join(g.check(i, typ, of), g.chain(i, typ, of)); err != nil {
					return fmt.Errorf("check %s: %w", what, err)
				}
				fmt.Printf("%s: exact sums are equal to the bit, each row has the same bits beside 0 to 63 others, "+
					"and products of products in a graph\n", what)
			}
		}
	}
	return nil
}

// early says that a variant's launches may start early.
func early(name string) bool { return strings.HasPrefix(name, "early") }

// load loads the kernels of a file.
func (g *gpu) load(file string) error {
	ptx, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	name := strings.TrimSuffix(filepath.Base(file), ".ptx")
	list := slices.Concat(fewrows.Kernels, fewrows.Narrow)
	if *makes {
		list = g.making.FewRows
	}
	if early(name) {
		list = list.Early()
	}
	code := &driver.Code{Name: "fewrows", PTX: ptx, Kernels: append(list.Code([]driver.Type{driver.BF16, driver.FP16}),
		driver.Kernel{Name: "read", Params: 24, Early: early(name)})}
	if *makes {
		code.Kernels = append(code.Kernels, g.making.Table.Code()...)
	}
	m, err := g.ModuleLoadData(code)
	g.names = append(g.names, name)
	g.modules = append(g.modules, m)
	return err
}
