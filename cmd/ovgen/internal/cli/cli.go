package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"ovgen/cmd/ovgen/internal/load"
	"ovgen/schedule/hostir"
)

// Exit statuses.
const (
	statusOK      = 0
	statusFound   = 1 // mistakes, or drift
	statusTrouble = 2 // usage, files, tools
)

// Env is where a command runs.
type Env struct {
	Dir  string   // current folder, absolute
	Vars []string // KEY=value
}

// lookup is os.Getenv for Vars; if a name appears twice, the last value counts.
func (e Env) lookup(key string) string {
	for i := len(e.Vars) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(e.Vars[i], key+"="); ok {
			return value
		}
	}
	return ""
}

// call is one run of a verb.
type call struct {
	ctx     context.Context
	env     Env
	stdout  io.Writer
	stderr  io.Writer
	args    []string // after the flags
	output  string   // -o
	nvrtc   string   // -nvrtc
	library string   // -c
	again   string   // -again
	ranks   string   // -ranks
	trace   string   // -trace
	hb      bool     // -hb
	json    bool     // -json
	every   bool     // -e
	stages  bool     // -passes
	from    int      // -from
	set     []string // the flags that appear on the command line
	shape   shapeFlags
	price   costFlags
	rank    int // -rank
	verb    *verb
	look    explorer // nil for explore.Small
}

// explorer is a second checker: it returns the numbers of ranks that it has explored.
type explorer func(p *hostir.Program, ranks []int, replay bool) ([]int, error)

// path is the absolute path of a file or a folder that the command line names; a relative name is below the command's
// folder.
func (c *call) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(c.env.Dir, name)
}

// verb is one of ovgen's verbs.
type verb struct {
	name     string
	args     string // as the usage line shows them
	short    string // its purpose, a few words
	long     string // the rest of its help
	examples []string
	emits    bool // it has the flags of generation
	compares bool // it has the flag -again
	compiles bool // it has the flag -nvrtc
	proves   bool // it has the flags of a proof
	draws    bool // it has the flags of a drawing
	explains bool // it has the flags of an explanation
	json     bool // it can print JSON
	least    int  // arguments it needs
	most     int  // arguments it takes
	run      func(*call) error
}

var verbs = []*verb{genVerb, diffVerb, vetVerb, showVerb, explainVerb, ptxVerb, versionVerb}

// errFound ends a verb that found something and has printed it.
var errFound = errors.New("found")

// usageError is a command line that can't be run.
type usageError struct {
	verb *verb // nil when none was named
	msg  string
}

func (e *usageError) Error() string {
	help := "ovgen help"
	if e.verb != nil {
		help += " " + e.verb.name
		return e.verb.name + ": " + e.msg + " (see " + help + ")"
	}
	return e.msg + " (see " + help + ")"
}

// Run runs the command line and returns its exit status.
func Run(ctx context.Context, env Env, stdout, stderr io.Writer, args ...string) int {
	err := run(ctx, env, stdout, stderr, args)
	var mistakes load.Mistakes
	switch {
	case err == nil:
		return statusOK
	case errors.Is(err, errFound):
		return statusFound
	case errors.As(err, &mistakes):
		fmt.Fprintln(stderr, err)
		return statusFound
	}
	fmt.Fprintln(stderr, "ovgen: "+err.Error())
	return statusTrouble
}

func run(ctx context.Context, env Env, stdout, stderr io.Writer, args []string) error {
	if len(args) == 0 {
		help(stderr)
		return &usageError{msg: "no verb"}
	}
	name, args := args[0], args[1:]
	switch name {
	case "help", "-h", "-help", "--help":
		return runHelp(stdout, args)
	}
	v := find(name)
	if v == nil {
		return &usageError{msg: fmt.Sprintf("unknown verb %q", name)}
	}
	c := &call{verb: v, ctx: ctx, env: env, stdout: stdout, stderr: stderr}
	err := c.parse(v, args)
	if errors.Is(err, flag.ErrHelp) {
		v.help(stdout)
		return nil
	}
	if err != nil {
		return err
	}
	err = v.run(c)
	var mistakes load.Mistakes
	if c.every && errors.As(err, &mistakes) {
		fmt.Fprintln(stderr, mistakes.Text(len(mistakes)))
		return errFound
	}
	return err
}

func find(name string) *verb {
	for _, v := range verbs {
		if v.name == name {
			return v
		}
	}
	return nil
}

// flags of a verb, bound to the call.
func (v *verb) flags(c *call) *flag.FlagSet {
	f := flag.NewFlagSet(v.name, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	if v.emits || v.compiles {
		f.StringVar(&c.nvrtc, "nvrtc", "", "the `path` of a libnvrtc.so to compile device code with; by default "+
			"$OVGEN_NVRTC, then .toolchain in this folder or one above")
	}
	if v.compiles {
		f.IntVar(&c.from, "from", 80, "the compute `capability` from which on GPUs run the PTX: 80, 89 or 90")
	}
	if v.emits {
		f.StringVar(&c.output, "o", "generated", "the `folder` of the generated packages, in a Go module")
		f.StringVar(&c.library, "c", "", "the `folder` of a C library of the schedules, in the same module: its "+
			"header ovgen.h and a main to build with -buildmode=c-shared; by default none")
	}
	if v.compares {
		f.StringVar(&c.again, "again", "", "the `packages` whose PTX is compiled again, as a,b; the others' is held "+
			"against its head; by default all")
	}
	if v.emits || v.proves {
		f.StringVar(&c.ranks, "ranks", "", "the mesh `sizes` to prove: 1..8 or 2,4,72, each at most 128; by "+
			"default 1..8")
	}
	if v.emits || v.proves {
		f.BoolVar(&c.every, "e", false, "print all errors, not ten at most")
	}
	if v.proves {
		f.StringVar(&c.trace, "trace", "", "the `file` for the interleaving of a counterexample, as a Perfetto trace")
	}
	if v.json {
		f.BoolVar(&c.json, "json", false, "print JSON, for editors and CI")
	}
	if v.draws {
		f.BoolVar(&c.hb, "hb", false, "print the happens-before graph of one run as graphviz dot instead")
		f.StringVar(&c.ranks, "ranks", "", "the mesh `size` of that graph (2) or prediction (4)")
		f.BoolVar(&c.stages, "passes", false, "print the program behind each pass that changes it instead")
		c.shape.bind(f)
		c.price.bind(f)
	}
	if v.explains {
		f.StringVar(&c.ranks, "ranks", "", "the mesh `size` (4)")
		f.IntVar(&c.rank, "rank", 0, "the `rank` whose steps are explained")
		c.shape.bind(f)
	}
	return f
}

// parse reads flags before and after the arguments.
func (c *call) parse(v *verb, args []string) error {
	f := v.flags(c)
	for {
		if err := f.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				return err
			}
			return &usageError{v, err.Error()}
		}
		if f.NArg() == 0 {
			break
		}
		c.args, args = append(c.args, f.Arg(0)), f.Args()[1:]
	}
	f.Visit(func(f *flag.Flag) { c.set = append(c.set, f.Name) })
	switch {
	case len(c.args) < v.least:
		return &usageError{v, "it needs " + v.args}
	case len(c.args) > v.most:
		return &usageError{v, fmt.Sprintf("%q is one argument too many", c.args[v.most])}
	}
	return nil
}
