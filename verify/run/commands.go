package run

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"

	"ovgen/runtime/driver"
)

// command is a command of generated/run.
type command struct {
	name string
	// reads bind the flags that it reads.
	reads []func(*options, *flag.FlagSet)
	// single is set where it takes one shape, and typed where it takes a program's first type if none is asked for.
	single, typed bool
	// runs is how often the work of one shape is done by default, given the number of programs.
	runs func(o *options, programs int) int
	// do is the work of a rank, from joining to leaving; nil: no rank is started.
	do func(ctx context.Context, o *options, code *driver.Code) (right bool, err error)
}

// listDevices is list where it lists devices, which reads other flags.
const listDevices = "list -devices"

// commands that there are.
var commands = []*command{
	{name: "list", reads: flags(ranksFlag, sizeFlags, jsonFlag)},
	{name: "verify", reads: flags(runFlags, jsonFlag, iterFlag, hostsFlag, seedFlag, disturbFlags),
		runs: verifyRuns, do: verify},
	{name: "same", reads: flags(runFlags, seedFlag, disturbFlags), typed: true, runs: verifyRuns,
		do: compareRows},
	{name: "bench", reads: flags(runFlags, jsonFlag, iterFlag, hostsFlag, networkFlag, seedFlag, stepsFlag),
		typed: true, runs: benchRuns, do: joined((*rank).bench)},
	{name: "tune", reads: flags(runFlags, jsonFlag, iterFlag, seedFlag, outFlag("tuning.json")),
		runs: tuneRuns, do: joined((*rank).tune)},
	{name: "trace", reads: flags(runFlags, hostsFlag, networkFlag, seedFlag, outFlag("trace.json"), svgFlag),
		single: true, runs: traceRuns, do: joined((*rank).trace)},
	{name: "layers", reads: flags(runFlags, jsonFlag, hostsFlag, layerFlags),
		single: true, typed: true, runs: layersRuns, do: joined((*rank).layers)},
	{name: listDevices, reads: flags(ranksFlag, driverFlag, devicesFlag)},
}

func flags(list ...func(*options, *flag.FlagSet)) []func(*options, *flag.FlagSet) { return list }

// joined is work in one group that compares no results.
func joined(do func(*rank, context.Context) error) func(context.Context, *options, *driver.Code) (bool, error) {
	return func(ctx context.Context, o *options, code *driver.Code) (right bool, err error) {
		r, err := join(ctx, o, code)
		if err != nil {
			return false, err
		}
		defer func() { err = errors.Join(err, r.close(ctx)) }()
		r.greet()
		if err := r.affordable(); err != nil {
			return false, err
		}
		return true, do(r, ctx)
	}
}

// commandOf is the command that arguments ask for; nil if there is none.
func commandOf(args []string) *command {
	name := args[0]
	isDevices := func(arg string) bool { return strings.TrimLeft(arg, "-") == "devices" }
	if name == "list" && slices.ContainsFunc(args[1:], isDevices) {
		name = listDevices
	} else if name == listDevices {
		return nil
	}
	if i := slices.IndexFunc(commands, func(c *command) bool { return c.name == name }); i >= 0 {
		return commands[i]
	}
	return nil
}

// unread is the error of a flag that a command does not read: it names the commands that do. Else it is err.
func (c *command) unread(err error) error {
	name, undefined := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	var readers []string
	for _, other := range commands {
		if (&options{command: other}).flags().Lookup(name) != nil {
			readers = append(readers, other.name)
		}
	}
	if !undefined || len(readers) == 0 {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	return fmt.Errorf("%s has no flag -%s (%s)", c.name, name, strings.Join(readers, ", "))
}
