package harness

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
)

const usage = `usage: run list
       run verify NAME...|all [flags]
       run tune NAME...|all [flags]
       run trace NAME... [flags]
       run bench NAME...|all [flags]      NAME,NAME: interleaved in one run, for programs
                                          of one operation and equal placements

  -ranks N       ranks to start (4); under torchrun, mpirun or srun there are as many as those start
  -m -k -n N     one shape: C[m,n] = A[m,k] * B, over all ranks where an extent is
                 spread; an MLP has n*ranks columns between its layers and k at the end
  -shapes LIST   several: "8192,8192,8192;2048,8192,3584" (m,k,n)
  -type LIST     bf16, fp16, fp32, or several with commas (verify: all that the program takes; bench: bf16)
  -driver NAME   auto, cuda or sim (auto)
  -seed N        of the inputs, delays and stragglers (1)
  -json          one line of JSON for each row
  -timeout D     for joining, and for a run on its own (30s)
verify:
  -iters N       runs of each shape, eager and again replayed (5; on GPUs 50)
  -delays        delay random operations on the device
  -straggler     let a random rank come late to every run
bench:
  -iters N       measured rounds after 3 to warm up (16)
  -nosteps       measure also without the step words that an abort reads
tune: measures the schedules of each operation against each other
  -iters N       as for bench
  -o FILE        where the fastest of each shape are kept, for package tuned (tuning.json)
trace: writes when each operation of a run was at work, for ui.perfetto.dev
  -o FILE        (trace.json; of several programs NAME.trace.json)
  -svg FILE      also a picture, the programs one below the other
`

// options are what the command line says.
type options struct {
	command   string
	programs  []Program
	together  [][]*Program // those of one name argument
	ranks     int
	shapes    []Shape // without type; empty means the defaults
	types     []driver.Type
	driver    string
	iters     int
	seed      uint32
	json      bool
	timeout   time.Duration
	delays    bool
	straggler bool
	rounds    int
	nosteps   bool
	out, svg  string
}

var errHelp = errors.New("help")

