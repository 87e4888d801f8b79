// Command simulated is command layer, with the simulator.
package main

import (
	"context"
	"log"

	"ovgen/generated/allreduceoneshot"
	_ "ovgen/generated/host"
	"ovgen/runtime/device"
	"ovgen/runtime/group"
	"ovgen/runtime/launch"
)

func main() {
	run := (&launch.Command{Ranks: 2}).Run
	if launch.IsRank() {
		run = rank
	}
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func rank(ctx context.Context) error {
	g, err := group.Join(ctx, group.Config{})
	if err != nil {
		return err
	}
	p, err := allreduceoneshot.New(ctx, g, allreduceoneshot.Shape{M: 64, N: 64, Type: device.BF16})
	if err != nil {
		return err
	}
	if err := p.Close(ctx); err != nil {
		return err
	}
	return g.Close(ctx)
}
