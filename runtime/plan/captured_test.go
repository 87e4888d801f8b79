package plan

import (
	"errors"
	"fmt"
	"testing"

	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/verify/sim"
)

// externals counts the waits and records of external events, which are nodes of a captured graph.
type externals struct {
	driver.Driver
	waits, records int
}

func (e *externals) StreamWaitEvent(s driver.Stream, x driver.Event, f driver.EventFlags) error {
	if f&driver.External != 0 {
		e.waits++
	}
	return e.Driver.StreamWaitEvent(s, x, f)
}

func (e *externals) EventRecordWithFlags(x driver.Event, s driver.Stream, f driver.EventFlags) error {
	if f&driver.External != 0 {
		e.records++
	}
	return e.Driver.EventRecordWithFlags(x, s, f)
}

// edited is such a driver that can change the order of a graph in the making.
type edited struct {
	*externals
	driver.Captures
}

// Runs that one graph holds, of two plans and on two streams, are in the group's sequence among each
// other, and the graph's launches are among eager runs on another stream. The graph waits for the
// group's order once and records it once, where the driver can change its edges.
func TestRunsInOneGraph(t *testing.T) {
	for _, c := range []struct {
		name  string
		nodes int // that wait, and that record
		of    func(e *externals) driver.Driver
	}{
		{"edges", 1, func(e *externals) driver.Driver { return &edited{e, e.Driver.(driver.Captures)} }},
		{"nodes", 4, func(e *externals) driver.Driver { return e }},
	} {
		for seed := range uint64(6) {
			t.Run(fmt.Sprintf("%s, seed %d", c.name, seed), func(t *testing.T) {
				var counts []*externals // by rank
				wrap := func(d driver.Driver) driver.Driver {
					counts = append(counts, &externals{Driver: d})
					return c.of(counts[len(counts)-1])
				}
				inWorld(t, 3, sim.Config{Seed: seed, Delay: slow, FreeCalls: true}, wrap, func(w *world) {
					plans := [2][]*toy{w.toys(), w.toys()}
					w.each(func(r int) {
						if err := inOneGraph(plans[0][r], plans[1][r]); err != nil {
							w.Errorf("rank %d: %v", r, err)
						}
						if n := counts[r]; n.waits != c.nodes || n.records != c.nodes {
							w.Errorf("rank %d: the graph has %d external waits and %d records, want %d of each", r,
								n.waits, n.records, c.nodes)
						}
					})
					for _, toys := range plans {
						w.all(toys, func(t *toy) error { return t.close(w.Context()) })
					}
				})
			})
		}
	}
}

func inOneGraph(one, two *toy) error {
	var s [2]*device.Stream
	var joined [2]*device.Event
	for i := range s {
		var err, failed error
		s[i], err = device.NewStream(one.driver, driver.Normal)
		joined[i], failed = device.NewEvent(one.driver, false)
		if err := errors.Join(err, failed, []*toy{one, two}[i].fill(uint64(i))); err != nil {
			return err
		}
		defer s[i].Close()
		defer joined[i].Close()
	}
	enqueue := func(t *toy, i int) error { return t.plan.Enqueue(s[i].Handle()) }
	g, err := device.Capture(one.driver, s[0].Handle(), func() error {
		return errors.Join(enqueue(one, 0), joined[0].Record(s[0]), s[1].Wait(joined[0]), enqueue(two, 1),
			joined[1].Record(s[1]), enqueue(one, 0), s[0].Wait(joined[1]), enqueue(one, 0))
	})
	if err != nil {
		return err
	}
	defer g.Close()
	for range 3 {
		if err := errors.Join(enqueue(two, 1), g.Launch(s[0].Handle()), enqueue(two, 1)); err != nil {
			return err
		}
	}
	return errors.Join(s[0].Synchronize(), s[1].Synchronize(), one.plan.Group().Err(), one.check(one.C, 0),
		two.check(two.C, 1))
}

// TestModelInOneGraph captures every layer of a model in one graph, as a server does. Each run there follows the one
// before in many ways, and a walk along all of them would not end.
func TestModelInOneGraph(t *testing.T) {
	const layers = 24
	inWorld(t, 2, sim.Config{Seed: 14}, nil, func(w *world) {
		toys := w.toys()
		w.all(toys, func(t *toy) error {
			first := layer{t.B, t.Bias, t.C}
			list, err := t.layers(layers)
			if err != nil {
				return err
			}
			s, err := device.NewStream(t.driver, driver.Normal)
			if err != nil {
				return err
			}
			defer s.Close()
			g, err := device.Capture(t.driver, s.Handle(), func() error {
				for _, l := range list {
					t.use(l)
					if err := errors.Join(t.bind(w.Context()), t.plan.Enqueue(s.Handle())); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
			defer g.Close()
			for seed := range uint64(2) {
				err := errors.Join(t.A.Set(bytesOf(inputs(seed, uint64(t.rank)+1, rows*inner))), g.Launch(s.Handle()),
					s.Synchronize())
				if err != nil {
					return err
				}
				for i, l := range list {
					if err := t.compare(l.C, seed, uint64(i)); err != nil {
						return fmt.Errorf("layer %d: %w", i, err)
					}
				}
			}
			return t.freeLayers(append(list, first)...)
		})
		w.all(toys, func(t *toy) error { return t.close(w.Context()) })
	})
}
