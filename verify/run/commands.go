package run

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"ovgen/runtime/driver"
	"ovgen/verify/harness"
)

// command is a command of generated/run: a struct of its flags.
type command interface {
	bind(f *flag.FlagSet)
	// settle takes the names behind the command after the flags are read, and refuses flags that do not go together.
	settle(f *flag.FlagSet, names []string, programs []harness.Program) error
	// run returns the exit status.
	run(code *driver.Code) int
}

// listDevices is the command list where it lists devices; it has other flags.
const listDevices = "list -devices"

// commands lists all commands.
var commands = []struct {
	name string
	make func() command
}{
	{"list", func() command { return &listCommand{} }},
	{"verify", func() command { return &verifyCommand{} }},
	{"same", func() command { return &sameCommand{} }},
	{"bench", func() command { return &benchCommand{} }},
	{"tune", func() command { return &tuneCommand{} }},
	{"trace", func() command { return &traceCommand{} }},
	{"layers", func() command { return &layersCommand{} }},
	{listDevices, func() command { return &devicesCommand{} }},
}

var (
	errHelp  = errors.New("help")
	errUsage = errors.New("usage")
)

// parse reads COMMAND [NAME] with flags anywhere after the command.
func parse(args []string, programs []harness.Program) (command, error) {
	if len(args) == 0 {
		return nil, errUsage
	}
	if slices.Contains([]string{"help", "-h", "-help", "--help"}, args[0]) {
		return nil, errHelp
	}
	name, c := commandOf(args)
	if c == nil {
		return nil, fmt.Errorf("no command %q (list, verify, same, bench, tune, trace or layers)", args[0])
	}
	f := flagsOf(c)
	names, err := interleaved(f, args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return nil, errHelp
	} else if err != nil {
		return nil, unread(name, err)
	}
	return c, c.settle(f, names, programs)
}

// commandOf is the command that the arguments name; nil if there is none.
func commandOf(args []string) (name string, c command) {
	name = args[0]
	isDevices := func(arg string) bool { return strings.TrimLeft(arg, "-") == "devices" }
	if name == "list" && slices.ContainsFunc(args[1:], isDevices) {
		name = listDevices
	} else if name == listDevices {
		return name, nil
	}
	for _, x := range commands {
		if x.name == name {
			return name, x.make()
		}
	}
	return name, nil
}

func flagsOf(c command) *flag.FlagSet {
	f := flag.NewFlagSet("run", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	c.bind(f)
	return f
}

// unread is the error for a flag that a command does not have: it names the commands that have the flag. Other errors
// stay as they are.
func unread(command string, err error) error {
	name, undefined := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	var readers []string
	for _, x := range commands {
		if flagsOf(x.make()).Lookup(name) != nil {
			readers = append(readers, x.name)
		}
	}
	if !undefined || len(readers) == 0 {
		return fmt.Errorf("%s: %w", command, err)
	}
	return fmt.Errorf("%s has no flag -%s (%s)", command, name, strings.Join(readers, ", "))
}

// interleaved parses flags before and after names.
func interleaved(f *flag.FlagSet, args []string) (names []string, err error) {
	for {
		if err := f.Parse(args); err != nil {
			return nil, err
		}
		if f.NArg() == 0 {
			return names, nil
		}
		names = append(names, f.Arg(0))
		args = f.Args()[1:]
	}
}

// given reports whether one of the flags was on the command line.
func given(f *flag.FlagSet, names ...string) (is bool) {
	f.Visit(func(f *flag.Flag) { is = is || slices.Contains(names, f.Name) })
	return is
}
