package cost

import (
	"fmt"
	"io"
	"strings"

	"ovgen/verify/ops"
)

// columns of a timeline.
const columns = 96

// marks of a timeline.
var marks = map[ops.Kind]byte{ops.Product: '#', ops.Copy: '=', ops.Collective: '=', ops.Sum: '+', ops.Apply: '+',
	ops.Call: '+', ops.Signal: ':', ops.WaitEvent: '.'}

const legend = "# product  = copy, collective  + sum, function, call  : signal or wait for one  " +
	". wait for another stream"

// Print writes the figures, a line each, and the timeline of the slowest rank.
func (p *Prediction) Print(w io.Writer) error {
	_, err := io.WriteString(w, p.summary()+"\n"+p.Timeline(p.Slowest))
	return err
}

func (p *Prediction) summary() string {
	var b strings.Builder
	row := func(what string, us float64, remark string) {
		fmt.Fprintf(&b, "%-12s %10.1f us  %3.0f %%  %s\n", what, us, 100*us/p.Time, remark)
	}
	row("predicted", p.Time, fmt.Sprintf("of rank %d, the slowest", p.Slowest))
	row("products", p.Products, "while one runs")
	row("exposed", p.Exposed(), "communication that no product hides:")
	if p.Case.Hosts > 1 {
		row("  network", p.Network, "an exchange between hosts is under way")
	}
	row("  link", p.Link, "a copy, a sum or a collective is on the link")
	row("  memory", p.Memory, "a copy, a sum, a function or a call is in the GPU's own memory")
	row("  latency", p.Latency, "signals, events, starts")
	if p.Pure > 0 {
		row("pure", p.Pure, fmt.Sprintf("the products alone, each whole: efficiency %.2f", p.Efficiency()))
	}
	row("link alone", p.LinkBound, "its bytes at the full rate of one direction")
	if p.Case.Hosts > 1 {
		row("network", p.NetworkBound, "its bytes at the full rate of one direction of a NIC"+p.beside())
	}
	if p.Case.Hosts > 1 && p.Pure > 0 {
		row("one host", p.OneHost(), p.advice())
	}
	fmt.Fprintf(&b, "limited by %s\n", p.reason())
	return b.String()
}

// beside compares the network with the products.
func (p *Prediction) beside() string {
	switch beside := p.Beside(); {
	case beside == 0:
		return ""
	case p.NetworkBound <= beside:
		return fmt.Sprintf(": the products beside take %.1f us and hide it", beside)
	default:
		return fmt.Sprintf(": the products beside take %.1f us and can't hide all of it", beside)
	}
}

// advice says whether several hosts are worth it.
func (p *Prediction) advice() string {
	what := fmt.Sprintf("all products on %d ranks: %d hosts are", p.Case.Ranks/p.Case.Hosts, p.Case.Hosts)
	if p.Time >= p.OneHost() {
		return what + " no faster (keep the layer on one)"
	}
	return fmt.Sprintf("%s at most %.2f times as fast", what, p.OneHost()/p.Time)
}

func (p *Prediction) reason() string {
	bound := max(p.Pure, p.LinkBound, p.NetworkBound)
	switch p.Limit {
	case ByLatency:
		return fmt.Sprintf("latency: it takes %.2f times the larger of pure and link alone", p.Time/bound)
	case ByNetwork:
		return fmt.Sprintf("the network: its bytes are %.0f %% of the time", 100*p.NetworkBound/p.Time)
	case ByLink:
		return fmt.Sprintf("the link: link alone is %.0f %% of the time", 100*p.LinkBound/p.Time)
	}
	return fmt.Sprintf("compute: pure is %.0f %% of the time", 100*p.Pure/p.Time)
}

// Timeline draws a rank's streams, a line each, over time.
func (p *Prediction) Timeline(rank int) string {
	step := p.Time / columns
	var names []string
	lines := map[string][]Span{}
	width := 0
	for _, s := range p.Spans {
		if s.Rank != rank {
			continue
		}
		if lines[s.Stream] == nil {
			names = append(names, s.Stream)
			width = max(width, len(s.Stream))
		}
		lines[s.Stream] = append(lines[s.Stream], s)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "rank %d, a column is %.2f us:  %s\n", rank, step, legend)
	for _, n := range names {
		drawn := make([]byte, columns)
		for i := range drawn {
			drawn[i] = mark(lines[n], float64(i)*step, float64(i+1)*step)
		}
		fmt.Fprintf(&b, "%-*s  %s\n", width, n, strings.TrimRight(string(drawn), " "))
	}
	return b.String()
}

// mark is the mark of the kind of operation that fills most of a column.
func mark(spans []Span, from, to float64) byte {
	best, most := byte(' '), (to-from)/8
	for _, s := range spans {
		if c, ok := marks[s.Kind]; ok && min(to, s.End)-max(from, s.Start) > most {
			best, most = c, min(to, s.End)-max(from, s.Start)
		}
	}
	return best
}
