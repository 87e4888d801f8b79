package old

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// pass rewrites a draft for one choice of its schedule.
type pass func(*draft) error

// passes in the order in which they run, on every program.
var passes = []pass{
	recognise,  // operations -> their form and roles
	infer,      // placements -> the communication they need
	choose,     // -> its naive program, by the writer of its way
	within,     // one memory for tensors that share it
	handles,    // the exchange of IPC handles out of the program
	signals,    // posts and waits to where one launch can take them
	kernels,    // posts, waits and copies by emitted kernels
	priorities, // the streams of kernels that pull operands
	fuse,       // steps around a copy or a sum as one launch
	byBlocks,   // a word for each block where one launch signals another
	origins,    // the field of the schedule that each step comes from
	simplify,   // index expressions as a person would write them
	renamed,    // roles -> the names of the tensors
	multiples,  // the schedule's own requirements on the shape
}

// draft is a program in the making.
type draft struct {
	original schedule.Schedule // with defaults, and the usual letters
	schedule schedule.Schedule // the same, with tensors called by their roles
	form     form
	program  *hostir.Program
	comm     communication
	chain    *chain              // of a schedule that is one
	leg      map[string]carriage // of each move, by its tensor
	columns  map[string]int      // the axis by which tensors, by role, are spread over the ranks as a result is
	chunks   int                 // that the stream axis has, where they are a constant
	with     options             // of the ways
	of       string              // the tensor that travels by the way that is being lowered
	at       string              // the path of that way
	slotted  bool                // streams of products that leave have been chosen
	summed   bool                // the functions of a sum are applied
}

// Lower returns the host program of a schedule. Its errors come from Validate, or
// are a *schedule.FieldError of a field that no pass lowers.
func Lower(name string, s schedule.Schedule) (*hostir.Program, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	s = s.WithDefaults().Canonical()
	for i, o := range s.Ops { // Canonical has made a list of its own
		s.Ops[i].Then = inFP32(s, o)
	}
	d := &draft{original: s, schedule: s, leg: map[string]carriage{},
		program: &hostir.Program{Name: name, Schedule: s, Constants: hostir.Env{}}}
	for _, p := range passes {
		if err := p(d); err != nil {
			return nil, err
		}
	}
	return d.program, nil
}

// add appends to the program.
func (d *draft) add(nodes ...hostir.Node) { d.program.Body = append(d.program.Body, nodes...) }
