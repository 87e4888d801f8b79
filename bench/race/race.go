// Package race times ways to do one thing on a GPU: each is a graph, and each round runs the graphs in another order. A
// figure is the median of the rounds.
package race

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"ovgen/runtime/driver"
)

// GPU is a device, and the stream of the timed work.
type GPU struct {
	driver.Driver
	Stream driver.Stream
}

// Open opens the first device.
func Open() (GPU, error) {
	backend, err := driver.Lookup("cuda")
	if err != nil {
		return GPU{}, err
	}
	d, err := backend.Open(0, 0)
	if err != nil {
		return GPU{}, err
	}
	s, err := d.StreamCreateWithPriority(driver.High)
	return GPU{d, s}, err
}

// Way is one way of doing the timed work. Enqueue gets the number of its launch in the graph.
type Way struct {
	Name    string
	Enqueue func(turn int) error
}

// Medians returns the time of one launch of each way, in us. Each graph has this many launches; two rounds warm the
// GPU, and the median is over the rounds behind them.
func (g GPU) Medians(list []Way, launches, rounds int) (medians []float64, err error) {
	graphs, us := make([]driver.GraphExec, len(list)), make([][]float64, len(list))
	for i, w := range list {
		if graphs[i], err = g.Graph(launches, w.Enqueue); err != nil {
			return nil, fmt.Errorf("%s: %w", w.Name, err)
		}
	}
	for round := range rounds + 2 {
		for _, i := range rand.Perm(len(list)) {
			time, err := g.replay(graphs[i])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", list[i].Name, err)
			}
			if round >= 2 {
				us[i] = append(us[i], time/float64(launches))
			}
		}
	}
	for i, times := range us {
		slices.Sort(times)
		medians = append(medians, times[len(times)/2])
		err = errors.Join(err, g.GraphExecDestroy(graphs[i]))
	}
	return medians, err
}

// Graph captures this many launches, one after another, and instantiates the graph.
func (g GPU) Graph(launches int, enqueue func(turn int) error) (driver.GraphExec, error) {
	if err := enqueue(0); err != nil { // loads it
		return 0, err
	}
	if err := g.StreamSynchronize(g.Stream); err != nil {
		return 0, err
	}
	if err := g.StreamBeginCapture(g.Stream); err != nil {
		return 0, err
	}
	for turn := range launches {
		if err := enqueue(turn); err != nil {
			return 0, err
		}
	}
	captured, err := g.StreamEndCapture(g.Stream)
	if err != nil {
		return 0, err
	}
	exec, err := g.GraphInstantiate(captured)
	return exec, errors.Join(err, g.GraphDestroy(captured))
}

// replay runs a graph once and returns its time in us.
func (g GPU) replay(graph driver.GraphExec) (us float64, err error) {
	var events [2]driver.Event
	for i := range events {
		if events[i], err = g.EventCreate(true); err != nil {
			return 0, err
		}
	}
	for i, step := range []func() error{
		func() error { return g.EventRecordWithFlags(events[0], g.Stream, 0) },
		func() error { return g.GraphLaunch(graph, g.Stream) },
		func() error { return g.EventRecordWithFlags(events[1], g.Stream, 0) },
		func() error { return g.StreamSynchronize(g.Stream) },
	} {
		if err := step(); err != nil {
			return 0, fmt.Errorf("step %d of a replay: %w", i, err)
		}
	}
	ms, err := g.EventElapsedTime(events[0], events[1])
	for _, e := range events {
		err = errors.Join(err, g.EventDestroy(e))
	}
	return 1000 * float64(ms), err
}
