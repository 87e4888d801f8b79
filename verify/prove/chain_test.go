package prove_test

import (
	"errors"
	"slices"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
	"ovgen/verify/prove"
	"ovgen/verify/sampling"
)

// The moves of a chain are proven, whichever of them NCCL, the copy engine and one kernel do, and whether its sum is
// for all ranks or for each rank's rows.
func TestChainsByNCCL(t *testing.T) {
	bias := schedule.Tensor{Name: "Bias", Axes: []schedule.Axis{schedule.Dim(schedule.N)}}
	own, all := catalog.BlockBehindAttention, scheduletest.Clone(catalog.BlockBehindAttention)
	last, c := &all.Ops[len(all.Ops)-1], &all.Tensors[len(all.Tensors)-1]
	last.Then, c.Axes[0].Outer = []schedule.Func{schedule.Bias(bias.Name)}, nil
	all.Tensors = append(all.Tensors, bias)
	for _, of := range []schedule.Schedule{own, all} {
		lowered := 0
		for _, s := range scheduletest.ByEach(of, []string{"R", "X", "C"}, nil, schedule.NCCL{}, schedule.Shot{}) {
			p, err := lower.Lower("X", s)
			if err != nil {
				continue // Shot gathers nothing
			}
			lowered++
			if _, err := prove.Schedule(t.Context(), p, prove.Options{Ranks: []int{1, 2, 3}}); err != nil {
				t.Errorf("%v: %v", s.Moves, err)
			}
		}
		if want := 3 * 2 * 3; lowered != want {
			t.Errorf("%d are lowered, want %d", lowered, want)
		}
	}
}

// A kernel that waits for peers may stand behind rows that the copy engine gathers: whether sums or rows meet in one,
// in the stage of the gather or in a later one, each circle of waits is broken by a post that comes before.
func TestKernelsBehindGathers(t *testing.T) {
	all := []schedule.Schedule{
		scheduletest.By(catalog.LlamaLayer, "Y", schedule.GatherShot{}),
		scheduletest.By(catalog.LlamaLayer, "Y", schedule.PushGather{}),
	}
	for _, w := range []schedule.Way{schedule.Shot{}, schedule.Shot{Signals: schedule.MemOps}, schedule.PushShot{}} {
		both := scheduletest.By(catalog.LlamaLayer, "R", w)
		both.Moves = append(both.Moves, schedule.Move{Of: "C", Way: w})
		all = append(all, both)
	}
	for _, c := range []schedule.Way{schedule.Shot{}, schedule.Shot{Signals: schedule.MemOps}, schedule.PushShot{},
		schedule.PushShot{Words: true}} {
		for _, a := range []schedule.Way{nil, schedule.PushGather{}, schedule.GatherShot{}} {
			s := scheduletest.By(catalog.GatedMLP, "C", c)
			s.Moves = append(s.Moves, schedule.Move{Of: "A", Way: a})
			all = append(all, s)
		}
	}
	for _, s := range all {
		p, err := lower.Lower("X", s)
		if err != nil {
			t.Errorf("%v: %v", s.Moves, err)
			continue
		}
		if _, err := prove.Schedule(t.Context(), p, prove.Options{Ranks: []int{1, 2, 3, 4, 5, 6, 8}}); err != nil {
			t.Errorf("%v: %v", s.Moves, err)
		}
	}
}

// decode is a layer of which every rank has all rows: both of its sums go to all.
func decode(r, c schedule.Way) schedule.Schedule {
	s := scheduletest.Clone(catalog.LlamaLayer)
	for i := range s.Tensors {
		if n := s.Tensors[i].Name; n == "A" || n == "C" {
			s.Tensors[i].Axes[0].Outer = nil
		}
	}
	s.Moves = []schedule.Move{{Of: "R", Way: r}, {Of: "C", Way: c}}
	return s
}

