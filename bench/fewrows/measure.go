package main

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"ovgen/bench/race"
	"ovgen/runtime/driver"
	"ovgen/verify/reference"
)

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
	list := []race.Way{{Name: "read", Enqueue: func(turn int) error { return g.read(0, p, turn) }}}
	var products []driver.Product
	for _, name := range map[bool][]string{false: {"cuBLASLt"}, true: {"cuBLASLt-one", "cuBLASLt-rows"}}[p.Of != 0] {
		d := p.MatmulDesc
		d.RowScales = name == "cuBLASLt-rows"
		m, err := g.MatmulCreate(d)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		products = append(products, m)
		list = append(list, race.Way{Name: name, Enqueue: func(turn int) error {
			return g.Matmul(m, driver.Operands{C: p.c, A: p.a, B: p.weight(turn), ScaleA: p.scale, ScaleB: p.scale,
				Workspace: workspace}, g.Stream)
		}})
	}
	for i, name := range g.names {
		if i > 0 {
			list = append(list, race.Way{Name: "read-" + name,
				Enqueue: func(turn int) error { return g.read(i, p, turn) }})
		}
		list = append(list, race.Way{Name: name, Enqueue: func(turn int) error { return g.own(i, p, turn) }})
	}
	if err := g.race(p, list); err != nil {
		return err
	}
	var err error
	for _, m := range products {
		err = errors.Join(err, g.MatmulDestroy(m))
	}
	return err
}

// race times ways to make a product, and prints a line. The first is the read of the weight, the second the library's.
func (g *gpu) race(p product, list []race.Way) error {
	medians, err := g.Medians(list, max(12, p.weights), *rounds)
	if err != nil {
		return err
	}
	fmt.Printf("%5d x %5d, %3.0f MB, %2d rows:", p.N, p.K, float64(p.bytes())/1e6, p.M)
	for i, us := range medians {
		fmt.Printf("  %s %.2f", list[i].Name, us)
		if i > 0 {
			fmt.Printf(" (%.3f", us/medians[0])
			if i > 1 {
				fmt.Printf(", %.3f", us/medians[1])
			}
			fmt.Print(")")
		}
	}
	fmt.Println()
	return nil
}
