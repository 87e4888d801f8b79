package cli

import (
	"flag"
	"fmt"
	"strconv"
	"strings"

	"ovgen/schedule/hostir"
	"ovgen/verify/cost"
)

// costFlags are what a prediction is for.
type costFlags struct {
	on      bool
	m, k, n int64
	gpu     string
	typ     string
	extents string
	counts  string
	eager   bool
}

func (c *costFlags) bind(f *flag.FlagSet) {
	f.BoolVar(&c.on, "cost", false, "predict the time of a run instead, and draw it")
	f.Int64Var(&c.m, "m", 0, "`rows` of A and C, over all ranks")
	f.Int64Var(&c.k, "k", 0, "the contracted `extent`, over all ranks")
	f.Int64Var(&c.n, "n", 0, "`columns` of C")
	f.StringVar(&c.gpu, "gpu", "h200", "the `machine`: "+strings.Join(cost.Names(), ", "))
	f.StringVar(&c.typ, "type", "bf16", "the element `type`: bf16, fp16 or fp32")
	f.StringVar(&c.extents, "extents", "", "other `extents` of the schedule: F=28672,N2=1024")
	f.StringVar(&c.counts, "counts", "", "the `counts` of uneven parts: 3,0,5,8")
	f.BoolVar(&c.eager, "eager", false, "draw an eager run, not the replay of a graph")
}

// elementSizes are the bytes of an element.
var elementSizes = map[string]int64{"bf16": 2, "fp16": 2, "fp32": 4}

// of is the case that the flags describe, on so many ranks.
func (c *costFlags) of(ranks int) (cost.Case, error) {
	x := cost.Case{Ranks: ranks, M: c.m, K: c.k, N: c.n, ElementSize: elementSizes[c.typ],
		Extents: map[string]int64{}, Eager: c.eager, Gated: true}
	if x.ElementSize == 0 {
		return x, fmt.Errorf("no type %q (bf16, fp16 or fp32)", c.typ)
	}
	for _, part := range fields(c.extents) {
		name, text, _ := strings.Cut(part, "=")
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil || name == "" {
			return x, fmt.Errorf("-extents %s: %q is not NAME=NUMBER", c.extents, part)
		}
		x.Extents[name] = v
	}
	for _, part := range fields(c.counts) {
		v, err := strconv.ParseInt(part, 10, 64)
		if err != nil || v < 0 {
			return x, fmt.Errorf("-counts %s: %q is no count", c.counts, part)
		}
		x.Counts = append(x.Counts, v)
	}
	return x, nil
}

func fields(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
}

// cost prints what the model says of a program.
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
	x, err := c.price.of(ranks)
	if err != nil {
		return wrong(err)
	}
	drawn, err := cost.Predict(p, x, machine)
	if err != nil {
		return wrong(err)
	}
	x.Eager = !x.Eager
	other, err := cost.Predict(p, x, machine)
	if err != nil {
		return wrong(err)
	}
	fmt.Fprintf(c.stdout, "%s %d,%d,%d %s on %d %s, %s: %.1f us (%s: %.1f us)\n\n", p.Name, x.M, x.K, x.N, c.price.typ, ranks, machine.Name,
		mode(c.price.eager), drawn.Time, mode(!c.price.eager), other.Time)
	return drawn.Print(c.stdout)
}

func mode(eager bool) string {
	if eager {
		return "eager"
	}
	return "replayed"
}
