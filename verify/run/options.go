package run

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"

	"ovgen/runtime/driver"
	"ovgen/runtime/launch"
	"ovgen/runtime/plan"
	"ovgen/verify/harness"
)

const usage = `usage: run list [flags]
       run verify NAME...|all [flags]
       run same NAME... [flags]           rows have the same bits whatever their number, by each
                                          program (of one operation and equal placements)
       run tune NAME...|all [flags]
       run trace NAME... [flags]
       run bench NAME...|all [flags]      NAME,NAME: interleaved in one run, for programs
                                          of one operation and equal placements
       run layers NAME... [flags]         the operations of a model's layers

  -ranks N       ranks to start (4); torchrun, mpirun and srun set it themselves
  -hosts N       hosts that they play, each as many (1): only ranks of one reach each other's
                 memory; all are then the programs over hosts (verify, bench, trace, layers)
  -m -k -n N     one shape: C[m,n] = A[m,k] * B, over all ranks where an extent is
                 spread; an MLP without F has n*ranks columns between its layers and k at
                 the end; what a program has as a constant, or not at all, is left out
  -oneprocess    all ranks in one process, a goroutine each, instead of a process each
  -shapes LIST   several: "8192,8192,8192;2048,8192,3584" (m,k,n; 0 leaves an extent out)
  -extents LIST  other extents of every shape: "N2=1024,N3=1024" or "F=28672" or "P=512"
  -type LIST     bf16, fp16, fp32, or several with commas (verify: all that the program takes; bench: bf16)
  -driver NAME   auto, cuda or sim (auto: GPUs where there are enough, else the simulator)
  -seed N        of the inputs, delays and stragglers (1)
  -cache FOLDER  where tuned products are kept, or off (OVGEN_CACHE, else the user's cache folder)
  -timeout D     for joining, and for a run on its own (30s, more for large shapes in
                 the simulator; with -long 1h)
  -long          insist on what takes the simulator minutes
  -json          one line of JSON for each row (verify, bench, tune, list)
list: the programs, and the memory that a plan of one shape takes on a rank (-ranks, -m, -k,
      -n, -extents, -type)
  -devices       in their place the devices of -driver (cuda), the first -ranks of them, and
                 what joins them
verify and same:
  -delays        delay random operations on the device
  -straggler     let a random rank come late to every run
verify:
  -iters N       runs of each shape, eager, again replayed, and captured in a graph of the
                 caller's (5; on GPUs 50)
bench:
  -iters N       measured rounds after 3 to warm up (16)
  -nosteps       measure also without the step words that an abort reads
bench and trace:
  -network GB/S  of -hosts: play a network of that rate. Exchanges go as between ranks of one host, each
                 after a delay of 25 us and of its bytes at the rate
tune: measures the schedules of each operation against each other, by tiles with each kernel
  -iters N       as for bench
  -o FILE        where the fastest of each shape are kept, for package tuned (tuning.json)
layers: stands up a plan of each program and bucket of rows in one group, binds each layer's
        weights to them, and prints what that takes of time and memory
  -layers N      of the model (80)
  -buckets N     numbers of rows, evenly up to m (20)
trace: writes when each operation of a run was at work, for ui.perfetto.dev
  -o FILE        (trace.json; of several programs NAME.trace.json)
  -svg FILE      also a picture, the programs one below the other
`

// options are the settings of the command line.
type options struct {
	command   *command
	all       []harness.Program // that the binary holds
	programs  []harness.Program
	arguments [][]*harness.Program // the programs of each name on the command line
	json      bool
	running
	sizing
	disturbing
	measuring
	modelling
	writing
	texts texts // of flags that are read later
}

var (
	errHelp  = errors.New("help")
	errUsage = errors.New("usage")
)

// parse reads COMMAND [NAME] with flags anywhere after the command.
func parse(args []string, programs []harness.Program) (*options, error) {
	if len(args) == 0 {
		return nil, errUsage
	}
	if slices.Contains([]string{"help", "-h", "-help", "--help"}, args[0]) {
		return nil, errHelp
	}
	o := &options{command: commandOf(args), all: programs, running: running{hosts: 1, timeout: time.Minute}}
	if o.command == nil {
		return nil, fmt.Errorf("no command %q (list, verify, same, bench, tune, trace or layers)", args[0])
	}
	f := o.flags()
	names, err := interleaved(f, args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return nil, errHelp
	} else if err != nil {
		return nil, o.command.unread(err)
	}
	o.settle(f)
	if err := errors.Join(o.choose(names, programs), o.check()); err != nil {
		return nil, err
	}
	if err := o.unproven(); err != nil {
		return nil, err
	}
	t := o.texts
	return o, errors.Join(o.chooseTypes(t.types), o.chooseShapes(t.one, t.shapes, t.extents))
}

