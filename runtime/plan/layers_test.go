package plan

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/runtime/ipc"
	"ovgen/verify/sim"
)

// layer is what each layer of a model has of its own.
type layer struct{ B, Bias, C *device.Buffer }

// layers makes the memory of n layers; layer i has the weights of seed i.
func (t *toy) layers(n int) (list []layer, err error) {
	for i := range uint64(n) {
		l := layer{t.B, t.Bias, t.C}
		err = errors.Join(err, replace(&l.B, t.driver), replace(&l.Bias, t.driver), replace(&l.C, t.driver))
		if err != nil {
			return nil, err
		}
		list = append(list, l)
		err = errors.Join(l.B.Set(bytesOf(inputs(i, 0, inner*columns))), l.Bias.Set(bytesOf(inputs(i, 99, columns))))
	}
	return list, err
}

// use makes a layer's memory that of the toy, whose a stays.
func (t *toy) use(l layer) { t.B, t.Bias, t.C = l.B, l.Bias, l.C }

// freeLayers frees all but what the toy has now.
func (t *toy) freeLayers(list ...layer) error {
	var errs []error
	for _, l := range list {
		if l.C != t.C {
			errs = append(errs, l.B.Close(), l.Bias.Close(), l.C.Close())
		}
	}
	return errors.Join(errs...)
}

// TestLayers shares one plan between the layers of a model, each run in each way while the ranks are
// late in turn. No Bind calls the driver, nothing travels, and each layer's graph is made once.
func TestLayers(t *testing.T) {
	const layers, rounds = 5, 3
	for _, x := range []struct {
		name   string
		graphs int // kept
		want   int // instantiated in all, with that of the first Bind
	}{
		{"a graph each", 0, 1 + layers},
		{"as many as layers and the first", 1 + layers, 1 + layers},
		{"too few, all by turns", layers - 1, 1 + rounds*layers},
		{"one", 1, 1 + rounds*layers},
	} {
		t.Run(x.name, func(t *testing.T) {
			counts := make([]*counted, 0, 3)
			wrap := func(d driver.Driver) driver.Driver {
				counts = append(counts, &counted{Driver: d})
				return counts[len(counts)-1]
			}
			inWorldOf(t, 3, sim.Config{Seed: 7, Delay: slow}, wrap, x.graphs, func(w *world) {
				toys := w.toys()
				w.all(toys, func(t *toy) error {
					first := layer{t.B, t.Bias, t.C}
					list, err := t.layers(layers)
					if err != nil {
						return err
					}
					count, before := counts[t.rank], t.counters()
					if err := t.A.Set(bytesOf(inputs(3, uint64(t.rank)+1, rows*inner))); err != nil {
						return err
					}
					for round := range rounds {
						for i, l := range list {
							t.use(l)
							calls := count.calls()
							if err := t.bind(w.Context()); err != nil {
								return err
							}
							if n := count.calls() - calls; n != 0 {
								return fmt.Errorf("round %d, layer %d: Bind made %d driver calls", round, i, n)
							}
							time.Sleep(time.Duration((t.rank+i)%3) * 50 * time.Microsecond)
							if err := errors.Join(t.plan.Run(w.Context()), t.compare(t.C, 3, uint64(i))); err != nil {
								return fmt.Errorf("round %d, layer %d: %w", round, i, err)
							}
						}
					}
					if count.instantiated != x.want {
						return fmt.Errorf("%d graphs were instantiated, want %d", count.instantiated, x.want)
					}
					if got := delta(before, t.counters()); got != (ipc.Counters{}) {
						return fmt.Errorf("%+v were exchanged", got)
					}
					return t.freeLayers(append(list, first)...)
				})
				w.all(toys, func(t *toy) error { return t.close(w.Context()) })
			})
		})
	}
}

// TestBindBehindRuns binds layer after layer while the runs of the ones before are in flight.
func TestBindBehindRuns(t *testing.T) {
	for seed := range uint64(5) {
		inWorld(t, 3, sim.Config{Seed: seed, Delay: slow}, nil, func(w *world) {
			toys := w.toys()
			w.all(toys, func(t *toy) error {
				first := layer{t.B, t.Bias, t.C}
				list, err := t.layers(4)
				if err != nil {
					return err
				}
				s, err := device.NewStream(t.driver, driver.Normal)
				if err != nil {
					return err
				}
				defer s.Close()
				if err := t.A.Set(bytesOf(inputs(3, uint64(t.rank)+1, rows*inner))); err != nil {
					return err
				}
				for _, l := range list {
					t.use(l)
					if err := errors.Join(t.bind(w.Context()), t.plan.Enqueue(s.Handle())); err != nil {
						return err
					}
				}
				if err := s.Synchronize(); err != nil {
					return err
				}
				for i, l := range list {
					if err := t.compare(l.C, 3, uint64(i)); err != nil {
						return fmt.Errorf("layer %d: %w", i, err)
					}
				}
				return t.freeLayers(append(list, first)...)
			})
			w.all(toys, func(t *toy) error { return t.close(w.Context()) })
		})
	}
}

// TestCapturedStaysValid captures each layer's run in a graph of the caller's and launches them after
// later Binds, by turns and mixed with the plan's own.
func TestCapturedStaysValid(t *testing.T) {
	inWorld(t, 3, sim.Config{Seed: 8, Delay: slow}, nil, func(w *world) {
		toys := w.toys()
		w.all(toys, func(t *toy) error {
			first := layer{t.B, t.Bias, t.C}
			list, err := t.layers(3)
			if err != nil {
				return err
			}
			s, err := device.NewStream(t.driver, driver.Normal)
			if err != nil {
				return err
			}
			defer s.Close()
			var captured []*device.Graph
			for _, l := range list {
				t.use(l)
				if err := t.bind(w.Context()); err != nil {
					return err
				}
				g, err := device.Capture(t.driver, s.Handle(), func() error { return t.plan.Enqueue(s.Handle()) })
				if err != nil {
					return err
				}
				defer g.Close()
				captured = append(captured, g)
			}
			for seed := range uint64(4) {
				if err := t.A.Set(bytesOf(inputs(seed, uint64(t.rank)+1, rows*inner))); err != nil {
					return err
				}
				for i := range captured {
					if err := captured[(i+int(seed))%len(captured)].Launch(s.Handle()); err != nil {
						return err
					}
				}
				if err := s.Synchronize(); err != nil {
					return err
				}
				for i, l := range list {
					if err := t.compare(l.C, seed, uint64(i)); err != nil {
						return fmt.Errorf("layer %d: %w", i, err)
					}
				}
				if err := errors.Join(t.plan.Run(w.Context()), t.compare(t.C, seed, 2)); err != nil {
					return err
				}
			}
			return t.freeLayers(append(list, first)...)
		})
		w.all(toys, func(t *toy) error { return t.close(w.Context()) })
	})
}
