package hostir

import (
	"cmp"

	"ovgen/schedule"
)

// Edge is a communication of a program: a tensor travels, or the partial sums of a result meet.
type Edge struct {
	Of   string // the tensor, or the result
	Kind string // the communication, as the table of communications names it: all-gather
	Data string // the data that travel, as that table names them: rows, columns, rows alone
	Path string // of the way in the schedule that was lowered; empty where the schedule leaves the way open
	Way  schedule.Way
	// Default is the way where the schedule leaves it open.
	Default schedule.Way
	// Steps is the MoveOf of the edge's steps. Empty: all steps of the program belong to the edge.
	Steps   string
	Carrier Carrier
	// Products are the operations beside the communication that multiply.
	Products []string
	// Parts is the number of parts in which this rank's rows go on from a sum; 0 and 1: whole. Across are the
	// operations that take one part while the next is summed.
	Parts  int
	Across []string
}

// Field is the field of the way of a communication, or of all ways where the schedule leaves it open.
func (e Edge) Field() string { return cmp.Or(e.Path, MovesField) }

// Fields of the schedule that ask for operations, for communications, and for what hosts exchange.
const (
	OpsField   = "Ops"
	MovesField = "Moves"
	MeshField  = "Mesh"
)

// What options of a way decide, in place of a field: where streams begin, when ranks exchange handles, and what a
// launch does.
const (
	ForksField    = "forks"
	HandlesField  = "handles"
	LaunchesField = "launches"
)

// ReadWord is the word by which a reader tells an owner that it has read the owner's memory.
const ReadWord = "read"

// GatheredSuffix ends the name of the memory in which the rows of all ranks of a tensor are gathered, and PaddedSuffix
// that of memory with padding for a tensor that lies without it.
const (
	GatheredSuffix = "gathered"
	PaddedSuffix   = "padded"
)

// SpreadSuffix ends the name of the memory in which packets of a result land, a part of it from each rank, and
// ReturnedSuffix that of their flags.
const (
	SpreadSuffix   = "spread"
	ReturnedSuffix = "returned"
)

// Carrier says which work of an edge kernels do: the copies, the signals, a copy and the signals around it in one
// launch, the signals for each block of such a launch where its peers also signal so, and functions of rows of the
// edge's sums.
type Carrier struct{ Copies, Signals, Fused, ByBlocks, Rows bool }

// CarrierOf has the work that the options By and Signals of a way give to kernels.
func CarrierOf(way schedule.Way) (c Carrier) {
	for _, o := range schedule.Options(way) {
		switch o.Field {
		case "By":
			c.Copies = o.Value != schedule.CopyEngine && o.Value != schedule.KernelSignals
			c.Signals = o.Value != schedule.CopyEngine && o.Value != schedule.KernelCopies
			c.Fused = o.Value == schedule.OneKernel
		case "Signals":
			c.Signals, c.Fused = o.Value != schedule.MemOps, o.Value == schedule.OneKernel
		}
	}
	return c
}

// EdgeOf is the edge that a step is of; the zero Edge where it is of none.
func (p *Program) EdgeOf(s Step) Edge {
	for _, e := range p.Edges {
		if e.Steps == s.MoveOf {
			return e
		}
	}
	return Edge{}
}

// StepsOf are the steps of an edge.
func (p *Program) StepsOf(e Edge) (list []Step) {
	Steps(p.Body, func(s Step) {
		if s.MoveOf == e.Steps {
			list = append(list, s)
		}
	})
	return list
}
