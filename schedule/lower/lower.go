package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// pass rewrites a draft for one choice of its schedule.
type pass func(*draft) error

// passes in the order in which they run.
var passes = []pass{
	infer,    // placements -> the communication they need, buffers
	pipeline, // -> one loop over the steps
	own,      // own shard first and in place
	signals,  // ready and read in one batch each, outside the loop
	streams,  // a stream for each node, forks and joins
	order,    // copies enqueued ahead of products
	within,   // one memory for tensors that share it
	handles,  // exchange of IPC handles out of the loop
	kernels,  // posts, waits and copies by emitted kernels
}

// draft is a program in the making.
type draft struct {
	schedule schedule.Schedule // with defaults
	written  schedule.Schedule // without
	program  *hostir.Program
	comm     communication
	// placed says that the pipeline has put its nodes on streams itself, so that the
	// passes that do that are left out.
	placed bool
}

// Lower returns the host program of a schedule. Its errors are those of Validate,
// or *schedule.FieldError for choices that no pass lowers.
func Lower(name string, s schedule.Schedule) (*hostir.Program, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	written := s
	s = s.WithDefaults()
	d := &draft{schedule: s, written: written, program: &hostir.Program{Name: name, Schedule: s, Constants: hostir.Env{}}}
	for _, p := range passes {
		if err := p(d); err != nil {
			return nil, err
		}
	}
	return d.program, nil
}

// loop replaces the loop over the steps by what f makes of it.
func (d *draft) loop(f func(hostir.For) []hostir.Node) {
	var out []hostir.Node
	for _, n := range d.program.Body {
		if l, ok := n.(hostir.For); ok && l.Index == stepIndex {
			out = append(out, f(l)...)
			continue
		}
		out = append(out, n)
	}
	d.program.Body = out
}
