package lower

import (
	"cmp"
	"fmt"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/edges"
	"ovgen/schedule/hostir"
)

// The rules here look at the program once it is written. They refuse placements that differ from what its steps take or
// leave, and two ways that can't be used together.

// rowsFit refuses operations on all rows of what products take as it comes.
func rowsFit(w *writer) error {
	for _, s := range w.stages {
		reads := slices.IndexFunc(w.Schedule.Ops, func(o schedule.Op) bool { return s.Into != "" && o.Reads(s.Into) })
		if s.pulls() && reads >= 0 {
			return refused(fmt.Sprintf("Ops[%d]", reads), "read "+s.Input,
				"products take rows of %s as they come, and %s is there at the end", s.Input, s.Into)
		}
	}
	return nil
}

// edgesFit refuses options of a way beside the other communications.
func edgesFit(w *writer) error {
	for i, l := range w.legs {
		s, e := l.stage, w.program.Edges[i]
		blocks := slices.ContainsFunc(s.Ops, func(o schedule.Op) bool {
			return w.Tensor(w.Tensor(o.In[0]).Scale).ByBlock()
		})
		moved := slices.IndexFunc(s.Ops, func(o schedule.Op) bool {
			return w.any(func(t *stage) bool { return t.Moved.Kind == edges.AllToAll && t.Input == o.Out })
		})
		switch sums := l.move == s.Sums; {
		case sums && blocks && s.Left.Columns():
			return w.MisplacedIn(w.DeclaredAs(s.Sums), edges.Along(0), "%s takes columns of %s, and scales of what is "+
				"multiplied lie block by block", schedule.WayName(e.Way), e.Of)
		case sums && blocks && !s.Gathers && (s.summing == nil || len(s.taken) > 0):
			path, hint := "Mesh", oneHost
			if !l.Hosts {
				path = e.Field()
				hint = w.orUse("give each row a scale", l, path)
			}
			return refused(path, hint, "%s takes a part of the rows that are summed to %s, and their scales lie "+
				"block by block", schedule.WayName(e.Way), e.Of)
		case sums || s.cut.n < 2:
		case w.OfMovedColumns(s.Input):
			return refused(s.cut.at, leaveOut,
				"rows of %s are made of parts of columns that come, and travel in pieces", s.Input)
		case moved >= 0:
			return refused(s.cut.at, leaveOut,
				"parts of the columns of %s travel, and its rows are made in pieces", s.Ops[moved].Out)
		}
	}
	return nil
}

// columnsFit refuses pieces of the rows of what has parts of its columns, and steps that take all of that beside rows
// in parts of a rank's: the proof has no parts that both are made of.
func columnsFit(w *writer) error {
	pieces, beside, inParts := "", "", map[string]bool{} // what is made of memory in parts is so too
	hostir.Steps(w.program.Body, func(s hostir.Step) {
		all, parts := "", false
		from, to := s.Views()
		for _, v := range slices.Concat(from, to) {
			b := w.program.At(v.Buffer)
			if !v.Index.IsZero() && v.Columns == b.Rows.IsZero() {
				pieces = cmp.Or(pieces, v.Buffer)
			}
			if !b.Rows.IsZero() && !v.Columns {
				all = cmp.Or(all, v.Buffer)
			}
			parts = parts || w.fine[v.Buffer] > 1 || inParts[v.Buffer]
		}
		switch s.Do.(type) {
		case hostir.Call, hostir.Product: // these take all of an operand, or of a weight
			parts = false
		}
		if parts {
			beside = cmp.Or(all, beside)
		}
		for _, v := range to {
			inParts[v.Buffer] = inParts[v.Buffer] || parts
		}
	})
	if pieces != "" {
		return w.Misplaced(pieces, "let its rows be whole, or move it in a schedule of its own",
			"parts of the columns of %s travel, and steps take its rows in pieces", pieces)
	}
	for _, s := range w.stages {
		if at := cmp.Or(s.parts.at, s.cut.at, s.leaving.cut.at); at != "" && beside != "" {
			return refused(at, leaveOut, "parts of the columns of %s travel, and rows that it is made of are in parts",
				beside)
		}
	}
	return nil
}