// parse reads COMMAND [NAME] with flags anywhere behind the command.
func parse(args []string, programs []Program) (*options, error) {
	if len(args) == 0 || slices.Contains([]string{"help", "-h", "-help", "--help"}, args[0]) {
		return nil, errHelp
	}
	o := &options{command: args[0]}
	if !slices.Contains([]string{"list", "verify", "bench", "tune", "trace"}, o.command) {
		return nil, fmt.Errorf("no command %q (list, verify, bench, tune or trace)", o.command)
	}
	var one Shape
	var shapes, types string
	var seed uint
	f := flag.NewFlagSet("run "+o.command, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.IntVar(&o.ranks, "ranks", 4, "")
	f.IntVar(&one.M, "m", 0, "")
	f.IntVar(&one.K, "k", 0, "")
	f.IntVar(&one.N, "n", 0, "")
	f.StringVar(&shapes, "shapes", "", "")
	f.StringVar(&types, "type", "", "")
	f.StringVar(&o.driver, "driver", "", "")
	f.IntVar(&o.iters, "iters", 0, "")
	f.UintVar(&seed, "seed", 1, "")
	f.BoolVar(&o.json, "json", false, "")
	f.DurationVar(&o.timeout, "timeout", 30*time.Second, "")
	f.BoolVar(&o.delays, "delays", false, "")
	f.BoolVar(&o.straggler, "straggler", false, "")
	f.BoolVar(&o.nosteps, "nosteps", false, "")
	f.StringVar(&o.out, "o", map[string]string{"tune": "tuning.json", "trace": "trace.json"}[o.command], "")
	f.StringVar(&o.svg, "svg", "", "")
	names, err := interleaved(f, args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return nil, errHelp
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", o.command, err)
	}
	if p, err := group.Placed(); err == nil && group.Launched() { // of as many ranks as were started
		o.ranks = p.Size
	}
	o.seed = uint32(seed)
	if o.rounds = o.iters; o.rounds == 0 {
		o.rounds = 16
	}
	return o, errors.Join(o.choose(names, programs), o.chooseShapes(one, shapes), o.chooseTypes(types), o.check())
}

// interleaved parses flags before and behind names.
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

func (o *options) choose(names []string, programs []Program) error {
	var known []string
	for _, p := range programs {
		known = append(known, p.Name)
	}
	if o.command == "list" {
		if len(names) > 0 {
			return fmt.Errorf("list takes no name")
		}
		return nil
	}
	if len(names) == 0 {
		return fmt.Errorf("%s what? (all, %s)", o.command, strings.Join(known, ", "))
	}
	for _, argument := range names {
		if argument == "all" {
			for i := range programs {
				o.together = append(o.together, []*Program{&programs[i]})
			}
			continue
		}
		var group []*Program
		for _, n := range strings.Split(argument, ",") {
			i := slices.Index(known, n)
			if i < 0 {
				return fmt.Errorf("no program %q (all, %s)", n, strings.Join(known, ", "))
			}
			group = append(group, &programs[i])
		}
		o.together = append(o.together, group)
	}
	for _, group := range o.together {
		for _, p := range group {
			o.programs = append(o.programs, *p)
		}
	}
	return nil
}

func (o *options) chooseShapes(one Shape, list string) error {
	if one != (Shape{}) {
		o.shapes = append(o.shapes, one)
	}
	for _, text := range strings.FieldsFunc(list, func(r rune) bool { return r == ';' || r == ' ' }) {
		s, err := parseShape(text)
		if err != nil {
			return err
		}
		o.shapes = append(o.shapes, s)
	}
	for _, s := range o.shapes {
		if s.M < 1 || s.K < 1 || s.N < 1 {
			return fmt.Errorf("shape %d,%d,%d: m, k and n must be positive, all three", s.M, s.K, s.N)
		}
		for _, p := range o.programs {
			if o.ranks < 1 {
				continue // said by check
			}
			if err := p.fits(s, o.ranks); err != nil {
				return err
			}
		}
	}
	return nil
}

func parseShape(text string) (s Shape, err error) {
	parts := strings.Split(text, ",")
	if len(parts) != 3 {
		return s, fmt.Errorf("shape %q is not m,k,n", text)
	}
	for i, to := range []*int{&s.M, &s.K, &s.N} {
		if *to, err = strconv.Atoi(parts[i]); err != nil {
			return s, fmt.Errorf("shape %q is not m,k,n: %q is no number", text, parts[i])
		}
	}
	return s, nil
}

func (o *options) chooseTypes(list string) error {
	for _, text := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' }) {
		found := false
		for _, t := range []driver.Type{driver.BF16, driver.FP16, driver.FP32} {
			if t.String() == text {
				o.types, found = append(o.types, t), true
			}
		}
		if !found {
			return fmt.Errorf("no type %q (bf16, fp16 or fp32)", text)
		}
	}
	return nil
}

func (o *options) check() error {
	switch {
	case o.ranks < 1:
		return fmt.Errorf("-ranks %d: at least 1", o.ranks)
	case o.iters < 0 || o.rounds < 1:
		return fmt.Errorf("-iters must be positive")
	case o.timeout <= 0:
		return fmt.Errorf("-timeout %v: must be positive", o.timeout)
	case !slices.Contains([]string{"", "auto", "cuda", "sim"}, o.driver):
		return fmt.Errorf("no driver %q (auto, cuda or sim)", o.driver)
	}
	return nil
}

// typesOf are the types to run a program with.
func (o *options) typesOf(p *Program) []driver.Type {
	want := o.types
	if len(want) == 0 && o.command == "bench" {
		want = p.Types[:1]
	} else if len(want) == 0 {
		want = p.Types
	}
	return slices.DeleteFunc(slices.Clone(want), func(t driver.Type) bool { return !slices.Contains(p.Types, t) })
}
