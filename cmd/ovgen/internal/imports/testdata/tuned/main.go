// Command tuned makes a plan of one operation by package tuned.
package main

import (
	"context"
	"log"

	"ovgen/generated/reducescatter"
	"ovgen/generated/tuned"
	"ovgen/runtime/driver"
	_ "ovgen/runtime/driver/cuda"
	"ovgen/runtime/group"
)

func main() {
	ctx := context.Background()
	g, err := group.Join(ctx, group.Config{})
	if err != nil {
		log.Fatal(err)
	}
	p, err := tuned.NewReduceScatter(ctx, g, nil, reducescatter.Shape{M: 64, N: 64, Type: driver.BF16})
	if err != nil {
		log.Fatal(err)
	}
	log.Print(p.Choice())
}