// unproven refuses a program that was not proven for this number of ranks, as its New would.
func (o *options) unproven() error {
	if o.command.do == nil {
		return nil
	}
	for _, p := range o.programs {
		if len(p.Ranks) > 0 && !slices.Contains(p.Ranks, o.ranks) {
			return &plan.RanksError{Program: p.Name, Proven: p.Ranks, Size: o.ranks}
		}
		if o.hosts > 1 && !p.Schedule.OverHosts() {
			return &plan.HostsError{Program: p.Name, Hosts: o.hosts}
		}
	}
	return nil
}

// settle derives the other options from the flags and the environment.
func (o *options) settle(f *flag.FlagSet) {
	if p, err := launch.FindPlace(); err == nil && launch.IsRank() { // of as many ranks as were started
		o.ranks = p.Size
	}
	o.seed = uint32(o.texts.seed)
	if o.rounds = o.iters; o.rounds == 0 {
		o.rounds = 16
	}
	f.Visit(func(f *flag.Flag) {
		o.timed = o.timed || f.Name == "timeout"
		o.counted = o.counted || f.Name == "ranks"
		o.sized = o.sized || slices.Contains([]string{"m", "k", "n"}, f.Name)
	})
	if o.long && !o.timed {
		o.timeout = time.Hour
	}
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

func (o *options) choose(names []string, programs []harness.Program) error {
	var known []string
	for _, p := range programs {
		known = append(known, p.Name)
	}
	if o.command.do == nil {
		if len(names) > 0 {
			return fmt.Errorf("list takes no name")
		}
		o.programs = programs
		return nil
	}
	if len(names) == 0 {
		return fmt.Errorf("%s what? (all, %s)", o.command.name, strings.Join(known, ", "))
	}
	for _, argument := range names {
		if argument == "all" {
			for i := range programs {
				if o.hosts > 1 && !programs[i].Schedule.OverHosts() {
					continue
				}
				o.arguments = append(o.arguments, []*harness.Program{&programs[i]})
			}
			continue
		}
		var group []*harness.Program
		for _, n := range strings.Split(argument, ",") {
			i := slices.Index(known, n)
			if i < 0 {
				return fmt.Errorf("no program %q (all, %s)", n, strings.Join(known, ", "))
			}
			group = append(group, &programs[i])
		}
		o.arguments = append(o.arguments, group)
	}
	for _, group := range o.arguments {
		for _, p := range group {
			o.programs = append(o.programs, *p)
		}
	}
	return nil
}

func (o *options) chooseTypes(list string) error {
	for _, text := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' }) {
		t, ok := driver.ParseType(text)
		if !ok {
			return fmt.Errorf("no type %q (there are %v)", text, driver.Types())
		}
		o.types = append(o.types, t)
	}
	taken := false
	for _, p := range o.programs {
		if len(o.typesOf(&p)) > 0 {
			taken = true
		} else if o.command.name == "trace" {
			return fmt.Errorf("trace %s: it takes %v only", p.Name, p.Types)
		}
	}
	if len(o.programs) > 0 && !taken {
		return fmt.Errorf("-type %s: no program that was named takes it", list)
	}
	if o.command.name == "trace" && len(o.types) > 1 {
		return fmt.Errorf("trace takes one type, not %d", len(o.types))
	}
	return nil
}

func (o *options) check() error {
	switch {
	case o.ranks < 1:
		return fmt.Errorf("-ranks %d: at least 1", o.ranks)
	case o.hosts < 1 || o.ranks%o.hosts != 0:
		return fmt.Errorf("-hosts %d: it must divide the %d ranks", o.hosts, o.ranks)
	case o.network < 0 || o.network > 0 && o.hosts == 1:
		return fmt.Errorf("-network %g: it takes -hosts of at least 2, and a rate", o.network)
	case o.oneProcess && launch.IsRank():
		return errors.New("-oneprocess starts all ranks itself, but a launcher has started this one")
	case o.iters < 0 || o.rounds < 1:
		return fmt.Errorf("-iters must be positive")
	case o.command.name == "layers" && (o.layers < 1 || o.buckets < 1):
		return fmt.Errorf("-layers %d, -buckets %d: at least 1 of each", o.layers, o.buckets)
	case o.timeout <= 0:
		return fmt.Errorf("-timeout %v: must be positive", o.timeout)
	case !slices.Contains([]string{"", "auto", "cuda", "sim"}, o.driver):
		return fmt.Errorf("no driver %q (auto, cuda or sim)", o.driver)
	}
	return nil
}

// typesOf are the types to run a program with.
func (o *options) typesOf(p *harness.Program) []driver.Type {
	want := o.types
	if len(want) == 0 && o.command.typed {
		want = p.Types[:1]
	} else if len(want) == 0 {
		want = p.Types
	}
	return slices.DeleteFunc(slices.Clone(want), func(t driver.Type) bool { return !slices.Contains(p.Types, t) })
}
