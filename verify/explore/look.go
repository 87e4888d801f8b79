package explore

import (
	"fmt"

	"ovgen/schedule/hostir"
)

// Refusal is a violation that the explorer found in a program.
type Refusal struct {
	Program      string
	Ranks, Hosts int  // Hosts is 0 where the program is for one
	Mode         Mode // of the first run
	Violation
}

// Error is "explore NAME for D = 2 (eager): no race: at once: ...".
func (r *Refusal) Error() string {
	on := fmt.Sprintf("D = %d", r.Ranks)
	if r.Hosts > 0 {
		on += fmt.Sprintf(" on %d hosts", r.Hosts)
	}
	return fmt.Sprintf("explore %s for %s (%s): %s: %s", r.Program, on, r.Mode, r.Property, r.Text)
}

// Small explores a program within these bounds. The operations of all ranks in a run, times the square of the ranks,
// are bounded, since the orders of an operation grow with the operations of its peers; so are the elements of all
// tensors, since each has a value, and the states at which the orders of two runs branch. All are counts, so that Small
// explores the same on every machine.
const (
	smallOperations = 800
	smallElements   = 1 << 18
	smallStates     = 1000
)

// smallModes are the pairs of modes in which Small lets two runs follow each other.
var smallModes = [][]Mode{{Eager, Eager}, {Captured, Captured}, {InOrder, InOrder}}

// Small explores a program on each of these numbers of ranks, in ascending order, and ends at the first number for
// which the program is too large. It returns the numbers that it explored to the end. An error is a *Refusal, or says
// that the program can't be explored. Without replay it leaves out graphs.
func Small(p *hostir.Program, ranks []int, replay bool) (explored []int, err error) {
	for _, d := range ranks {
		small, err := smallOn(p, d, replay)
		if err != nil || !small {
			return explored, err
		}
		explored = append(explored, d)
	}
	return explored, nil
}

// smallOn explores a program on a number of ranks; small is false where it is too large.
func smallOn(p *hostir.Program, ranks int, replay bool) (small bool, err error) {
	hosts := []int{0}
	if p.OverHosts() {
		hosts = p.HostsOf(ranks)
	}
	for _, h := range hosts {
		shape := ShapeOf(p, ranks)
		shape.Hosts = h
		lists, err := shape.Unroll(p)
		if err != nil {
			return false, fmt.Errorf("explore %s for D = %d: %w", p.Name, ranks, err)
		}
		operations := 0
		for _, list := range lists {
			operations += len(list)
		}
		if operations*ranks*ranks > smallOperations || meaningOf(p.Schedule, shape, 0).elements() > smallElements {
			return false, nil
		}
		sys, err := Of(p, shape, lists)
		if err != nil {
			return false, fmt.Errorf("explore %s for D = %d: %w", p.Name, ranks, err)
		}
		sys.Limit = smallStates
		for _, modes := range smallModes {
			if !replay && modes[0] == Captured {
				continue
			}
			v := sys.With(lists, modes...).Look()
			if len(v.Violations) > 0 {
				return false, &Refusal{Program: p.Name, Ranks: ranks, Hosts: h, Mode: modes[0],
					Violation: v.Violations[0]}
			}
			if !v.Complete {
				return false, nil
			}
		}
	}
	return true, nil
}

// Look is the verdict of all searches up to the first violation. One search takes every order. Where there are several
// hosts, one takes exchanges that do not buffer; where runs are graphs, one takes one operation of a rank at a time.
func (s System) Look() Verdict {
	s.First = true
	searches := []func() Verdict{func() Verdict { return Explore(s) }}
	if s.Hosts > 2 { // of two hosts, each rank gets from the rank that it sends to
		unbuffered := s
		unbuffered.Unbuffered = true
		searches = append(searches, func() Verdict { return Explore(unbuffered) })
	}
	if s.Modes[0] == Captured {
		searches = append(searches, func() Verdict { return ExploreSerial(s) })
	}
	for _, search := range searches {
		if v := search(); len(v.Violations) > 0 || !v.Complete {
			return v
		}
	}
	return Verdict{Complete: true}
}
