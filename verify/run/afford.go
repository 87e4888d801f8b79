package run

import (
	"fmt"
	"time"

	"ovgen/verify/harness"
)

// The simulator multiplies about so many numbers a second, all ranks together, and may
// take so long for one shape unless -long insists.
const (
	simulatedRate  = 5e9
	simulatedLimit = 2 * time.Minute
)

// affordable refuses, before anything is made, shapes that take the simulator minutes.
func (r *rank) affordable() error {
	if r.onGPU() || r.o.long {
		return nil
	}
	for _, group := range r.o.groups() {
		p := group[0]
		for _, typ := range r.o.typesOf(p) {
			for _, s := range r.o.shapesOf(p, typ, false) {
				if err := r.o.afford(p, s, r.o.runs(len(group))); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// groups are the programs that are measured together.
func (o *options) groups() [][]*harness.Program {
	if o.command == "tune" {
		return families(o.programs)
	}
	return o.arguments
}

// runs is how often the work of one shape is done by default or, where fewer are asked for,
// by -iters: a user who asks for more expects it to take longer.
func (o *options) runs(programs int) int {
	rounds := warmUp + min(o.rounds, 16)
	switch o.command {
	case "bench":
		// bench also measures the products, whole and in chunks, gated and not.
		return (2*programs + 2) * 2 * rounds
	case "tune":
		return 2 * programs * rounds
	case "trace":
		return warmUp + 1
	case "layers": // two runs of each bucket, which the largest stands for
		return 2 * o.layers * o.buckets
	}
	iters := 5
	if o.iters > 0 {
		iters = min(o.iters, iters)
	}
	return programs * 2 * (2*iters + 1) // each run is compared with products made apart
}

// slowest is how much longer than usual a run may take in the simulator: many times the
// time of the largest on an idle machine. A -timeout stands as it is.
func (o *options) slowest() time.Duration {
	if o.timed {
		return 0
	}
	most := 0.0
	for _, p := range o.programs {
		for _, typ := range o.typesOf(&p) {
			for _, s := range o.shapesOf(&p, typ, false) {
				most = max(most, o.multiplications(&p, s))
			}
		}
	}
	const loaded = 50
	return time.Duration(min(loaded*most/simulatedRate, time.Hour.Seconds()) * float64(time.Second))
}

// multiplications is the number of one run, of all ranks together; zero where the shape is
// refused when it runs.
func (o *options) multiplications(p *harness.Program, s harness.Shape) float64 {
	x, err := p.Problem(s, o.ranks)
	if err != nil {
		return 0
	}
	work, _ := x.Work()
	all := float64(work)
	if !x.Reduces() { // every rank does all of it
		all *= float64(o.ranks)
	}
	return all
}

// afford estimates how long the simulator would take for so many runs of a shape.
func (o *options) afford(p *harness.Program, s harness.Shape, runs int) error {
	all := o.multiplications(p, s)
	seconds := all * float64(runs) / simulatedRate
	if seconds <= simulatedLimit.Seconds() {
		return nil
	}
	about := time.Duration(min(seconds, 1e9) * float64(time.Second)).Round(time.Minute)
	return fmt.Errorf("%s %s, %s %s: the simulator would take about %v for %.2g multiplications on %d ranks, %d times "+
		"(take a smaller shape or GPUs, or -long to insist)",
		o.command, p.Name, s, s.Type, about, all, o.ranks, runs)
}
