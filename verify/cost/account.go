package cost

import (
	"slices"

	"ovgen/verify/ops"
)

// account divides the slowest rank's time among its causes.
func (p *Prediction) account(list []ops.Op) {
	var marks []float64
	for _, s := range p.Spans {
		if s.Rank == p.Slowest {
			marks = append(marks, s.Start, s.End)
		}
	}
	marks = append(marks, 0, p.Time)
	slices.Sort(marks)
	for i := 1; i < len(marks); i++ {
		from, to := marks[i-1], marks[i]
		if to <= from {
			continue
		}
		*p.share(from, to) += to - from
	}
	in, out := traffic(list, p.Slowest, p.Case.Ranks)
	p.LinkBound = max(in, out) / p.Machine.Link
	p.NetworkBound = network(list) / p.Machine.Network.Rate
	bound, limit := p.Pure, ByCompute
	if p.LinkBound > bound {
		bound, limit = p.LinkBound, ByLink
	}
	if p.NetworkBound > bound {
		bound, limit = p.NetworkBound, ByNetwork
	}
	if p.Limit = limit; p.Time > near*bound {
		p.Limit = ByLatency
	}
}

// share is the part of the account to which an interval belongs in which nothing begins or ends.
func (p *Prediction) share(from, to float64) *float64 {
	kind := &p.Latency
	for _, s := range p.Spans {
		if s.Rank != p.Slowest || s.Start > from || s.End < to {
			continue
		}
		switch {
		case s.Kind == ops.Product:
			return &p.Products
		case s.Network:
			kind = &p.Network
		case !s.Kind.Works() || kind == &p.Network:
		case s.Bytes > 0:
			kind = &p.Link
		case kind != &p.Link:
			kind = &p.Memory
		}
	}
	return kind
}

// traffic is the number of bytes that a rank's operations bring in and send out. On a symmetric mesh, its peers'
// accesses to its memory are equally many bytes in the other direction.
func traffic(list []ops.Op, rank, ranks int) (in, out float64) {
	for _, o := range list {
		if o.Kind == ops.Collective && !o.Exchanges() {
			in, out = in+travels(o, ranks), out+travels(o, ranks)
		}
		for _, u := range o.Uses {
			switch {
			case u.At.Rank == rank:
			case u.Write:
				out += float64(u.Bytes)
			default:
				in += float64(u.Bytes)
			}
		}
	}
	return in, out
}

// network is the number of bytes that a rank exchanges with other hosts, in the busier direction.
func network(list []ops.Op) float64 {
	sent, got := 0.0, 0.0
	for _, o := range list {
		if o.Exchanges() {
			out, in := exchanged(o)
			sent, got = sent+out, got+in
		}
	}
	return max(sent, got)
}
