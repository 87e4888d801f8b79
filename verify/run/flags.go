package run

import (
	"flag"
	"io"
	"time"

	"ovgen/runtime/driver"
	"ovgen/verify/harness"
)

// running is where and how ranks run.
type running struct {
	ranks, hosts  int
	counted       bool // the ranks were asked for
	driver, cache string
	timeout       time.Duration
	timed         bool // it was asked for
	long          bool
	seed          uint32
	// oneProcess runs all ranks in this process, where each has a seat.
	oneProcess bool
	seat       *seat
}

// sizing is the shapes and types of runs.
type sizing struct {
	shapes  []harness.Shape // without type; empty means the defaults
	extents harness.Shape   // values that replace every shape's
	sized   bool            // -m, -k or -n was given
	types   []driver.Type
}

// disturbing is how verify disturbs runs.
type disturbing struct{ delays, straggler bool }

// measuring is how runs are measured.
type measuring struct {
	iters   int
	rounds  int     // iters, or the default
	network float64 // GB/s of the network that is played; 0: none is
	nosteps bool
}

// modelling is the size of a model: its layers, and the numbers of rows that it takes.
type modelling struct{ layers, buckets int }

// writing names the files that are written.
type writing struct{ out, svg string }

// texts are flags that need more than the flag package.
type texts struct {
	one                    harness.Shape
	shapes, types, extents string
	seed                   uint
}

// flags is the flag set of the command.
func (o *options) flags() *flag.FlagSet {
	f := flag.NewFlagSet("run "+o.command.name, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	o.texts = texts{seed: 1}
	for _, bind := range o.command.reads {
		bind(o, f)
	}
	return f
}

func ranksFlag(o *options, f *flag.FlagSet) { f.IntVar(&o.ranks, "ranks", 4, "") }

func hostsFlag(o *options, f *flag.FlagSet) { f.IntVar(&o.hosts, "hosts", 1, "") }

func driverFlag(o *options, f *flag.FlagSet) { f.StringVar(&o.driver, "driver", "", "") }

func devicesFlag(_ *options, f *flag.FlagSet) { f.Bool("devices", true, "") }

func jsonFlag(o *options, f *flag.FlagSet) { f.BoolVar(&o.json, "json", false, "") }

func iterFlag(o *options, f *flag.FlagSet) { f.IntVar(&o.iters, "iters", 0, "") }

func seedFlag(o *options, f *flag.FlagSet) { f.UintVar(&o.texts.seed, "seed", 1, "") }

func networkFlag(o *options, f *flag.FlagSet) { f.Float64Var(&o.network, "network", 0, "") }

func stepsFlag(o *options, f *flag.FlagSet) { f.BoolVar(&o.nosteps, "nosteps", false, "") }

func svgFlag(o *options, f *flag.FlagSet) { f.StringVar(&o.svg, "svg", "", "") }

func outFlag(name string) func(*options, *flag.FlagSet) {
	return func(o *options, f *flag.FlagSet) { f.StringVar(&o.out, "o", name, "") }
}

func disturbFlags(o *options, f *flag.FlagSet) {
	f.BoolVar(&o.delays, "delays", false, "")
	f.BoolVar(&o.straggler, "straggler", false, "")
}

func layerFlags(o *options, f *flag.FlagSet) {
	f.IntVar(&o.layers, "layers", 80, "")
	f.IntVar(&o.buckets, "buckets", 20, "")
}

// sizeFlags are the flags of one shape.
func sizeFlags(o *options, f *flag.FlagSet) {
	f.IntVar(&o.texts.one.M, "m", 0, "")
	f.IntVar(&o.texts.one.K, "k", 0, "")
	f.IntVar(&o.texts.one.N, "n", 0, "")
	f.StringVar(&o.texts.extents, "extents", "", "")
	f.StringVar(&o.texts.types, "type", "", "")
}

// runFlags are the flags of commands that start ranks.
func runFlags(o *options, f *flag.FlagSet) {
	ranksFlag(o, f)
	driverFlag(o, f)
	sizeFlags(o, f)
	f.StringVar(&o.texts.shapes, "shapes", "", "")
	f.StringVar(&o.cache, "cache", "", "")
	f.DurationVar(&o.timeout, "timeout", 30*time.Second, "")
	f.BoolVar(&o.oneProcess, "oneprocess", false, "")
	f.BoolVar(&o.long, "long", false, "")
}
