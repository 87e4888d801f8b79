package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

var groups = by(func(d *draft, s *stage, w schedule.Grouped) error {
	s.arriving = groupedRows
	if s.sums != "" {
		return refused(d.at(), "use schedule.Pull",
			"the sums %s leave one rank's rows after the other, and those of %s come of several ranks", s.sums, s.input)
	}
	return nil
}, gatherRows)

// groupedRows pulls rows in the order r+1, r+2, ..., and has them multiplied as two blocks: those of the ranks after
// this one, r+1 to D-1, when the last of them are there, and then those of the ranks before it, 0 to r-1.
func groupedRows(w *writer, s *stage) arrival {
	r, last, from := hostir.Rank, hostir.Sub(hostir.Size, one), hostir.Var("from")
	a := pulling{}.rows(w, s)
	block := func(i int64, skips, first, end, peer hostir.Expr, ranks piece) turns {
		return turns{skips: skips, pieces: []piece{ranks}, work: hostir.StreamAt(workName, hostir.Const(i)),
			set: hostir.StreamSet{Name: workName, First: hostir.Const(0), Count: hostir.Const(2)},
			bring: []hostir.Node{hostir.Loop(stepIndex, first, end, hostir.Bind("from", peer),
				hostir.Wait(a.on, a.words[0].Name, from),
				hostir.Set(a.on, w.rowsAt(s.here(), from), hostir.Whole(s.input).At(from)))}}
	}
	around := hostir.Sub(hostir.Size, r)
	a.turns = []turns{
		block(0, last, one, around, hostir.Add(r, step), piece{rank: hostir.Add(r, one), ranks: hostir.Sub(last, r)}),
		block(1, hostir.Const(0), around, hostir.Size, hostir.Sub(hostir.Add(r, step), hostir.Size),
			piece{rank: hostir.Const(0), ranks: r})}
	return a
}
