package cli

import (
	"flag"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// about is the head of the help. The whole help is one screen: 24 lines of 80 columns.
const about = `ovgen turns schedules, declared as Go data, into Go packages that run
communication and matrix products at the same time.

Usage: ovgen VERB [flags] ARGUMENTS

`

const packages = `
PACKAGE is a folder (./schedules) or an import path; its exported variables of
type schedule.Schedule are schedules. docs/first-schedule.md is the tutorial.

Examples:
`

// runHelp prints the help of a verb, or of all verbs.
func runHelp(w io.Writer, args []string) error {
	if len(args) == 0 {
		help(w)
		return nil
	}
	switch args[0] {
	case waysTopic:
		return printWays(w)
	case schedulesTopic:
		return printSchedules(w)
	case functionsTopic:
		return printFunctions(w)
	case callsTopic:
		fmt.Fprint(w, callsHelp)
		return nil
	}
	v := find(args[0])
	if v == nil {
		return &usageError{msg: fmt.Sprintf("unknown verb %q", args[0])}
	}
	v.help(w)
	return nil
}

// help prints the verbs.
func help(w io.Writer) {
	fmt.Fprint(w, about)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, v := range verbs {
		fmt.Fprintf(table, "  %s\t%s\n", v.name, v.short)
	}
	fmt.Fprintf(table, "  help\tsay more: ovgen help VERB, help ways, help functions, help calls\n")
	table.Flush()
	fmt.Fprint(w, packages)
	for _, v := range verbs {
		if v.args != "" && !v.compiles {
			fmt.Fprintln(w, "  "+v.examples[0])
		}
	}
	fmt.Fprintln(w, "Exit status: 0 done, 1 mistakes in schedules or drift, 2 trouble.")
}

// help prints the verb's help.
func (v *verb) help(w io.Writer) {
	flags := " [flags]"
	if v.emits {
		flags = " [-o DIR] [-c DIR] [-nvrtc PATH] [-ranks SIZES] [-e]"
		if v.compares {
			flags += " [-again PACKAGES]"
		}
	} else if v.flagless() {
		flags = ""
	}
	fmt.Fprintf(w, "Usage: %s\n\n%s\n", strings.TrimSpace("ovgen "+v.name+flags+" "+v.args), v.long)
	f := v.flags(&call{})
	if !v.flagless() {
		fmt.Fprintln(w, "\nFlags:")
	}
	f.VisitAll(func(f *flag.Flag) {
		name, usage := flag.UnquoteUsage(f)
		fmt.Fprintf(w, "  %s\n    \t%s", strings.TrimSpace("-"+f.Name+" "+name), usage)
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" {
			fmt.Fprintf(w, " (default %s)", f.DefValue)
		}
		fmt.Fprintln(w)
	})
	fmt.Fprintln(w, "\nExamples:")
	for _, e := range v.examples {
		fmt.Fprintln(w, "  "+e)
	}
}

// flagless reports whether the verb has no flags.
func (v *verb) flagless() bool {
	none := true
	v.flags(&call{}).VisitAll(func(*flag.Flag) { none = false })
	return none
}
