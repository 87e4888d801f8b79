// Package lower turns a schedule into its host program, in steps of one file each that lower.go lists. Package stages
// finds the stages, and names what of their communications ways tell apart; legs.go lists these. Then (choose.go) lower
// takes the way that the schedule says for each, in a file way_*.go, of which lowering.go has the table, and one writer
// (chain_write.go) writes the program, with its streams. The program has an edge for each communication, and says of
// each step which edge it is of. Options that do not go together are an error that names the field.
//
// The passes of package passes then rewrite the program.
package lower

import (
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/schedule/passes"
	"ovgen/schedule/stages"
)

// refused is the error of a field.
var refused = schedule.Refused

// writer writes the program of a chain. Rows of rank r+i go through a stage in its step i: they are gathered,
// multiplied as soon as they are there, and their partial results leave as soon as they are made, while others still
// come. The own rows wait for nobody and fill the gaps.
type writer struct {
	*stages.Chain
	batches parts // that the rows of all ranks come in
	program *hostir.Program
	stages  []*stage // of the chain, with what ways say of them
	legs    []leg    // its communications
	pool    pool
	edge    *hostir.Edge       // that is being lowered
	fine    map[string]int64   // how many parts each rank's rows have in memory whose rows go on, come or leave so
	parted  map[string]*stage  // memory that a stage's products take in parts of all rows
	set     hostir.StreamSet   // of products where rows of rank r+i go through a stage in round i
	sets    []hostir.StreamSet // of all products
	work    hostir.StreamRef   // of those of a round
	coming  []coming
	wrong   error // parts of memory that is taken otherwise
	tries   bool  // a way, for a hint
}

// Ways that hints name, of what travels and of sums: advised ones, which copy.
var (
	plainBringing = schedule.WaysThat(func(f schedule.Facts) bool { return f.Advised && f.Travels && !f.Lands })
	plainSums     = schedule.WaysThat(func(f schedule.Facts) bool { return f.Advised && f.Sums && !f.Lands })
)

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
	return lowered(name, s, false, seen)
}

// lowered is the program of a valid schedule, or of one that tries a way for a hint.
func lowered(name string, s schedule.Schedule, tries bool, seen func(passes.Pass, *hostir.Program)) (*hostir.Program,
	error) {
	p, err := write(name, s, tries)
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
func write(name string, s schedule.Schedule, tries bool) (*hostir.Program, error) {
	s = s.WithDefaults().Apart().Canonical()
	chain, err := stages.Of(s, leg{need: gather(ofBalanced)}.doneBy)
	if err != nil {
		return nil, err
	}
	w := &writer{Chain: chain, program: &hostir.Program{Name: name, Schedule: s, Constants: hostir.Env{},
		Streams: []hostir.StreamSet{{Name: hostir.MainStream}}}, batches: parts{n: int64(chain.Batches), index: "s"},
		fine: map[string]int64{}, parted: map[string]*stage{}, tries: tries}
	for _, step := range []func(*writer) error{
		staged,     // what ways say of stages, none yet
		travel,     // the communications between them
		choose,     // their ways, which say in the stages what they do
		writeChain, // -> the program
		// placements and ways that do not go together
		(*writer).Fits, rowsFit, edgesFit, columnsFit,
	} {
		if err := step(w); err != nil {
			return nil, w.AsDeclared(err)
		}
	}
	return w.program, nil
}

func (w *writer) add(nodes ...hostir.Node) { w.program.Body = append(w.program.Body, nodes...) }

// path is the field of the way that is being lowered.
func (w *writer) path() string { return w.edge.Field() }

// edgeOf is the edge with a move's steps.
func (w *writer) edgeOf(move string) *hostir.Edge {
	return &w.program.Edges[slices.IndexFunc(w.program.Edges, func(e hostir.Edge) bool { return e.Steps == move })]
}
