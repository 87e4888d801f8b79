package plan

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/verify/sim"
)

// Puts that are signalled by stream memory operations need NVLink to every peer.
func TestPutsNeedNVLink(t *testing.T) {
	puts := *toyProgram
	puts.Puts = true
	apart := sim.Config{NVLink: func(from, to int) bool { return from+to != 2 }} // ranks 0 and 2
	inWorld(t, 3, apart, nil, func(w *world) {
		w.each(func(r int) {
			_, err := newToy(w.Context(), w.groups[r], &puts, "small")
			var link *LinkError
			if !errors.As(err, &link) || link.Ranks != [2]int{0, 2} ||
				!strings.Contains(err.Error(), "let kernels signal") {
				w.Errorf("rank %d: %v, want that there is no NVLink", r, err)
			}
		})
		toys := w.toys() // that get
		w.all(toys, func(t *toy) error {
			return errors.Join(t.fill(1), t.plan.Run(w.Context()), t.check(t.C, 1), t.close(w.Context()))
		})
	})
	inWorld(t, 3, sim.Config{}, nil, func(w *world) {
		toys := w.toysOf(&puts)
		w.all(toys, func(t *toy) error { return t.close(w.Context()) })
	})
}

// A kernel that was made for other GPUs is refused before anything is loaded.
func TestKernelsNeedTheirGPU(t *testing.T) {
	fine := []driver.Kernel{{Name: "any"}, {Name: "its", Only: 90}, {Name: "since", From: 89}}
	for _, test := range []struct {
		other driver.Kernel
		later bool
		says  string
	}{
		{driver.Kernel{Name: "other", Only: 100}, false, "capability 10.0 alone, and this one has 9.0"},
		{driver.Kernel{Name: "other", From: 100}, true, "capability 10.0 or later, and this one has 9.0"},
	} {
		program := *toyProgram
		program.Code = &driver.Code{Name: "toy", Kernels: append(slices.Clone(fine), test.other)}
		inWorld(t, 1, sim.Config{}, nil, func(w *world) {
			w.each(func(r int) {
				b := Build(w.groups[r], &program, "kernels")
				for _, k := range program.Code.Kernels {
					b.Kernel(k.Name)
				}
				_, err := b.Finish(w.Context(), func(*Queue) {})
				if wrong := new(CapabilityError); !errors.As(err, &wrong) ||
					*wrong != (CapabilityError{"toy", "other", 100, 90, test.later}) ||
					!strings.Contains(err.Error(), test.says) {
					w.Errorf("rank %d: %v", r, err)
				}
			})
		})
	}
}

// small is a driver of a device with a few multiprocessors.
type small struct{ driver.Driver }

func (s *small) Properties() driver.Properties {
	p := s.Driver.Properties()
	p.Multiprocessors = MostBlocks - 1
	return p
}

// A kernel whose blocks signal each for itself needs a device with room for all its blocks, and semaphores whose blocks
// have their words at equal distances.
func TestBlocksNeedRoom(t *testing.T) {
	byBlocks := *toyProgram
	byBlocks.Code = &driver.Code{Name: "toy", Kernels: []driver.Kernel{{Name: "one", Multiprocessors: MostBlocks}}}
	finish := func(w *world, r int, prog *Program, issue func(q *Queue, x Signals)) error {
		b := Build(w.groups[r], prog, "blocks")
		x := Signals{PrePost: b.ByBlocks(b.Semaphore("one")), PreWait: b.ByBlocks(b.Semaphores("several", 2)[0]),
			From: EveryPeer}
		p, err := b.Finish(w.Context(), func(q *Queue) { issue(q, x) })
		if err == nil {
			err = p.Close(w.Context())
		}
		return err
	}
	inWorld(t, 2, sim.Config{}, func(d driver.Driver) driver.Driver { return &small{d} }, func(w *world) {
		w.each(func(r int) {
			var short *BlocksError
			err := finish(w, r, &byBlocks, func(*Queue, Signals) {})
			if !errors.As(err, &short) || short.Have != MostBlocks-1 {
				w.Errorf("rank %d: %v, want that the device is too small", r, err)
			}
		})
	})
	inWorld(t, 2, sim.Config{}, nil, func(w *world) {
		w.each(func(r int) {
			if err := finish(w, r, toyProgram, func(*Queue, Signals) {}); err != nil {
				w.Errorf("rank %d: %v", r, err)
			}
			err := finish(w, r, toyProgram, func(q *Queue, x Signals) { q.StepWords(q.Main(), "shot", x) })
			if err == nil || !strings.Contains(err.Error(), "other words between them") {
				w.Errorf("rank %d: %v, want that the strides differ", r, err)
			}
			err = finish(w, r, toyProgram, func(q *Queue, x Signals) {
				x.PreWait = nil
				if words := q.StepWords(q.Main(), "shot", x); words.Stride != 2 {
					w.Errorf("rank %d: a stride of %d words, want 2", r, words.Stride)
				}
			})
			if err != nil {
				w.Errorf("rank %d: %v", r, err)
			}
		})
	})
}
