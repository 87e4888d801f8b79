//go:build cgo

package group_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ovgen/runtime/group"
	"ovgen/verify/sim"
	"ovgen/verify/simtest"
)

// onRanks runs f as each rank of a simulated node, in one process. Ranks on GPUs that are
// processes call Join with what their launcher gave them: group.Config{}.
func onRanks(n int, f func(ctx context.Context, g *group.Group) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return simtest.Run(ctx, simtest.Config{Config: sim.Config{Devices: n}}, f)
}

// Two ranks join, tell each other something, and leave.
func ExampleJoin() {
	err := onRanks(2, func(ctx context.Context, g *group.Group) error {
		all, err := g.Gather(ctx, "greet", fmt.Appendf(nil, "rank %d of %d", g.Rank(), g.Size()))
		if err == nil && g.Rank() == 0 {
			for _, text := range all {
				fmt.Println(string(text))
			}
		}
		return err
	})
	fmt.Println("error:", err)
	// Output:
	// rank 0 of 2
	// rank 1 of 2
	// error: <nil>
}

// A server that holds all GPUs of a host is one process: it has a rank for each of them.
func ExampleJoinAll() {
	ctx := context.Background()
	ranks, err := group.JoinAll(ctx, group.Config{Backend: "sim", Devices: []int{0, 1}})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = ranks.Each(func(g *group.Group) error { // as a process would: New, Bind, Run, ...
		_, err := g.Gather(ctx, "greet", nil)
		return err
	})
	fmt.Println(len(ranks), "ranks:", errors.Join(err, ranks.Close(ctx)))
	// Output:
	// 2 ranks: <nil>
}

// A rank that gives up ends the runs of all: each of them learns who and why.
func ExampleGroup_Abort() {
	err := onRanks(2, func(ctx context.Context, g *group.Group) error {
		if g.Rank() == 1 {
			g.Abort(errors.New("the loss is not a number"))
		}
		<-g.Done()
		var abort *group.AbortError
		if g.Rank() == 0 && errors.As(g.Err(), &abort) {
			fmt.Println("by rank", abort.By)
			fmt.Println(abort.Cause)
		}
		return nil
	})
	fmt.Println("error:", err)
	// Output:
	// by rank 1
	// the loss is not a number
	// error: <nil>
}
