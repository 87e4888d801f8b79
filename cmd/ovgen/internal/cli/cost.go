package cli

import (
	"cmp"
	"flag"
	"fmt"
	"strings"

	"ovgen/cmd/ovgen/internal/memory"
	"ovgen/runtime/plan"
	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/verify/cost"
	"ovgen/verify/ops"
)

// costFlags are the inputs of a prediction besides the shape.
type costFlags struct {
	on       bool
	timeline string
	gpu      string
	hosts    int
	eager    bool
}

func (c *costFlags) bind(f *flag.FlagSet) {
	f.BoolVar(&c.on, "cost", false, "predict the time of a run instead, and draw it")
	f.StringVar(&c.timeline, "timeline", "", "the SVG `file` to draw the predicted streams of all ranks in")
	f.StringVar(&c.gpu, "gpu", "h200", "the `machine`: "+strings.Join(cost.Names(), ", "))
	f.IntVar(&c.hosts, "hosts", 0, "the `number` of hosts, of a schedule over hosts; 0: the fewest of several")
	f.BoolVar(&c.eager, "eager", false, "draw an eager run, not the replay of a graph")
}

// cost prints the model's prediction for a program.
func (c *call) cost(p *hostir.Program) error {
	wrong := func(err error) error { return &usageError{msg: "show: " + err.Error()} }
	machine, err := cost.Find(c.price.gpu)
	if err != nil {
		return wrong(err)
	}
	ranks, err := c.oneSize("4", "a prediction")
	if err != nil {
		return err
	}
	x, err := c.shape.of(ranks)
	if err == nil {
		err = c.shape.known(p)
	}
	if err != nil {
		return wrong(err)
	}
	if x.Hosts = cmp.Or(c.price.hosts, p.FewestHosts(ranks)); x.Hosts < 1 {
		return wrong(fmt.Errorf("-hosts %d: at least 1", x.Hosts))
	}
	drawn, err := cost.Predict(p, cost.Case{Case: x, Eager: c.price.eager, Gated: true}, machine)
	if err != nil {
		return fmt.Errorf("show: %w", err)
	}
	other, err := cost.Predict(p, cost.Case{Case: x, Eager: !c.price.eager, Gated: true}, machine)
	if err != nil {
		return fmt.Errorf("show: %w", err)
	}
	if ranks/x.Hosts > machine.GPUs {
		fmt.Fprintf(c.stderr, "ovgen: show: a host joins %d %s: for %d ranks the prediction is of a machine that "+
			"nobody has measured\n", machine.GPUs, machine.Name, ranks/x.Hosts)
	}
	on := fmt.Sprintf("%d %s", ranks, machine.Name)
	if x.Hosts > 1 {
		on += fmt.Sprintf(" of %d hosts", x.Hosts)
		fmt.Fprintln(c.stderr,
			"ovgen: show: the network is an estimate, a NIC of 400 Gb/s a GPU: nobody has measured it")
	}
	if c.json {
		return c.costJSON(p, drawn, other)
	}
	title := fmt.Sprintf("%s %s %s on %s, %s: %.1f us", p.Name, extentsText(x, p), c.shape.typ, on,
		mode(c.price.eager), drawn.Time)
	fmt.Fprintf(c.stdout, "%s (%s: %.1f us)\n", title, mode(!c.price.eager), other.Time)
	if c.price.timeline != "" {
		if err := c.timeline(title+", predicted", p, drawn); err != nil {
			return err
		}
	}
	if !c.price.on {
		return nil
	}
	fmt.Fprintln(c.stdout)
	if err := drawn.Print(c.stdout); err != nil {
		return err
	}
	needed, err := memory.Of(p, x)
	if err != nil {
		return fmt.Errorf("show: %w", err)
	}
	_, err = fmt.Fprintf(c.stdout, "\n%s", memory.Text(needed))
	return err
}

// costJSON prints a prediction and the memory of a plan as data. Times are in
// microseconds; the times of products, link, memory and latency add up to the whole.
func (c *call) costJSON(p *hostir.Program, drawn, other *cost.Prediction) error {
	needed, err := memory.Of(p, drawn.Case.Case)
	if err != nil {
		return fmt.Errorf("show: %w", err)
	}
	return printJSON(c.stdout, struct {
		Schedule string `json:"schedule"`
		GPU      string `json:"gpu"`
		caseJSON
		Mode      string  `json:"mode"`
		Time      float64 `json:"us"`
		Otherwise float64 `json:"other_mode_us"` // the time when eager if Mode is replayed, and the reverse
		Slowest   int     `json:"slowest_rank"`
		Products  float64 `json:"products_us"`
		Link      float64 `json:"exposed_link_us"`
		Local     float64 `json:"exposed_memory_us"`
		Latency   float64 `json:"latency_us"`
		Pure      float64 `json:"pure_us"`
		LinkAlone float64 `json:"link_alone_us"`
		*hostsJSON
		Limit  cost.Limit  `json:"limit"`
		Memory plan.Memory `json:"memory"`
	}{p.Name, drawn.Machine.Name, jsonCase(drawn.Case.Case, p, c.shape.typ), mode(c.price.eager), drawn.Time,
		other.Time, drawn.Slowest,
		drawn.Products, drawn.Link, drawn.Memory, drawn.Latency, drawn.Pure, drawn.LinkBound, jsonHosts(drawn),
		drawn.Limit, needed})
}

// hostsJSON is the part of a prediction for several hosts.
type hostsJSON struct {
	Hosts        int     `json:"hosts"`
	Network      float64 `json:"exposed_network_us"`
	NetworkAlone float64 `json:"network_alone_us"`
	Beside       float64 `json:"products_beside_us"`
	OneHost      float64 `json:"one_host_us"` // at least
}

// jsonHosts is nil for one host.
func jsonHosts(p *cost.Prediction) *hostsJSON {
	if p.Case.Hosts < 2 {
		return nil
	}
	return &hostsJSON{p.Case.Hosts, p.Network, p.NetworkBound, p.Beside(), p.OneHost()}
}

// extentsText is "4096,8192,7168", followed by " N2=1024" where the program has more extents.
func extentsText(x ops.Case, p *hostir.Program) string {
	c := p.Schedule.Constants()
	value := func(e schedule.Extent) int64 { return cmp.Or(x.Extents[string(e)], c[e]) }
	text := fmt.Sprintf("%d,%d,%d", value(schedule.M), value(schedule.K), value(schedule.N))
	for _, e := range []schedule.Extent{schedule.N2, schedule.N3, schedule.F, schedule.W} {
		if n := value(e); n != 0 {
			text += fmt.Sprintf(" %s=%d", e, n)
		}
	}
	return text
}

func mode(eager bool) string {
	if eager {
		return "eager"
	}
	return "replayed"
}
