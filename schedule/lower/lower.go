package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// pass rewrites a draft for one choice of its schedule.
type pass func(*draft) error

// passes in the order in which they run, on every program.
var passes = []pass{
	infer,    // placements -> the communication they need
	pipeline, // -> its naive program, by the writer of its way
	within,   // one memory for tensors that share it
	handles,  // the exchange of IPC handles out of the program
	kernels,  // posts, waits and copies by emitted kernels
	fuse,     // steps around a copy or a sum as one launch
	origins,  // the field of the schedule that each step comes from
	simplify, // index expressions as a person would write them
}

// draft is a program in the making.
type draft struct {
	schedule schedule.Schedule // with defaults
	written  schedule.Schedule // without
	program  *hostir.Program
	comm     communication
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

// add appends to the program.
func (d *draft) add(nodes ...hostir.Node) { d.program.Body = append(d.program.Body, nodes...) }
