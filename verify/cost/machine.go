package cost

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Machine describes a GPU and its links for predictions. Times are in microseconds, and rates are per microsecond.
type Machine struct {
	Name string
	// GPUs is the number of GPUs that one host joins by NVLink. More GPUs on a host are predicted as if NVLink joined
	// them too.
	GPUs int
	// SMs is the number of multiprocessors, and Rate the FLOP of the tensor cores of one, by the bytes of an element.
	SMs  int
	Rate map[int64]float64
	// Tiles into which products are cut.
	Tiles []Tile
	// Split is the time to add the partial results of a split k.
	Split float64
	// Power is the cap on the FLOP of all multiprocessors, by the bytes of an element and the FLOP of a run's products.
	Power map[int64]Curve
	// Memory is the number of bytes that a kernel reads and writes, LocalCopy the number of bytes that a copy within a
	// GPU moves.
	Memory, LocalCopy float64
	// Link is the number of bytes that one direction of a GPU's links carries. Get and Put are the times of a copy by
	// the copy engine, by its bytes. KernelLink is the rate that kernels reach.
	Link, KernelLink float64
	Get, Put         Curve
	// NCCL has the times of collectives on one host, Network the times of exchanges between hosts.
	NCCL    NCCL
	Network Network
	// Eager and Replayed are the latencies of operations that the host enqueues, and of operations in a graph.
	Eager, Replayed Latencies
	// Host has the times of the host to enqueue.
	Host HostTimes
}

// Tile is one shape of the tiles into which a product's result is cut.
type Tile struct {
	Rows, Columns int64
	Efficiency    float64 // of the multiprocessor's rate
	Fixed         float64 // for the start and the end of one tile
}

// Latencies of operations on the device.
type Latencies struct {
	Launch  float64 // of a kernel at the start, or after an event
	Next    float64 // of a kernel after a kernel of its stream
	Copy    float64 // of a copy, added to its curve
	Batch   float64 // of a batch of stream memory operations
	Write   float64 // of a word in it
	Poll    float64 // from a word's change to the end of a wait for it
	Visible float64 // from the write of a peer's word to its change
	Event   float64 // from a record to the end of a wait for it
}

// HostTimes are the times that a host takes to enqueue.
type HostTimes struct {
	Product, Kernel, Copy, Batch, Event float64
	Graph                               float64 // the launch of a whole graph
}

// machines by name.
var machines = map[string]*Machine{"h200": &h200, "h100": h100()}

// h200 was measured on four GPUs joined by NVLink, unless a comment says otherwise.
var h200 = Machine{
	Name: "h200",
	GPUs: 8,
	SMs:  132,
	Rate: map[int64]float64{1: 12.7e6, 2: 6.6e6, 4: 0.4e6}, // 4 bytes: an estimate
	Tiles: []Tile{
		{128, 256, 1, 2}, {128, 128, 0.95, 1.5}, {128, 64, 0.8, 1.2}, {64, 64, 0.55, 1},
	},
	Split: 2,
	Power: map[int64]Curve{1: {{60e9, 1270e6}, {480e9, 1220e6}, {8800e9, 1240e6}}, // by scales of rows
		2: {{150e9, 900e6}, {275e9, 775e6}, {480e9, 690e6}, {1100e9, 687e6}, {8800e9, 676e6}}},
	Memory:    3.7e6,
	LocalCopy: 1e6, // an estimate
	Link:      390e3, KernelLink: 325e3,
	Get: Curve{{4 << 10, 2.8}, {64 << 10, 2.85}, {1 << 20, 6.35}, {16 << 20, 48.8}, {1 << 30, 2886}},
	Put: Curve{{4 << 10, 2.0}, {64 << 10, 2.26}, {1 << 20, 5.02}, {16 << 20, 46.2}, {1 << 30, 2753}},
	NCCL: NCCL{Host: 165, SMs: 24, Times: map[string]Curve{ // on two GPUs, in a graph
		"all-gather": {{32 << 10, 6.9}, {128 << 10, 7.3}, {512 << 10, 10.8}, {2 << 20, 25.9}, {8 << 20, 53},
			{32 << 20, 156}, {128 << 20, 545}},
		"reduce-scatter": {{32 << 10, 6.4}, {128 << 10, 7.1}, {512 << 10, 9.9}, {2 << 20, 22.6}, {8 << 20, 49},
			{32 << 20, 164}, {128 << 20, 581}},
		"all-reduce": {{64 << 10, 7.4}, {256 << 10, 8.7}, {1 << 20, 13.9}, {4 << 20, 32.3}, {16 << 20, 77},
			{64 << 20, 247}, {256 << 20, 887}},
		"all-to-all": {{32 << 10, 6.9}, {128 << 10, 7.3}, {512 << 10, 10.8}, {2 << 20, 25.9}, {8 << 20, 53},
			{32 << 20, 156}, {128 << 20, 545}}, // as an all-gather: an estimate
	}},
	Network:  Network{Rate: 45e3, Latency: 25, SMs: 4}, // an estimate: NCCL by a NIC of 400 Gb/s a GPU
	Eager:    Latencies{Launch: 4, Next: 4, Copy: 5, Batch: 3, Write: 0.6, Poll: 0.5, Visible: 1, Event: 1.5},
	Replayed: Latencies{Launch: 2.5, Next: 1.2, Copy: 4.5, Batch: 2.2, Write: 0.6, Poll: 0.5, Visible: 1, Event: 0},
	Host:     HostTimes{Product: 3, Kernel: 2.5, Copy: 1.5, Batch: 1, Event: 0.4, Graph: 4},
}

// h100 is an H100 with the same multiprocessors and links as an H200, and with slower memory.
func h100() *Machine {
	m := h200
	m.Name, m.Memory = "h100", 2.6e6 // 78 % of its bandwidth, as on an H200: an estimate
	return &m
}

// Names lists the names of the known machines.
func Names() []string {
	var names []string
	for n := range machines {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// Find returns the machine of that name.
func Find(name string) (*Machine, error) {
	if m := machines[strings.ToLower(name)]; m != nil {
		return m, nil
	}
	return nil, fmt.Errorf("no machine %q (known: %s)", name, strings.Join(Names(), ", "))
}

// Point is a point of a curve.
type Point struct{ X, Y float64 }

// Curve is interpolated between its points on logarithmic scales. Below the first point it keeps the first value, and
// above the last point it keeps the last slope.
type Curve []Point

// At is the curve's value at x.
func (c Curve) At(x float64) float64 {
	if x <= c[0].X {
		return c[0].Y
	}
	i := 1
	for i < len(c)-1 && x > c[i].X {
		i++
	}
	p, q := c[i-1], c[i]
	slope := math.Log(q.Y/p.Y) / math.Log(q.X/p.X)
	return p.Y * math.Pow(x/p.X, slope)
}
