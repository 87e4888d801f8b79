package run

import (
	"fmt"
	"slices"

	"ovgen/verify/harness"
)

// extents are the extents of a shape, as rows of JSON have them.
type extents struct {
	M  int `json:"m"`
	K  int `json:"k"`
	N  int `json:"n"`
	N2 int `json:"n2,omitempty"`
	N3 int `json:"n3,omitempty"`
	F  int `json:"f,omitempty"`
	W  int `json:"w,omitempty"`
	P  int `json:"p,omitempty"`
}

func extentsOf(s harness.Shape) extents { return extents{s.M, s.K, s.N, s.N2, s.N3, s.F, s.W, s.P} }

// figure is bench's result for one series.
type figure struct {
	Program string `json:"program"`
	Driver  string `json:"driver"`
	Type    string `json:"type"`
	extents
	Ranks   int     `json:"ranks"`
	Hosts   int     `json:"hosts,omitempty"`       // where there are several
	Network float64 `json:"network_gbs,omitempty"` // the rate of a played network
	Variant string  `json:"variant"`
	Tiles   string  `json:"tiles,omitempty"` // the kernel of tiles that the plan was told to take
	Gated   bool    `json:"gated"`
	Median  float64 `json:"ms"` // of the slowest rank
	Min     float64 `json:"min"`
	Max     float64 `json:"max"`
	// Rates are for GPUs alone; rates in the simulator would mean nothing.
	TFLOPS     float64 `json:"tflops,omitempty"`     // of one rank
	Total      float64 `json:"total,omitempty"`      // of all ranks
	Efficiency float64 `json:"efficiency,omitempty"` // pure / whole, both gated or both not
	Algorithm  float64 `json:"alg_gbs,omitempty"`    // for a bare communication: bytes of the whole / time
	Bus        float64 `json:"bus_gbs,omitempty"`    // bytes over a rank's link / time
	Host       float64 `json:"host_us"`              // to enqueue it, median of the slowest rank
	Rounds     int     `json:"rounds"`
}

// figures are the figures of all series, the figures of the pure products first.
func (l *lab) figures(all []*series) []figure {
	pure := map[bool]float64{}
	c, bare := l.collective(l.r.Size())
	var list []figure
	for _, x := range all {
		device, host := x.sorted()
		f := figure{Program: l.Program.Name, Driver: l.r.drv.Name(), Type: l.Shape.Type.String(),
			extents: extentsOf(l.Shape), Ranks: l.r.Size(),
			Network: l.r.network, Variant: x.variant.name, Gated: x.gated, Median: median(device), Min: device[0],
			Max:  device[len(device)-1],
			Host: median(host), Rounds: len(device)}
		if l.r.Hosts() > 1 {
			f.Hosts = l.r.Hosts()
		}
		if x.variant.plan() {
			f.Program, f.Tiles = x.variant.program.Name, x.variant.tiles
		}
		if x.variant.name == variantPure {
			pure[x.gated] = f.Median
		}
		switch {
		case f.Median <= 0 || x.variant.moves() || !l.r.onGPU():
		case bare:
			f.Algorithm = float64(c.bytes) / f.Median / 1e6
			f.Bus = f.Algorithm * c.bus
		default:
			f.TFLOPS = l.flops() / f.Median / 1e9
			f.Total = f.TFLOPS * float64(l.r.Size())
			f.Efficiency = pure[x.gated] / f.Median
		}
		list = append(list, f)
	}
	return list
}

// sorted are the times on the device and on the host, each in ascending order.
func (x *series) sorted() (device, host []float64) {
	for _, one := range x.rounds {
		device, host = append(device, one.device), append(host, one.host)
	}
	slices.Sort(device)
	slices.Sort(host)
	return device, host
}

// median of sorted values.
func median(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// print shows one shape's figures and, for each program, the better of eager and replayed.
func (l *lab) print(all []*series, json bool) {
	list := l.figures(all)
	if json {
		for _, f := range list {
			printJSON(f)
		}
		return
	}
	c, bare := l.collective(l.r.Size())
	what, units := l.Shape.String(), fmt.Sprintf("%8s %8s %6s", "TFLOP/s", "total", "eff")
	if bare {
		what, units = fmt.Sprintf("%s of %d bytes", c.name, c.bytes), fmt.Sprintf("%8s %8s", "GB/s", "bus")
	}
	if !l.r.onGPU() {
		units = ""
	}
	width := 24
	for i, f := range list {
		width = max(width, len(l.label(all[i].variant, f)))
	}
	on := fmt.Sprintf("%d ranks", l.r.Size())
	if l.r.Hosts() > 1 {
		on += fmt.Sprintf(" of %d hosts", l.r.Hosts())
	}
	fmt.Printf("\n%s %s %s, %s: ms, median of the slowest rank over %d rounds\n", l.names(), what,
		l.Shape.Type, on, list[0].Rounds)
	fmt.Printf("%-*s %9s  %9s..%-9s %s %9s\n", width, "", "ms", "min", "max", units, "host us")
	for i, f := range list {
		fmt.Printf("%-*s %9.4f  %9.4f..%-9.4f %s %9.1f\n", width, l.label(all[i].variant, f), f.Median, f.Min,
			f.Max, l.rates(f, bare), f.Host)
	}
	if !bare && l.r.onGPU() {
		l.best(list)
	}
}

// label is the label of a row: with the program's name where there are several.
func (l *lab) label(v variant, f figure) string {
	name := f.Variant
	if v.plan() && len(l.programs) > 1 {
		name = f.Program + " " + name
	}
	if f.Gated {
		name += ", gated"
	}
	return name
}

// rates are the rates in a row; empty for the simulator.
func (l *lab) rates(f figure, bare bool) string {
	switch {
	case !l.r.onGPU():
		return ""
	case bare && f.Algorithm > 0:
		return fmt.Sprintf("%8.1f %8.1f", f.Algorithm, f.Bus)
	case bare:
		return fmt.Sprintf("%8s %8s", "", "")
	case f.TFLOPS > 0:
		return fmt.Sprintf("%8.1f %8.1f %6.3f", f.TFLOPS, f.Total, f.Efficiency)
	}
	return fmt.Sprintf("%8s %8s %6s", "", "", "")
}

func (l *lab) best(list []figure) {
	for _, p := range l.programs {
		best := map[bool]float64{}
		for _, f := range list {
			if f.Program == p.Name && (f.Variant == variantEager || f.Variant == variantReplayed) {
				best[f.Gated] = max(best[f.Gated], f.Efficiency)
			}
		}
		name := ""
		if len(l.programs) > 1 {
			name = p.Name + ": "
		}
		fmt.Printf("%sefficiency, better of eager and replayed: %.3f, gated %.3f\n", name, best[false],
			best[true])
	}
}
