// Command functions measures kernels of elements and of groups on one GPU, beside others of the same work. The kernels
// are in a file of PTX, which cmd/ovgen/internal/nvrtc's test of functions writes where OVGEN_FUNCTIONS_PTX names one.
// Variants take turns; a figure is the median of rounds, each of a graph of launches one after another.
package main

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"ovgen/runtime/driver"
	_ "ovgen/runtime/driver/cuda"
)

// launches are those of a graph.
const launches = 20

var rounds = flag.Int("rounds", 15, "how often each graph runs")

func main() {
	file := flag.String("ptx", "functions.ptx", "the kernels")
	flag.Parse()
	if err := measure(*file); err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(1)
	}
}

// variant is a kernel with its grid and its parameters, where x, y, z, w and t are addresses.
type variant struct {
	name, kernel string
	grid         int64
	params       []uint64
}

// group is the work on a tensor of some rows and columns, with the bytes that it reads and writes.
type group struct {
	name  string
	bytes int64
	list  []variant
}

const wide = 512 // threads of a block

// groups are all work: x, z, y are tensors, w a row or a table.
func groups(x, y, z, w uint64) (list []group) {
	epsilon := math.Float64bits(1e-5)
	for _, rows := range []int64{6, 32, 128, 512, 1024, 4096} {
		for _, columns := range []int64{4096, 6144, 8192} {
			n := rows * columns
			r, c, e := uint64(rows), uint64(columns), uint64(n)
			shape := fmt.Sprintf("%5d x %5d", rows, columns)
			lanes := int64(wide)
			for lanes*4 >= columns {
				lanes /= 2
			}
			norms := group{"norm " + shape, 4 * n, nil}
			more := group{"norm + residual " + shape, 6 * n, nil}
			layer := group{"layernorm " + shape, 4 * n, nil}
			for _, most := range []int64{132, 264, 528, 1056} {
				if grid := min(most, rows); grid == most || most == 132 {
					at := fmt.Sprintf(", at most %d blocks", most)
					norms.list = append(norms.list, variant{"groups" + at, "groups_bf16", grid,
						[]uint64{y, r, x, w, c, epsilon}})
					more.list = append(more.list, variant{"groups" + at, "groups2_bf16", grid,
						[]uint64{y, r, x, w, z, c, epsilon}})
					layer.list = append(layer.list, variant{"groups" + at, "groups3_bf16", grid,
						[]uint64{y, r, x, w, w, c, epsilon}})
				}
			}
			gate := group{"swiglu " + shape, 6 * n, nil}
			bias := group{"bias " + shape, 4 * n, nil}
			for _, most := range []int64{264, 528, 1056} {
				at := fmt.Sprintf(", at most %d blocks", most)
				grid := min(n*2/(16*wide)+1, most)
				gate.list = append(gate.list, variant{"elements" + at, "elements_bf16", grid, []uint64{y, e, x, z}})
				bias.list = append(bias.list, variant{"elements" + at, "elements2_bf16", grid, []uint64{y, e, x, w, c}})
			}
			heads := n / 128
			turn := group{"rotary " + shape, 4*n + 2*rows*128, nil}
			for _, most := range []int64{264, 528, 1056} {
				turn.list = append(turn.list, variant{fmt.Sprintf("groups, at most %d blocks", most), "groups4_bf16",
					min((heads+31)/32, most), []uint64{y, r, x, w, c, 128}})
			}
			list = append(list, norms, more, layer, gate, bias, turn)
		}
	}
	return list
}

