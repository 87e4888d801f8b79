// Command ovgen turns schedules, declared as Go data, into Go packages. Run "ovgen help" for its verbs. It is also a
// tool of go vet, which finds the mistakes that are visible in the source: go vet -vettool=$(which ovgen) ./...
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/tools/go/analysis/unitchecker"

	"ovgen/cmd/ovgen/internal/analysis"
	"ovgen/cmd/ovgen/internal/cli"
)

func main() {
	if analysis.Wanted(os.Args[1:]) {
		unitchecker.Main(analysis.Analyzer)
	}
	os.Exit(run())
}

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
