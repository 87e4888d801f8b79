package group

import (
	"context"
	"fmt"
	"io"

	"ovgen/runtime/driver"
	"ovgen/runtime/launcher"
)

// Dumper takes the words of Config.Dump and makes the function that writes about a bound plan.
type Dumper func(words string, to io.Writer) (func(Tracer) error, error)

var dumper Dumper

// RegisterDumper makes all groups write about their plans by a Dumper. Package dump registers one.
func RegisterDumper(d Dumper) { dumper = d }

// Dump writes about a bound plan where Config.Dump asks for it.
func (g *Group) Dump(plan Tracer) error {
	if g.config.dump == nil {
		return nil
	}
	return g.config.dump(plan)
}

// dumpBy finds the function for the words of Config.Dump; it returns nil for no words.
func dumpBy(words string, to io.Writer) (func(Tracer) error, error) {
	switch {
	case words == "":
		return nil, nil
	case dumper == nil:
		return nil, fmt.Errorf("%s is %q, and this program does not link the package that writes about plans "+
			"(import runtime/dump)", launcher.EnvDump, words)
	}
	return dumper(words, to)
}

var checker func(ctx context.Context, g *Group, plan Tracer, on driver.Stream) error

// RegisterChecker makes groups whose Config.Check is set call c ahead of each run of a plan on a stream. c compares the
// operands that all ranks must hold alike. Package alike registers it.
func RegisterChecker(c func(ctx context.Context, g *Group, plan Tracer, on driver.Stream) error) {
	checker = c
}
