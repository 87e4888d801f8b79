package lower

import (
	"cmp"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/schedule/stages"
)

// piece is rows of one rank, or a part of them; of an absent rank: of all ranks.
type piece struct {
	rank, part hostir.Expr
	ranks      hostir.Expr // how many it is of, from the rank on; absent: one
	from       hostir.View // where a stage's input has it; none: at its place
	into       hostir.View // where its partial result is made, in a program of these alone
}

// ofRank is all rows of a rank.
func ofRank(rank hostir.Expr) piece { return piece{rank: rank} }

// turns are rounds of a loop, or one. In each, pieces of the ranks' rows come or leave.
type turns struct {
	index      string           // of a round; empty: that of steps
	first, end hostir.Expr      // absent: one round
	names      []hostir.Node    // of a round
	skips      hostir.Expr      // the rank that leaves a round out; absent: none does
	pieces     []piece          // of a round
	ofAll      bool             // for each rank in turn
	bring      []hostir.Node    // brings them
	on         hostir.StreamRef // that does it, if it is another one than the arrival's
	instead    []hostir.Node    // what a rank does where it leaves a round out
	came       []hostir.Node    // waits of their products
	behind     []hostir.Node    // ends a round
	leave      []hostir.Node    // takes partial results away, and sums
	then       []turns          // of each round, behind its pieces
	work       hostir.StreamRef // of the products
	set        hostir.StreamSet // that has it
}

// over are the rounds, with other nodes in those that a rank leaves out.
func (t turns) over(instead []hostir.Node, round ...hostir.Node) []hostir.Node {
	if !t.skips.IsZero() {
		round = []hostir.Node{hostir.If{X: hostir.Rank, Y: t.skips, Then: instead, Else: round}}
	}
	if round = slices.Concat(t.names, round); t.end.IsZero() {
		return round
	}
	return []hostir.Node{hostir.Loop(cmp.Or(t.index, stepIndex), t.first, t.end, round...)}
}

// brought are the rounds without operations.
func (t turns) brought() []hostir.Node {
	round := slices.Clone(t.bring)
	for _, inner := range t.then {
		round = append(round, inner.brought()...)
	}
	return t.over(t.instead, round...)
}

// ofRanks says that a round has a piece of several ranks' rows.
func (t turns) ofRanks() bool {
	return slices.ContainsFunc(t.pieces, func(p piece) bool { return !p.ranks.IsZero() })
}

// turns are rounds whose products have a stream each, or take a number of streams in turn.
func (w *writer) turns(first, end hostir.Expr) turns {
	t := turns{first: first, end: end, work: w.work, set: w.set}
	if w.pool.streams == 0 {
		t.set.First, t.set.Count = first, end
	}
	return t
}

// shift takes the rows of rank r+i in round i, a part of them after the other.
func (w *writer) shift(cut parts) turns {
	t := w.turns(cut.all(one), cut.all(hostir.Size))
	t.names = append([]hostir.Node{hostir.Bind("peer", hostir.Ahead(cut.turn()))}, cut.ofStep()...)
	t.pieces = []piece{{rank: hostir.Var("peer"), part: cut.part()}}
	return t
}

// arrival is how the rows of peers come to a stage, a piece after another: the way of the gather says it, and the
// writer puts the operations behind it.
type arrival struct {
	turns []turns
	on    hostir.StreamRef // that brings them: that of the copies, or that of the products of a round
	free  []hostir.Node    // posts that peers may write here
	ready []hostir.Node    // posts that peers may read the own rows
	begin []hostir.Node    // waits for all peers, ahead of all batches
	sends []hostir.Node    // takes own rows to peers, and needs no more of these than posts that begin the program
	ahead []hostir.Node    // begins beside all else
	own   hostir.Node      // the own part to its place, if all come at once; nil: own rows
	all   []hostir.Node    // in place of rounds and of the own part
	// The own rows are made as they leave, and go through the stage behind all others.
	ownLast bool
	// Peers read this memory until the end of the run. There a rank posts it and waits for others, or all such arrivals
	// do together.
	reads         string
	close, closed []hostir.Node
	beyond
	copied  bool // own rows too
	sent    bool // by their owners, as soon as they may: only products wait for them
	oneLoop bool // a round's products stand behind what brings its rows, else behind all rounds of that
}

// aside brings an operand on a stream of its own, while the products before the one that takes it run.
func aside(set hostir.StreamSet) func(*lowering) {
	on := hostir.Stream(set.Name)
	bring := func(gathers atOnce) func(*writer, *stage) arrival {
		return func(w *writer, s *stage) arrival {
			nodes := hostir.ChangeSteps(gathers(w, s), func(x hostir.Step) hostir.Step {
				x.Stream = on
				return x
			})
			return arrival{on: on, turns: []turns{{bring: nodes}}, copied: true,
				beyond: beyond{beside: []hostir.StreamSet{set}}}
		}
	}
	return func(l *lowering) {
		behindSums(l)
		write := l.write
		l.write = func(w *writer, s *stage, way schedule.Way) error {
			err := write(w, s, way)
			if err == nil && !s.AddsShares() && !(s.First && len(w.legs) == 1) { // else nothing is beside it
				s.arriving, s.gathering, s.once = bring(s.gathering), nil, true
			}
			return err
		}
	}
}