// Sums for all ranks in a chain may be made in two shots, by any carrier, beside other ways and behind a gather; of a
// program without one of their words one property fails.
func TestTwoShotsInAChain(t *testing.T) {
	gathered := scheduletest.Clone(catalog.GatedMLP)
	for i := range gathered.Tensors {
		if n := gathered.Tensors[i].Name; n == "C" || n == "Residual" {
			gathered.Tensors[i].Axes[0].Outer = nil
		}
	}
	var all []schedule.Schedule
	for _, by := range []schedule.StepCarrier{schedule.OneKernel, schedule.CopyEngine, schedule.KernelCopies,
		schedule.KernelSignals, schedule.Kernels} {
		w := schedule.TwoShot{By: by}
		all = append(all, decode(w, w), decode(nil, w), decode(w, schedule.PushShot{}),
			scheduletest.By(gathered, "C", w))
	}
	for i, s := range all {
		ranks := []int{1, 2, 3}
		if i < 4 {
			ranks = []int{1, 2, 3, 5, 8}
		}
		p, err := lower.Lower("X", s)
		if err != nil {
			t.Errorf("%v: %v", s.Moves, err)
			continue
		}
		if _, err := prove.Schedule(t.Context(), p, prove.Options{Ranks: ranks}); err != nil {
			t.Errorf("%v: %v", s.Moves, err)
		}
	}
	p, err := lower.Lower("X", decode(nil, schedule.TwoShot{By: schedule.CopyEngine}))
	if err != nil {
		t.Fatal(err)
	}
	for name, property := range map[string]prove.Property{"Cready": prove.Race, "Csummed": prove.Race,
		"Cread": prove.Window} {
		without := *p
		without.Body = hostir.Without(p.Body, name)
		without.Semaphores = slices.DeleteFunc(slices.Clone(p.Semaphores),
			func(s hostir.Semaphore) bool { return s.Name == name })
		_, err := prove.Schedule(t.Context(), &without, prove.Options{Ranks: []int{2}})
		if c := (*prove.Counterexample)(nil); !errors.As(err, &c) || c.Property != property {
			t.Errorf("without %s: %v, want %q", name, err, property)
		}
	}
}

// A chain pulls rows one rank's after the other, or all of them before its products, whatever its sums go by.
func TestPullsInAChain(t *testing.T) {
	sampling.Test(t, 2, 3)
	for _, c := range []schedule.Way{nil, schedule.Shot{}, schedule.PushShot{}, schedule.NCCL{}} {
		for _, w := range []schedule.Pull{{}, {Once: true}, {Once: true, By: schedule.Kernels},
			{By: schedule.KernelCopies}} {
			gated := scheduletest.By(catalog.GatedMLP, "A", w)
			llama := scheduletest.By(catalog.LlamaLayer, "Y", w)
			gated.Moves = append(gated.Moves, schedule.Move{Of: "C", Way: c})
			llama.Moves = append(llama.Moves, schedule.Move{Of: "C", Way: c}, schedule.Move{Of: "R", Way: c})
			for _, s := range []schedule.Schedule{gated, llama} {
				p, err := lower.Lower("X", s)
				if err != nil {
					t.Errorf("%v: %v", s.Moves, err)
					continue
				}
				if _, err := prove.Schedule(t.Context(), p, prove.Options{Ranks: []int{1, 2, 3, 4, 8}}); err != nil {
					t.Errorf("%v: %v", s.Moves, err)
				}
			}
		}
	}
}

// A chain whose moves are carried by one kernel, by kernels and by the copy engine is proven; without a signal of
// one of them it is not.
func TestMovesOfAChain(t *testing.T) {
	for _, moves := range [][]schedule.Move{
		{{Of: "R", Way: schedule.Shot{}}, {Of: "X", Way: schedule.Pull{By: schedule.KernelCopies}},
			{Of: "C", Way: schedule.Slots{By: schedule.KernelSignals}}},
		{{Of: "R", Way: schedule.Shot{Signals: schedule.Kernels}}, {Of: "X", Way: schedule.Pull{}},
			{Of: "C", Way: schedule.Slots{By: schedule.Kernels}}},
		{{Of: "R", Way: schedule.Shot{Signals: schedule.MemOps}}, {Of: "X", Way: schedule.Pull{By: schedule.Kernels}}},
	} {
		s := scheduletest.Clone(catalog.BlockBehindAttention)
		s.Moves = moves
		p, err := lower.Lower("X", s)
		if err != nil {
			t.Fatalf("%v: %v", moves, err)
		}
		if _, err := prove.Schedule(t.Context(), p, prove.Options{Ranks: []int{1, 2, 3}}); err != nil {
			t.Errorf("%v: %v", moves, err)
		}
		body, semaphores := p.Body, p.Semaphores
		for name, property := range map[string]prove.Property{"Rready": prove.Window, "Xready": prove.Race,
			"Carrived": prove.Reset} {
			p.Body = hostir.Without(body, name)
			p.Semaphores = slices.DeleteFunc(slices.Clone(semaphores),
				func(s hostir.Semaphore) bool { return s.Name == name })
			_, err := prove.Schedule(t.Context(), p, prove.Options{Ranks: []int{2}})
			if c := (*prove.Counterexample)(nil); !errors.As(err, &c) || c.Property != property {
				t.Errorf("%v without %s: %v, want %q", moves, name, err, property)
			}
		}
	}
}
