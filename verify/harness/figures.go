package harness

import (
	"fmt"
	"slices"
)

// figure is what bench prints of one series.
type figure struct {
	Program    string  `json:"program"`
	Driver     string  `json:"driver"`
	Type       string  `json:"type"`
	M          int     `json:"m"`
	K          int     `json:"k"`
	N          int     `json:"n"`
	Ranks      int     `json:"ranks"`
	Variant    string  `json:"variant"`
	Gated      bool    `json:"gated"`
	Median     float64 `json:"ms"` // of the slowest rank
	Min        float64 `json:"min"`
	Max        float64 `json:"max"`
	TFLOPS     float64 `json:"tflops,omitempty"`     // of one rank: 2mnk / time
	Efficiency float64 `json:"efficiency,omitempty"` // pure / whole, both gated or both not
	Host       float64 `json:"host_us"`              // to enqueue it, median of the slowest rank
	Rounds     int     `json:"rounds"`
}

// figures are those of all series; the first two are the pure product's.
func (r *rank) figures(p *Program, s Shape, all []*series) []figure {
	pure := map[bool]float64{}
	var list []figure
	for _, x := range all {
		device, host := x.sorted()
		f := figure{Program: p.Name, Driver: r.drv.Name(), Type: s.Type.String(), M: s.M, K: s.K, N: s.N, Ranks: r.Size(),
			Variant: x.variant.name, Gated: x.gated, Median: median(device), Min: device[0], Max: device[len(device)-1],
			Host: median(host), Rounds: len(device)}
		if x.variant.name == variantPure {
			pure[x.gated] = f.Median
		}
		if x.variant.name != variantCopies && f.Median > 0 {
			f.TFLOPS = 2 * float64(s.M) * float64(s.N) * float64(s.K) / f.Median / 1e9
			f.Efficiency = pure[x.gated] / f.Median
		}
		list = append(list, f)
	}
	return list
}

// sorted are the times on the device and on the host, each in order.
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

// print shows one shape's figures, and the better of eager and replayed.
func (r *rank) print(p *Program, s Shape, all []*series) {
	list := r.figures(p, s, all)
	if r.o.json {
		for _, f := range list {
			printJSON(f)
		}
		return
	}
	fmt.Printf("\n%s %s %s, %d ranks: ms, median of the slowest rank over %d rounds\n", p.Name, s, s.Type, r.Size(), list[0].Rounds)
	fmt.Printf("%-26s %9s  %9s..%-9s %8s %6s %9s\n", "", "ms", "min", "max", "TFLOP/s", "eff", "host us")
	best := map[bool]float64{}
	for i, f := range list {
		name := f.Variant
		if f.Gated {
			name += ", gated"
		}
		fmt.Printf("%-26s %9.4f  %9.4f..%-9.4f", name, f.Median, f.Min, f.Max)
		if f.TFLOPS > 0 {
			fmt.Printf(" %8.1f %6.3f", f.TFLOPS, f.Efficiency)
		} else {
			fmt.Printf(" %8s %6s", "", "")
		}
		fmt.Printf(" %9.1f\n", f.Host)
		if v := all[i].variant; v.name == variantEager || v.name == variantReplayed {
			best[f.Gated] = max(best[f.Gated], f.Efficiency)
		}
	}
	fmt.Printf("efficiency, better of eager and replayed: %.3f, gated %.3f\n", best[false], best[true])
}