// beyond is what an arrival or a departure has beside its stream.
type beyond struct {
	beside    []hostir.StreamSet
	exchanges bool // among these is the stream of collectives, and ranks of other hosts wait there for this rank
}

func (a arrival) withStep() bool { return a.on.Set == workName }

// plan asks the ways how rows come and how partial results leave, and collects the streams of the products of all
// stages. Those of one name are as many as most stages need.
func (w *writer) plan() error {
	for _, s := range w.stages {
		if s.inPieces() {
			if s.ColumnsCome() {
				w.transferred(s)
			}
			s.comes = s.arriving(w, s)
		}
		switch {
		case s.departs() && !s.leaving.ofAll && slices.ContainsFunc(s.comes.turns, turns.ofRanks):
			return refused(w.edgeOf(s.here()).Field(), "use "+plainBringing,
				"the sums %s leave one rank's rows after the other, and those of %s come of several ranks",
				s.Sums, s.Input)
		case s.departs():
			if s.leaves = s.leaving.plan(w, s); s.leaves.own.Set == "" {
				_, s.leaves.own = w.streamsOf(s)
			}
		}
		if w.inTurns(s) {
			for _, t := range w.order(s) {
				w.sets = w.program.WithSet(w.sets, t.set)
			}
		}
	}
	return nil
}

// cutAlike cuts memory of a rank's rows into the parts that those of a tensor travel in, as a field says.
func (w *writer) cutAlike(of string, p parts, problem string, names []string) error {
	if names = w.there(names); p.n < 2 || len(names) == 0 {
		return nil
	}
	w.cutRows(w.RowExtent(of), p)
	for _, name := range names {
		if n := w.fine[name]; n > 0 && n != p.n {
			return refused(p.at, "write the same for both, or leave it out", problem, of, p.n, n)
		}
		w.finer(name, p.n)
	}
	return nil
}

// cutPieces cuts the memory of stages whose rows come in parts of a rank's, or leave so.
func (w *writer) cutPieces() error {
	for _, s := range w.stages {
		if s.cut.n > 1 && s.departs() && !s.leaving.behind {
			return refused(s.cut.at, leaveOut, "the sums %s of a stage leave with all rows of a rank", s.Sums)
		}
		var own []string // memory of own rows that are made in parts
		if from := w.makerOf(s); from != nil {
			own = append(w.EachRows(from.Stage), from.Input)
		}
		come, leave := append(w.EachRows(s.Stage), s.Input, s.here()), w.leavingRows(s)
		if s.summing != nil { // when all rows have come
			come = slices.DeleteFunc(append(come, w.summands(s)), func(name string) bool { return name == s.Sums })
		}
		if len(leave) > 0 { // the parts that come are multiplied one by one, and no more
			come = slices.DeleteFunc(come, func(name string) bool { return slices.Contains(leave, name) })
			come = append(come, s.Input, w.summands(s))
		}
		err := cmp.Or(w.addsFlat(s),
			w.cutAlike(s.Input, s.cut, "%s is made in %d parts, and of rows in %d", own),
			w.cutAlike(s.Input, s.cut, "%s comes in %d parts, and goes on in %d", come),
			w.cutAlike(s.Sums, s.leaving.cut, "%s leaves in %d parts, and other rows of its stage are in %d", leave))
		if err != nil {
			return err
		}
	}
	return nil
}

// addsFlat refuses sums that are added in parts of a rank's rows, and whose ranks' parts are between elements or are
// summed whole.
func (w *writer) addsFlat(s *stage) error {
	if s.leaving.cut.n < 2 || s.leaving.ofAll {
		return nil
	}
	for _, l := range w.legs {
		sums, own := l.stage.Sums, w.named(reduced, l.stage.Sums)
		whole := w.program.At(own).Name != "" && w.fine[own] == 0
		if l.move == sums && (l.by.is(betweenElements) || whole) &&
			slices.Contains(stages.InRows(s.Last().Then), sums) {
			hint := w.orUse(leaveOut, l, s.leaving.cut.at)
			if hint != leaveOut {
				hint += " for " + sums
			}
			return refused(s.leaving.cut.at, hint,
				"%s are added in parts of each rank's rows, and are not summed in these", sums)
		}
	}
	return nil
}

// finer cuts a rank's rows in some memory into parts.
func (w *writer) finer(name string, parts int64) {
	w.fine[name] = parts
	w.cut(name, schedule.D)
}

// onMain are rounds whose products are on the caller's stream.
func (t turns) onMain() turns {
	t.work, t.set = mainRef, hostir.StreamSet{}
	return t
}
