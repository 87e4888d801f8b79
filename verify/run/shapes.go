package run

import (
	"fmt"
	"slices"
	"time"

	"ovgen/runtime/driver"
	"ovgen/verify/harness"
)

// shapesOf are the shapes to run with a type, whole: the shapes asked for, or the defaults of the schedule.
func (o *options) shapesOf(p *harness.Program, t driver.Type, onGPU bool) []harness.Shape {
	list := o.shapes
	if o.command.name == "layers" {
		list = o.bucketShapes(onGPU)
	}
	if len(list) == 0 && o.command.name == "bench" {
		list = p.BenchShapes(o.ranks, onGPU)
	} else if len(list) == 0 {
		list = p.VerifyShapes(t, o.ranks, onGPU)
	}
	var typed []harness.Shape
	for _, s := range list {
		s = s.With(o.extents).Fit(p, o.ranks)
		s.Type = t
		if !slices.Contains(typed, s) {
			typed = append(typed, s)
		}
	}
	return typed
}

// staging is the most that the plans of this command line need of the arena.
func (o *options) staging(onGPU bool) (bytes int64) {
	for _, p := range o.programs {
		for _, t := range o.typesOf(&p) {
			for _, s := range o.shapesOf(&p, t, onGPU) {
				bytes = max(bytes, p.Staging(s, o.ranks))
			}
		}
	}
	return bytes
}

// simulatedRate is the multiplications a second of the simulator, all ranks together. simulatedLimit is the longest
// time that one shape may take there without -long.
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
				if err := r.o.afford(p, s, r.o.command.runs(r.o, len(group))); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// groups are the programs that are measured together.
func (o *options) groups() [][]*harness.Program {
	if o.command.name == "tune" {
		return families(o.programs)
	}
	return o.arguments
}

// Each command does the work of one shape so often by default or, where fewer are asked for, by -iters: a user who asks
// for more expects it to take longer.

func verifyRuns(o *options, programs int) int {
	iters := 5
	if o.iters > 0 {
		iters = min(o.iters, iters)
	}
	return programs * 2 * (2*iters + 1) // each run is compared with products made apart
}

// benchRuns counts the products too, whole and in chunks, gated and not.
func benchRuns(o *options, programs int) int { return (2*programs + 2) * 2 * o.fewRounds() }

func tuneRuns(o *options, programs int) int { return 2 * programs * o.fewRounds() }

func traceRuns(*options, int) int { return warmUp + 1 }

// layersRuns are two of each bucket, which the largest stands for.
func layersRuns(o *options, _ int) int { return 2 * o.layers * o.buckets }

func (o *options) fewRounds() int { return warmUp + min(o.rounds, 16) }

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

// afford estimates the time that runs of a shape take in the simulator, and refuses too long a time.
func (o *options) afford(p *harness.Program, s harness.Shape, runs int) error {
	all := o.multiplications(p, s)
	seconds := all * float64(runs) / simulatedRate
	if seconds <= simulatedLimit.Seconds() {
		return nil
	}
	about := time.Duration(min(seconds, 1e9) * float64(time.Second)).Round(time.Minute)
	return fmt.Errorf("%s %s, %s %s: the simulator would take about %v for %.2g multiplications on %d ranks, %d times "+
		"(take a smaller shape or GPUs, or -long to insist)",
		o.command.name, p.Name, s, s.Type, about, all, o.ranks, runs)
}
