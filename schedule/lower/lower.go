package lower

import (
	"cmp"
	"fmt"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/schedule/passes"
)

// draft is a program in the making, until the ways of its communications have written it.
type draft struct {
	original schedule.Schedule // with defaults, and the usual letters
	schedule schedule.Schedule // the same, with one axis of batches and their rows
	program  *hostir.Program
	chain    *chain             // its stages
	legs     []leg              // its communications
	origins  []hostir.Function  // of the operations: those that were declared, and their first functions
	sumsOnly map[string]sumOnly // sums whose functions are of operations of their own, by the results
	chunks   int                // that the stream axis has, where they are a constant
	with     options            // of the ways
	edge     *hostir.Edge       // that is being lowered
	// pool is the path of the way, and its option, that chose the streams of products that leave.
	pool struct{ way, option string }
}

// Lower returns the host program of a schedule. Its errors come from Validate, or
// are a *schedule.FieldError of a field that no pass lowers.
func Lower(name string, s schedule.Schedule) (*hostir.Program, error) {
	return Behind(name, s, func(passes.Pass, *hostir.Program) {})
}

// Written is how a program begins, before all passes.
var Written = passes.Pass{Name: "ways", Sentence: "the program is as the ways of its communications write it"}

// Behind lowers a schedule as Lower does. It calls seen with the program as it is written, and then behind each pass;
// the program changes afterwards.
func Behind(name string, s schedule.Schedule, seen func(passes.Pass, *hostir.Program)) (*hostir.Program, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	p, err := write(name, s)
	if err != nil {
		return nil, s.AsDeclared(err)
	}
	seen(Written, p)
	for _, pass := range passes.All {
		if err := pass.Run(p); err != nil {
			return nil, s.AsDeclared(err)
		}
		seen(pass, p)
	}
	return p, nil
}

// write is the program of a schedule as the ways of its communications write it.
func write(name string, s schedule.Schedule) (*hostir.Program, error) {
	s = s.WithDefaults().Apart().Canonical()
	d := &draft{original: s, schedule: s,
		program: &hostir.Program{Name: name, Schedule: s, Constants: hostir.Env{},
			Streams: []hostir.StreamSet{{Name: hostir.MainStream}}}}
	for _, step := range []func(*draft) error{
		callsApart, // calls beside rows by counts
		formulas,   // functions behind sums and gathers -> operations of their own
		recognise,  // operations that some program does together
		infer,      // placements -> stages, and the communications between them
		choose,     // -> their naive program, by the writers of their ways
		// placements and ways that do not go together
		countsAlike, movedSums, stagesFit, columnsInPieces, goesOn, evenSums, edgesFit, operationsFit, besideFits,
		axesFit,
		finish, // -> its tensors as they are declared
	} {
		if err := step(d); err != nil {
			return d.program, d.asDeclared(err)
		}
	}
	return d.program, nil
}

func (d *draft) add(nodes ...hostir.Node) { d.program.Body = append(d.program.Body, nodes...) }

// at is the path of the way that is being lowered, or of all ways where the schedule leaves it open.
func (d *draft) at() string { return cmp.Or(d.edge.Path, hostir.MovesField) }

// pathOfMove is the path of the way that a move's steps have.
func (d *draft) pathOfMove(move string) string {
	i := slices.IndexFunc(d.program.Edges, func(e hostir.Edge) bool { return e.Steps == move })
	return cmp.Or(d.program.Edges[i].Path, hostir.MovesField)
}

// finish gives the program the schedule as it is declared, and the axes of tensors of batches.
func finish(d *draft) error {
	d.program.Schedule = d.original
	seen := map[string]bool{}
	for k, b := range d.program.Buffers {
		i := slices.IndexFunc(d.original.Tensors, func(t schedule.Tensor) bool { return t.Name == b.Name })
		if i >= 0 && b.Owner == hostir.Caller && len(b.Tensor.Axes) != len(d.original.Tensors[i].Axes) {
			d.program.Buffers[k].Tensor.Axes = d.original.Tensors[i].Axes
		}
		if seen[b.Name] && i >= 0 {
			return refused(fmt.Sprintf("Tensors[%d].Name", i), "use another name",
				"the plan has memory of its own called %s", b.Name)
		}
		seen[b.Name] = true
	}
	return nil
}
