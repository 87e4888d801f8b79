// Command ovgen turns schedules, declared as Go data, into Go packages. Run
// "ovgen help" for its verbs.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"ovgen/cmd/ovgen/internal/cli"
)

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	dir, err := os.Getwd()
	if err != nil {
		fmt.Fprintln(os.Stderr, "ovgen: find the current folder:", err)
		return 2
	}
	return cli.Run(ctx, cli.Env{Dir: dir, Vars: os.Environ()}, os.Stdout, os.Stderr, os.Args[1:]...)
}
