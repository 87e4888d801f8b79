package ops

import (
	"fmt"
	"slices"
)

// FormError says that a rank's list is not one run that a host can enqueue.
type FormError struct {
	Rank      int
	Operation int // its place in the list
	Problem   string
}

// Error names the rank, the operation and the problem.
func (e *FormError) Error() string {
	return fmt.Sprintf("rank %d's list is no run: operation %d %s", e.Rank, e.Operation, e.Problem)
}

// WellFormed refuses lists that are not one run of each rank: a list that does not begin with After and end with Done,
// an operation with fields that its kind lacks, and operations that do not form a launch together. The error is a
// *FormError. Checkers rely on this form, and on nothing else about a list.
func WellFormed(lists [][]Op) error {
	for r, list := range lists {
		i, problem := malformed(list)
		if problem != "" {
			return &FormError{r, i, problem}
		}
	}
	return nil
}

// malformed is the first wrong operation of a list, and the mistake in it.
func malformed(list []Op) (at int, problem string) {
	n := len(list)
	if n < 2 || list[0].Kind != After || list[n-1].Kind != Done {
		return 0, "is not the After that a run begins with, or no Done ends it"
	}
	for i, o := range list[1 : n-1] {
		if problem := o.malformed(); problem != "" {
			return i + 1, problem
		}
	}
	for i := 0; i < n; {
		size := launch(list[i:])
		if j, problem := misfit(list[i : i+size]); problem != "" {
			return i + j, problem
		}
		i += size
	}
	return 0, ""
}

// malformed names a field that an operation between After and Done has although its kind lacks it.
func (o *Op) malformed() string {
	// A kernel's work on a part of no bytes, or an exchange of two such parts.
	works, idle := o.Kind.Works(), (o.Kernel != "" || o.Exchanges()) && len(o.Uses) == 0
	switch {
	case o.Kind == After || o.Kind >= Done:
		return fmt.Sprintf("is %s", o.Kind)
	case o.Kind != Signal && len(o.Words) > 0, !works && len(o.Uses) > 0, works && len(o.Uses) == 0 && !idle:
		return fmt.Sprintf("is a %s of %d words and %d uses of memory", o.Kind, len(o.Words), len(o.Uses))
	case o.Kernel == "" && (o.ByBlocks || o.AtOnce || o.Part != 0 || o.Count.Buffer != ""):
		return "has blocks or parts, and is of no kernel"
	case o.Early && o.Kernel == "":
		return "starts early, and is of no kernel"
	case slices.ContainsFunc(o.Uses, func(u Use) bool { return u.Ahead && (u.Write || !o.Early) }):
		return "writes ahead of the launch before, or reads ahead and does not start early"
	case o.Kernel != "" && o.Step == 0:
		return "is of a kernel, and of no step"
	case o.Part < 0:
		return fmt.Sprintf("is of part %d", o.Part)
	case len(o.Uses) > 0:
		return o.misused()
	}
	return ""
}

// misused names a mistake in the order of an operation's uses. Reads come first, then its one result, and then perhaps
// a workspace, or scales. A Take has only results.
func (o *Op) misused() string {
	reads, writes := o.Reads(), o.Writes()
	switch {
	case len(writes) == 0 && o.Exchanges(): // the other rank's part has no bytes
		return ""
	case len(writes) == 0:
		return "writes nothing"
	}
	if slices.ContainsFunc(writes, func(u Use) bool { return !u.Write }) {
		return "reads memory behind what it writes"
	}
	if o.Kind == Take {
		if len(reads) > 0 {
			return "takes packets back, and reads memory"
		}
		return ""
	}
	scales := o.LeavesScales && (o.Kind == Apply || o.Kind == Call)
	if last := len(writes) - 1; last > 0 && (IsWorkspace(writes[last].At) || scales) {
		writes = writes[:last]
	} else if o.LeavesScales {
		return "leaves no scales"
	}
	switch {
	case len(writes) != 1 || OfStream(writes[0].At):
		return fmt.Sprintf("has %d results", len(writes))
	case o.Scales > 0 && o.Kind != Product, o.InBlocks && o.Scales < 1:
		return fmt.Sprintf("is a %s of %d operands with scales", o.Kind, len(reads))
	case o.ScaledTerms > 0 && (o.Kind != Sum || len(reads) < 2*o.ScaledTerms+len(o.Lies) || o.Scaled < 1):
		return fmt.Sprintf("is a %s of %d operands, with %d scaled terms and a scale for %d elements", o.Kind,
			len(reads), o.ScaledTerms, o.Scaled)
	case len(o.Lies) > 0 && len(reads) <= len(o.Lies):
		return fmt.Sprintf("is a %s of %d operands, of which formulas read %d", o.Kind, len(reads), len(o.Lies))
	case o.Kind == Product && o.Factors().A == nil:
		return fmt.Sprintf("is a product of %d operands", len(reads))
	}
	return ""
}

// launch counts the operations at the head of a list that belong to one step, if a kernel carries out one of them; else
// it is 1.
func launch(list []Op) int {
	n := 1
	for list[0].Step > 0 && n < len(list) && list[n].Step == list[0].Step && list[n].Stream == list[0].Stream {
		n++
	}
	if !slices.ContainsFunc(list[:n], func(o Op) bool { return o.Kernel != "" }) {
		return 1
	}
	return n
}

// reads reports whether an operation reads some of a range.
func (o *Op) reads(written Use) bool {
	return slices.ContainsFunc(o.Reads(), func(u Use) bool {
		return u.At.Rank == written.At.Rank && u.At.Buffer == written.At.Buffer &&
			u.At.Offset < written.At.Offset+written.Bytes && written.At.Offset < u.At.Offset+u.Bytes
	})
}

// misfit is the first operation of a launch that does not fit the others, and why. One kernel carries out all
// operations. Its blocks signal together, or each for itself. Its parts follow each other, and a product is among them.
// Blocks count themselves in one word: where they signal together or, in a launch of parts, before the parts and in or
// behind the last part. Behind a product in a launch without parts, each block goes on with what it has made.
func misfit(list []Op) (at int, problem string) {
	first, parts := list[0], 0
	for _, o := range list {
		parts = max(parts, o.Part)
	}
	if parts > 0 && !slices.ContainsFunc(list, func(o Op) bool { return o.Part > 0 && o.Kind == Product }) {
		return 0, "is of a launch that has parts and no product"
	}
	last, ended, count := 0, false, Loc{}
	for i, o := range list {
		switch {
		case i > 0 && first.Kind == Product && slices.ContainsFunc(o.Writes(), first.reads):
			return i, "writes what other blocks of its launch may still multiply"
		case o.Kernel != first.Kernel, o.ByBlocks != first.ByBlocks, o.AtOnce != first.AtOnce, o.Early != first.Early:
			return i, "is not of one launch with the others of its step"
		case o.Part > 0 && (ended || o.Part != last && o.Part != last+1):
			return i, fmt.Sprintf("is of part %d behind part %d", o.Part, last)
		case o.Count.Buffer != "" && o.ByBlocks && parts == 0:
			return i, "counts blocks that signal each for itself"
		case o.Count.Buffer != "" && o.Part > 0 && o.Part < parts:
			return i, fmt.Sprintf("counts blocks in part %d of %d", o.Part, parts)
		case o.Count.Buffer != "" && count.Buffer != "" && o.Count != count:
			return i, "counts blocks in another word than the launch does"
		}
		ended = ended || o.Part == 0 && last > 0
		last = max(last, o.Part)
		if o.Count.Buffer != "" {
			count = o.Count
		}
	}
	return 0, ""
}
