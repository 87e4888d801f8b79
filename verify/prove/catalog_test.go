package prove_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
	"ovgen/verify/prove"
	"ovgen/verify/sampling"
)

var schedules = map[string]schedule.Schedule{
	"AllGatherMatmul":        catalog.AllGatherMatmul,
	"AllGatherLinear":        catalog.AllGatherLinear,
	"AllGatherLinearKernels": catalog.AllGatherLinearKernels,
}

func program(t testing.TB, name string, s schedule.Schedule) *hostir.Program {
	t.Helper()
	p, err := lower.Lower(name, s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// lossy are schedules of the catalog in which a copy waits for a product that it does not
// need: slow on purpose, or, as nvFuser has it, with fewer streams than steps.
var lossy = map[string]bool{"AllGatherLinearStartInLoop": true, "AllGatherLinearCollective8": true}

// The catalog is proven, safe eager and captured, and loses no overlap where it does not mean to: on 2 to 4 ranks or,
// where OVGEN_SOAK is set, on 1 to 8, for which ovgen diff proves it in make check.
func TestCatalog(t *testing.T) {
	options := prove.Options{Ranks: []int{2, 3, 4}}
	if sampling.All() {
		options = prove.Options{}
	}
	for _, c := range catalog.All() {
		t.Run(c.Name, func(t *testing.T) {
			r, err := prove.Schedule(t.Context(), program(t, c.Name, c.Schedule), options)
			if err != nil {
				t.Fatal(err)
			}
			t.Log(r)
			if !r.Replay() {
				t.Error("not serial-safe when captured")
			}
			warned := false
			for _, size := range r.Sizes {
				for _, w := range size.Warnings {
					if warned = true; !lossy[c.Name] {
						t.Error(w)
					}
				}
			}
			if lossy[c.Name] && !warned {
				t.Error("no overlap is lost")
			}
			if ring := strings.Contains(c.Name, "Ring") || c.Name == "Permutation"; r.Ring() != ring {
				t.Errorf("it is among neighbours alone: %t, want %t", r.Ring(), ring)
			}
		})
	}
}

// A rank alone, and one more run than is needed.
func TestSizes(t *testing.T) {
	sampling.Test(t, 0, 3)
	for _, c := range catalog.All() {
		r, err := prove.Schedule(t.Context(), program(t, c.Name, c.Schedule),
			prove.Options{Ranks: []int{1, 9}, Runs: 3})
		if err != nil || r.Sizes[0].Ranks != 1 || r.Sizes[1].Runs != 3 || !r.Replay() {
			t.Errorf("%s: %v: %v", c.Name, r, err)
		}
	}
}

// A rack of 72.
func TestRack(t *testing.T) {
	sampling.Test(t, 2, 3)
	for name, s := range map[string]schedule.Schedule{"AllGatherLinear": catalog.AllGatherLinear,
		"LinearReduceScatterRing": catalog.LinearReduceScatterRing, "AllReduceOneShot": catalog.AllReduceOneShot} {
		r, err := prove.Schedule(t.Context(), program(t, name, s), prove.Options{Ranks: []int{72}})
		if err != nil {
			t.Error(err)
		}
		t.Log(r)
	}
}

// Every choice that is lowered is proven; signals in the step with a stream each for
// the steps are, from three ranks on, not serial-safe when captured.
func TestEveryChoice(t *testing.T) {
	for i := range 1 << 4 {
		for _, streams := range []int{0, 1, 3} {
			w := schedule.Naive{Copied: i&1 != 0, SignalsInStep: i&2 != 0, WithStep: i&4 != 0,
				StartInLoop: i&8 != 0, Streams: streams}
			way := schedule.Way(w)
			if !w.Copied && !w.SignalsInStep && !w.StartInLoop {
				way = schedule.Pull{WithStep: w.WithStep, Streams: streams}
			}
			r, err := prove.Schedule(t.Context(), program(t, "X", scheduletest.By(catalog.AllGatherLinear, "A", way)),
				prove.Options{Ranks: []int{2, 3, 5}})
			if err != nil {
				t.Errorf("%+v: %v", w, err)
				continue
			}
			unordered := w.SignalsInStep && w.WithStep && !w.StartInLoop && streams != 1
			for _, size := range r.Sizes {
				if safe := size.Captured == nil; safe != (!unordered || size.Ranks == 2) {
					t.Errorf("%+v: D = %d: safe when captured: %t", w, size.Ranks, safe)
				}
			}
		}
	}
}

// Nothing in a program of the catalog is superfluous: without any one of its copies,
// products, sums, posts or waits it is refused.
func TestEachNodeIsNeeded(t *testing.T) {
	sampling.Test(t, 1, 3)
	for _, c := range catalog.All() {
		t.Run(c.Name, func(t *testing.T) {
			p := program(t, c.Name, c.Schedule)
			body := p.Body
			for i := range count(body) {
				left := ""
				at := 0
				p.Body = hostir.MapSteps(body, func(s hostir.Step) []hostir.Node {
					from := at
					if at += len(parts(s)); i < from || i >= at {
						return []hostir.Node{s}
					}
					left = hostir.PrintNode(s)
					return lacking(s, i-from)
				})
				_, err := prove.Schedule(t.Context(), p, prove.Options{Ranks: []int{1, 4}})
				var wrong *prove.Counterexample
				if !errors.As(err, &wrong) {
					t.Errorf("proven without a part of %s", left)
				}
			}
		})
	}
}

// parts are the posts, the waits and the work of a step, each as a step.
func parts(s hostir.Step) (list []hostir.Node) {
	if !s.Fused() {
		return []hostir.Node{s}
	}
	signals := func(words []hostir.Word) {
		for _, w := range words {
			by := hostir.PostKernel
			if w.Wait {
				by = hostir.WaitKernel
			}
			list = append(list, hostir.Step{Stream: s.Stream, Pre: []hostir.Word{w}, By: by})
		}
	}
	signals(s.Pre)
	work := s
	work.Pre, work.Post, work.ByBlocks = nil, nil, false
	list = append(list, work)
	signals(s.Post)
	return list
}

// lacking is a step without one of its parts. A gather, tiles, a scatter and packets keep the signals that are left,
// without which there are none.
func lacking(s hostir.Step, part int) []hostir.Node {
	at := part - len(s.Pre)
	switch {
	case s.Kind() != hostir.GatherKind && hostir.Tiled(s.Do) == nil && !s.Kind().Lands() || at == 0:
		return slices.Delete(parts(s), part, part+1)
	case at < 0:
		s.Pre = slices.Delete(slices.Clone(s.Pre), part, part+1)
	default:
		s.Post = slices.Delete(slices.Clone(s.Post), at-1, at)
	}
	return []hostir.Node{s}
}

func count(body []hostir.Node) (n int) {
	hostir.Steps(body, func(s hostir.Step) { n += len(parts(s)) })
	return n
}
