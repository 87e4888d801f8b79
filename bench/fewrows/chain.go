package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"

	"ovgen/runtime/driver"
)

// chain compares products in a graph with the same ones run a launch at a time. Each product reads what the one before
// it made, so a launch that starts early must neither read its rows early nor write early.
func (g *gpu) chain(variant int, typ, of driver.Type) error {
	const side, links, replays = 1024, 12, 20
	p, err := g.product(typ, of, side, side, links*side*side*8)
	if err != nil {
		return err
	}
	next := func() float32 { return (2*rand.Float32() - 1) / 16 }
	for turn := range p.weights {
		if err := g.fill(p.weight(turn), p.Operand(), numbers(side*side, next)); err != nil {
			return err
		}
	}
	if err := g.fill(p.scale, driver.FP32, numbers(side, func() float32 { return 1 })); err != nil {
		return err
	}
	first := numbers(most*side, func() float32 { return 16 * next() })
	link := func(turn int) error {
		x := p
		if turn%2 == 1 {
			x.a, x.c = p.c, p.a
		}
		return g.own(variant, x, turn)
	}
	for _, p.M = range []int{1, 16, 32, 64} {
		var want []byte
		graph, err := g.Graph(links, link)
		if err != nil {
			return err
		}
		for replay := range replays + 1 {
			if err := g.fill(p.a, p.Type, first); err != nil {
				return err
			}
			if err := g.linked(graph, replay > 0, links, link); err != nil {
				return err
			}
			got := make([]byte, p.Type.Bytes(p.M*side))
			if err := g.MemcpyDtoH(got, p.a); err != nil { // an even number of links ends there
				return err
			}
			if want == nil {
				want = got
			}
			if !bytes.Equal(got, want) {
				return fmt.Errorf("%d rows: %d products one behind the other have other bits than a launch at a time",
					p.M, links)
			}
		}
		if err := g.GraphExecDestroy(graph); err != nil {
			return err
		}
	}
	return g.free(p)
}

// linked runs the links of a chain, in a graph or a launch at a time.
func (g *gpu) linked(graph driver.GraphExec, together bool, links int, link func(turn int) error) error {
	if together {
		if err := g.GraphLaunch(graph, g.Stream); err != nil {
			return err
		}
		return g.StreamSynchronize(g.Stream)
	}
	for turn := range links {
		if err := link(turn); err != nil {
			return err
		}
		if err := g.StreamSynchronize(g.Stream); err != nil {
			return err
		}
	}
	return nil
}
