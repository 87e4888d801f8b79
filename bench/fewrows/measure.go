package main

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"ovgen/runtime/driver"
	"ovgen/verify/reference"
)

// timed is something that takes a place in the table: its graph, and the time of a launch in each round, in us.
type timed struct {
	name  string
	graph driver.GraphExec
	us    []float64
}

// median of the rounds.
func (t *timed) median() float64 { return t.us[len(t.us)/2] }

// measure lets a line be printed for each weight and number of rows, of bf16 or of eight bits. Beside a weight of eight
// bits cuBLASLt has rows of eight too, with one scale each and with scales of rows.
func (g *gpu) measure(of driver.Type, line func(p product, workspace driver.Ptr) error) error {
	fmt.Printf("bf16 by %s: us a launch in a graph, median of %d rounds (over the read of the weight, over cuBLASLt)\n",
		cmp.Or(of, driver.BF16), *rounds)
	workspace, err := g.MemAlloc(driver.WorkspaceBytes)
	if err != nil {
		return err
	}
	for _, weight := range strings.Split(*weights, ",") {
		n, k, _ := strings.Cut(weight, "x")
		columns, err := strconv.Atoi(n)
		depth, failed := strconv.Atoi(k)
		if err := errors.Join(err, failed); err != nil {
			return err
		}
		const cold = 1 << 30 // bytes of weights, of which a cache keeps few
		p, err := g.product(driver.BF16, of, columns, depth, cold)
		if err != nil {
			return err
		}
		next := func() float32 { return (2*rand.Float32() - 1) / 16 }
		if err := g.fill(p.scale, driver.FP32, numbers(max(columns, most), func() float32 { return 1 })); err != nil {
			return err
		}
		if err := g.fill(p.a, p.Type, numbers(most*depth, next)); err != nil {
			return err
		}
		one := reference.Encode(p.Operand(), numbers(columns*depth, next))
		for turn := range p.weights {
			if err := g.MemcpyHtoD(p.weight(turn), one); err != nil {
				return err
			}
		}
		for _, count := range strings.Split(*counts, ",") {
			if p.M, err = strconv.Atoi(count); err != nil {
				return err
			}
			if err := line(p, workspace); err != nil {
				return fmt.Errorf("%s, %d rows: %w", weight, p.M, err)
			}
		}
		if err := g.free(p); err != nil {
			return err
		}
	}
	return nil
}

// line measures a product by every variant.
func (g *gpu) line(p product, workspace driver.Ptr) error {
	list := []*timed{{name: "read"}}
	enqueue := []func(turn int) error{func(turn int) error { return g.read(0, p, turn) }}
	var products []driver.Product
	for _, name := range map[bool][]string{false: {"cuBLASLt"}, true: {"cuBLASLt-one", "cuBLASLt-rows"}}[p.Of != 0] {
		d := p.MatmulDesc
		d.RowScales = name == "cuBLASLt-rows"
		m, err := g.MatmulCreate(d)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		list, products = append(list, &timed{name: name}), append(products, m)
		enqueue = append(enqueue, func(turn int) error {
			return g.Matmul(m, driver.Operands{C: p.c, A: p.a, B: p.weight(turn), ScaleA: p.scale, ScaleB: p.scale,
				Workspace: workspace}, g.stream)
		})
	}
	for i, name := range g.names {
		if i > 0 {
			list = append(list, &timed{name: "read-" + name})
			enqueue = append(enqueue, func(turn int) error { return g.read(i, p, turn) })
		}
		list = append(list, &timed{name: name})
		enqueue = append(enqueue, func(turn int) error { return g.own(i, p, turn) })
	}
	if err := g.race(p, list, enqueue); err != nil {
		return err
	}
	var err error
	for _, m := range products {
		err = errors.Join(err, g.MatmulDestroy(m))
	}
	return err
}

// race times what enqueues a product by each of a list, and prints a line. The first is the read of the weight, the
// second the library's.
func (g *gpu) race(p product, list []*timed, enqueue []func(turn int) error) error {
	var err error
	launches := max(12, p.weights)
	for i, t := range list {
		if t.graph, err = g.graph(launches, enqueue[i]); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	for round := range *rounds + 2 {
		for _, i := range rand.Perm(len(list)) {
			us, err := g.replay(list[i].graph)
			if err != nil {
				return fmt.Errorf("%s: %w", list[i].name, err)
			}
			if round >= 2 { // warm
				list[i].us = append(list[i].us, us/float64(launches))
			}
		}
	}
	fmt.Printf("%5d x %5d, %3.0f MB, %2d rows:", p.N, p.K, float64(p.bytes())/1e6, p.M)
	for i, t := range list {
		slices.Sort(t.us)
		fmt.Printf("  %s %.2f", t.name, t.median())
		if i > 0 {
			fmt.Printf(" (%.3f", t.median()/list[0].median())
			if i > 1 {
				fmt.Printf(", %.3f", t.median()/list[1].median())
			}
			fmt.Print(")")
		}
		if err := g.GraphExecDestroy(t.graph); err != nil {
			return err
		}
	}
	fmt.Println()
	return nil
}

// graph is a graph of launches, one after another.
func (g *gpu) graph(launches int, enqueue func(turn int) error) (driver.GraphExec, error) {
	if err := enqueue(0); err != nil { // loads it
		return 0, err
	}
	if err := g.StreamSynchronize(g.stream); err != nil {
		return 0, err
	}
	if err := g.StreamBeginCapture(g.stream); err != nil {
		return 0, err
	}
	for turn := range launches {
		if err := enqueue(turn); err != nil {
			return 0, err
		}
	}
	captured, err := g.StreamEndCapture(g.stream)
	if err != nil {
		return 0, err
	}
	exec, err := g.GraphInstantiate(captured)
	return exec, errors.Join(err, g.GraphDestroy(captured))
}

// replay is the time of a graph in us.
func (g *gpu) replay(graph driver.GraphExec) (us float64, err error) {
	var events [2]driver.Event
	for i := range events {
		if events[i], err = g.EventCreate(true); err != nil {
			return 0, err
		}
	}
	for i, step := range []func() error{
		func() error { return g.EventRecordWithFlags(events[0], g.stream, 0) },
		func() error { return g.GraphLaunch(graph, g.stream) },
		func() error { return g.EventRecordWithFlags(events[1], g.stream, 0) },
		func() error { return g.StreamSynchronize(g.stream) },
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
