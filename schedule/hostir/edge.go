package hostir

import "ovgen/schedule"

// Edge is a communication of a program: a tensor travels, or the partial sums of a result meet.
type Edge struct {
	Of   string // the tensor, or the result
	Kind string // the communication, as the table of communications has it: all-gather
	Data string // what travels, as that table has it: rows, columns, rows alone
	Path string // of the way in the schedule that was lowered; empty: it leaves the way open
	Way  schedule.Way
	// Default is the way of a schedule that leaves it open.
	Default schedule.Way
	// Steps is the MoveOf of its steps. Empty: all steps of the program are of the edge.
	Steps   string
	Carrier Carrier
	// Products are the operations that stand beside the communication and multiply.
	Products []string
	// Parts is in how many parts this rank's rows go on from a sum: Across are the operations that take one part while
	// the next is summed. 0 and 1: whole.
	Parts  int
	Across []string
}

// MovesField is the field of the schedule that asks for communications.
const MovesField = "Moves"

// ReadWord is the word by which a reader tells an owner that it is done with its memory.
const ReadWord = "read"

// GatheredSuffix ends the name of the memory in which all ranks' rows of a tensor are gathered.
const GatheredSuffix = "gathered"

// Carrier says what kernels do of an edge: the copies, the signals, a copy and the signals around it in one launch, and
// signals for each block of such a launch where its peers signal so as well; and functions of rows of what it sums.
type Carrier struct{ Copies, Signals, Fused, ByBlocks, Rows bool }

// CarrierOf is what the options By and Signals of a way let kernels do.
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
