package run

import (
	"fmt"
	"slices"
	"time"

	"ovgen/runtime/driver"
	"ovgen/verify/harness"
)

// shapesOf are the whole shapes to run with a type: the shapes asked for, or the defaults of the schedule.
func (o *running) shapesOf(p *harness.Program, t driver.Type, onGPU bool) []harness.Shape {
	list := o.shapes
	if o.shaped != nil {
		list = o.shaped(p, onGPU)
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

// staging is the most that plans of this command line which are there together need in the arena: all share the staging
// of the largest, and each keeps the memory in which its packets land.
func (o *running) staging(onGPU bool) (bytes int64) {
	for _, p := range o.programs {
		for _, t := range o.typesOf(&p) {
			for _, s := range o.shapesOf(&p, t, onGPU) {
				bytes = max(bytes, p.Staging(s, o.ranks)+o.landings(s))
			}
		}
	}
	return bytes
}

// landings is the memory in which packets of all plans of a shape land that are there together.
func (o *running) landings(s harness.Shape) (most int64) {
	for _, group := range o.together {
		bytes := int64(0)
		for _, p := range group {
			if m, err := p.Memory(o.ranks, s.Fit(p, o.ranks)); err == nil {
				bytes += m.Packets
			}
		}
		most = max(most, bytes)
	}
	return most
}

// simulatedRate is the number of multiplications a second in the simulator, of all ranks together. simulatedLimit is
// the longest time that one shape may take there without -long.
const (
	simulatedRate  = 5e9
	simulatedLimit = 2 * time.Minute
)

// affordable refuses shapes that take the simulator minutes, before anything is made. The programs of a group are
// measured together. runs is the number of runs of one shape, given the number of programs: the default, or the number
// of -iters if that is smaller. A user who asks for more runs expects them to take longer.
func (o *running) affordable(r *rank, groups [][]*harness.Program, runs func(programs int) int) error {
	if r.onGPU() || o.long {
		return nil
	}
	for _, group := range groups {
		p := group[0]
		for _, typ := range o.typesOf(p) {
			for _, s := range o.shapesOf(p, typ, false) {
				if err := o.afford(p, s, runs(len(group))); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// words is the number of semaphore words of the plans of all shapes together.
func (o *running) words(onGPU bool) (words int64) {
	for _, p := range o.programs {
		for _, t := range o.typesOf(&p) {
			for _, s := range o.shapesOf(&p, t, onGPU) {
				if m, err := p.Memory(o.ranks, s); err == nil {
					words += m.Words
				}
			}
		}
	}
	return words
}

// slowest is the time beyond the usual that a run may take in the simulator: many times the time of the largest run on
// an idle machine. A given -timeout is not changed.
func (o *running) slowest() time.Duration {
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

// multiplications is the number of multiplications of one run, of all ranks together. It is zero for a shape that is
// refused when it runs.
func (o *running) multiplications(p *harness.Program, s harness.Shape) float64 {
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

// afford estimates the time that runs of a shape take in the simulator, and refuses a time that is too long.
func (o *running) afford(p *harness.Program, s harness.Shape, runs int) error {
	all := o.multiplications(p, s)
	seconds := all * float64(runs) / simulatedRate
	if seconds <= simulatedLimit.Seconds() {
		return nil
	}
	about := time.Duration(min(seconds, 1e9) * float64(time.Second)).Round(time.Minute)
	return fmt.Errorf("%s %s, %s %s: the simulator would take about %v for %.2g multiplications on %d ranks, %d times "+
		"(take a smaller shape or GPUs, or -long to insist)",
		o.name, p.Name, s, s.Type, about, all, o.ranks, runs)
}
