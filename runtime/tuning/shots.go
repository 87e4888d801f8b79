package tuning

import (
	"errors"
	"fmt"
	"slices"

	"ovgen/runtime/fabric"
)

// Shots is a way in which kernels sum a tensor for all ranks. In one shot a rank sends or reads D-1 times the tensor;
// in two it does so with 1/D of that, and again with each result that the owners of parts make.
type Shots int

// Ways to sum for all ranks; Unknown is any other way.
const (
	Unknown        Shots = iota
	OneShot              // reads all partial results
	Packets              // sends them as packets
	Pushed               // sends them as they are
	TwoShot              // reads a part of them, and then the sums
	TwoShotPackets       // sends both as packets
)

// shots has what a run takes in a graph, in microseconds, where NVLink joins every pair: once, for each rank, and by
// the rate at which a rank sends or reads, in bytes a microsecond. They are lines through what all-reduces of 16 KiB to
// 8 MiB took on two H200s (docs/results/2026-11-29-small-2.txt) and on four H100s (2026-11-27-small-4-twoshot.txt),
// whose links are alike, by kernels that looked at one peer's packets after another's; verify/cost compares them with
// its model, which is of those kernels too.
var shots = map[Shots]struct {
	times            int // that the tensor travels
	once, each, rate float64
}{
	OneShot:        {1, 1.7, 2.2, 310e3},
	Packets:        {1, 1.4, .95, 270e3},
	Pushed:         {1, 2.7, 1.05, 320e3},
	TwoShot:        {2, 1.3, 5.45, 280e3},
	TwoShotPackets: {2, 1.8, 1.45, 325e3},
}

// rates of links, as parts of that of NVLink: of an H100 or H200 it carries 450 GB/s each way, and 16 lanes of PCIe 5.0
// carry 64 (data sheets of the H100). Over PCIe nothing was measured: all that shots take beside their bytes, and reads
// beside writes, are taken to be as over NVLink. Other fabrics have no estimate.
var rates = map[fabric.Kind]float64{fabric.Switched: 1, fabric.Full: 1, fabric.Bus: 64.0 / 450}

// A kernel of functions behind a sum takes this time, and reads and writes three tensors at this rate.
const (
	behindOnce = 1.2
	behindRate = 2.4e6
)

// mostByShots is the largest tensor, in bytes, of which kernels sum all at once where products could run beside copies.
const mostByShots = 16 << 20

// LeastTwoShots is the least number of ranks that sum in two shots.
const LeastTwoShots = 3

// ErrTwoShots says that two ranks take no two shots.
var ErrTwoShots = errors.New("two ranks send as much in two shots as in one, and wait twice (take it from three on)")

// Sum says how a schedule sums a tensor for all ranks, if that is all that travels.
type Sum struct {
	By     Shots
	Of     string // the caller's buffer of the sum
	More   int    // results beside the first one that the owners of parts send to all
	Behind int    // kernels of functions behind the sum
}

// Worth returns the reason why ranks never take the way, or nil.
func (x Sum) Worth(ranks int) error {
	if ranks < LeastTwoShots && shots[x.By].times > 1 {
		return ErrTwoShots
	}
	return nil
}

// Microseconds is an estimate of the time of a sum of a tensor in a graph, where links of one kind join every pair of
// ranks. It is 0 for a way or links that are not known, and for one rank.
func (x Sum) Microseconds(bytes int64, ranks int, links fabric.Kind) float64 {
	s, known := shots[x.By]
	if !known || rates[links] == 0 || ranks < 2 {
		return 0
	}
	travels := float64(ranks-1) * float64(bytes)
	if s.times > 1 {
		travels *= float64(2+x.More) / float64(ranks)
	}
	behind := float64(x.Behind) * (behindOnce + 3*float64(bytes)/behindRate)
	return s.once + s.each*float64(ranks) + travels/(s.rate*rates[links]) + behind
}

// byShots is the order in which to try options of which no measurement tells: by what their sums take at this number of
// bytes over these links, where that is known; the others behind them. Where a sum is so large that copies beside
// products may be faster, a first option by copies stays the first.
func byShots(options []option, ranks int, links fabric.Kind) (order []int) {
	for i := range options {
		order = append(order, i)
	}
	if len(options) == 0 {
		return order
	}
	us := func(i int) float64 { return options[i].sum.Microseconds(options[i].bytes, ranks, links) }
	most := slices.MaxFunc(order, func(a, b int) int { return int(options[a].bytes - options[b].bytes) })
	if us(0) == 0 && options[most].bytes > mostByShots {
		return order
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch x, y := us(a), us(b); {
		case x > 0 && (y == 0 || x < y):
			return -1
		case y > 0 && (x == 0 || y < x):
			return 1
		}
		return 0
	})
	return order
}

// estimated is the text of an estimate, if there is one.
func (o option) estimated(ranks int, links fabric.Kind) string {
	us := o.sum.Microseconds(o.bytes, ranks, links)
	if us == 0 {
		return ""
	}
	return fmt.Sprintf("; by estimate the fastest sum of %d bytes that serves, %.2g us", o.bytes, us)
}