// measure runs all groups.
func measure(file string) error {
	ptx, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	runtime.LockOSThread() // a capture ends on its thread
	gpus, err := driver.Lookup("cuda")
	if err != nil {
		return err
	}
	d, err := gpus.Open(0, 0)
	if err != nil {
		return err
	}
	defer d.Close()
	const bytes = 4096 * 8192 * 2
	var at [4]driver.Ptr
	for i := range at {
		if at[i], err = d.MemAlloc(bytes); err != nil {
			return err
		}
		content := make([]byte, bytes)
		for k := 0; k < bytes; k += 2 { // ordinary numbers of bf16
			binary.LittleEndian.PutUint16(content[k:], uint16(0x3f00+(k*2654435761>>7)%0x180)|uint16(k%3&1)<<15)
		}
		if err := d.MemcpyHtoD(at[i], content); err != nil {
			return err
		}
	}
	list := groups(uint64(at[0]), uint64(at[1]), uint64(at[2]), uint64(at[3]))
	code := &driver.Code{Name: "functions", PTX: ptx}
	for _, g := range list {
		for _, v := range g.list {
			if !slices.ContainsFunc(code.Kernels, func(k driver.Kernel) bool { return k.Name == v.kernel }) &&
				strings.Contains(string(ptx), ".entry "+v.kernel+"(") {
				code.Kernels = append(code.Kernels, driver.Kernel{Name: v.kernel, Params: 8 * len(v.params)})
			}
		}
	}
	m, err := d.ModuleLoadData(code)
	if err != nil {
		return err
	}
	s, err := d.StreamCreateWithPriority(driver.High)
	if err != nil {
		return err
	}
	fmt.Printf("%s, bf16: us a launch (median of %d rounds of %d launches in a graph), GB/s\n", d.Properties().Name,
		*rounds, launches)
	for _, g := range list {
		g.list = slices.DeleteFunc(g.list, func(v variant) bool {
			return !slices.ContainsFunc(code.Kernels, func(k driver.Kernel) bool { return k.Name == v.kernel })
		})
		if err := g.run(d, m, s); err != nil {
			return fmt.Errorf("%s: %w", g.name, err)
		}
	}
	return nil
}

// run measures the variants of a group in turns.
func (g group) run(d driver.Driver, m driver.Module, s driver.Stream) error {
	graphs, times := make([]driver.GraphExec, len(g.list)), make([][]float64, len(g.list))
	for i, v := range g.list {
		var err error
		if graphs[i], err = v.graph(d, m, s); err != nil {
			return fmt.Errorf("%s: %w", v.name, err)
		}
	}
	var events [2]driver.Event
	for i := range events {
		var err error
		if events[i], err = d.EventCreate(true); err != nil {
			return err
		}
	}
	for round := range *rounds + 2 {
		for i, graph := range graphs {
			err := d.EventRecordWithFlags(events[0], s, 0)
			if err == nil {
				err = d.GraphLaunch(graph, s)
			}
			if err == nil {
				err = d.EventRecordWithFlags(events[1], s, 0)
			}
			if err == nil {
				err = d.StreamSynchronize(s)
			}
			if err != nil {
				return err
			}
			ms, err := d.EventElapsedTime(events[0], events[1])
			if err != nil {
				return err
			}
			if round >= 2 { // warm
				times[i] = append(times[i], float64(ms)*1000/launches)
			}
		}
	}
	for i, v := range g.list {
		slices.Sort(times[i])
		us := times[i][len(times[i])/2]
		fmt.Printf("%-32s %-30s %9.2f us %7.0f GB/s\n", g.name, v.name, us, float64(g.bytes)/us/1e3)
		if err := d.GraphExecDestroy(graphs[i]); err != nil {
			return err
		}
	}
	for _, e := range events {
		if err := d.EventDestroy(e); err != nil {
			return err
		}
	}
	return nil
}

// graph is a graph of launches.
func (v variant) graph(d driver.Driver, m driver.Module, s driver.Stream) (driver.GraphExec, error) {
	f, err := d.ModuleGetFunction(m, v.kernel)
	if err != nil {
		return 0, err
	}
	dim := func(n int64) driver.Dim3 { return driver.Dim3{X: uint32(n), Y: 1, Z: 1} }
	launch := func() error { return d.LaunchKernel(f, dim(v.grid), dim(wide), s, unsafe.Pointer(&v.params[0])) }
	if err := launch(); err != nil { // loads it
		return 0, err
	}
	if err := d.StreamSynchronize(s); err != nil {
		return 0, err
	}
	if err := d.StreamBeginCapture(s); err != nil {
		return 0, err
	}
	for range launches {
		if err := launch(); err != nil {
			return 0, err
		}
	}
	g, err := d.StreamEndCapture(s)
	if err != nil {
		return 0, err
	}
	exec, err := d.GraphInstantiate(g)
	if err != nil {
		return 0, err
	}
	return exec, d.GraphDestroy(g)
}
