package lower

import (
	"cmp"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/edges"
	"ovgen/schedule/stages"
)

// need is a communication as ways tell it apart: an edge, and what of its data they depend on.
type need struct {
	edges.Kind
	of    cut
	bare  bool // no product makes or takes what travels
	hosts bool // between ranks on several hosts
}

// cut says how what travels is cut for the ranks, or by which operation.
type cut string

// Cuts.
const (
	ofRows     cut = ""
	ofColumns  cut = "columns"
	ofBalanced cut = "balanced rows"
	ofCounted  cut = "counted rows"
	ofBatches  cut = "rows of batches"
	ofSteps    cut = "batches in steps" // a batch of all ranks' rows is multiplied as one
	ofOperand  cut = "an operand"       // that no product takes a part of alone
	ofGradient cut = "a gradient"
)

// String is "all-gather of columns over hosts".
func (n need) String() string {
	text := string(n.Kind)
	if n.of != ofRows {
		text += " of " + string(n.of)
	}
	return text + n.where()
}

// where says whether it is over hosts.
func (n need) where() string { return map[bool]string{true: " over hosts"}[n.hosts] }

// placedNeed is a communication with placements that ask for it.
type placedNeed struct {
	need
	placed string
}

// needs are the communications that ways do.
var needs = []placedNeed{
	{gather(ofRows), "linear: A [DIDx(D), M/D, K], B [N, K], C [Stream(D), M/D, N]"},
	{gather(ofBalanced), "linear: A [DIDx(D, balanced), M/D, K], B [N, K], C [M, N]"},
	{gather(ofCounted), "linear: A [DIDx(D, uneven), M/D, K], B [N, K], C [M, N]"},
	{gather(ofBatches), "linear: A [S, DIDx(D), M/(S*D), K], B [N, K], C [S, Stream(D), M/(S*D), N]"},
	{gather(ofSteps), "linear: A [S, DIDx(D), M/(S*D), K], B [N, K], C [Stream(S), D, M/(S*D), N]"},
	{gather(ofColumns), "linear: A [M, K], B [DIDx(D), N/D, K], C [M, N]; or copy: A [M, DIDx(D), N/D], C [M, N]"},
	{gather(ofOperand), "linear: A [DIDx(D), M/D, K], B [DIDx(D), N/D, K]; or gradient: A [M, N], B [DIDx(D), M/D, K]"},
	{gather(ofRows).alone(), "copy: A [DIDx(D), M/D, N], C [M, N]"},
	{gather(ofCounted).alone(), "copy: A [DIDx(D, uneven), M/D, N], C [M, N]"},
	{gather(ofRows).overHosts(), "as on one host, Mesh schedule.Hosts()"},
	{gather(ofBalanced).overHosts(), "as on one host, Mesh schedule.Hosts()"},
	{gather(ofCounted).overHosts(), "as on one host, Mesh schedule.Hosts()"},
	{gather(ofCounted).alone().overHosts(), "as on one host, Mesh schedule.Hosts()"},
	{gather(ofBatches).overHosts(), "as on one host, Mesh schedule.Hosts()"},
	{gather(ofRows).alone().overHosts(), "as on one host, Mesh schedule.Hosts()"},
	{gather(ofOperand).overHosts(), "as on one host, Mesh schedule.Hosts()"},
	{reduce(ofRows), "linear: A [M, DIDx(D), K/D], B [N, DIDx(D), K/D], C [DIDx(D), M/D, N]"},
	{reduce(ofColumns), "linear: A [M, DIDx(D), K/D], B [N, DIDx(D), K/D], C [M, DIDx(D), N/D]"},
	{reduce(ofBalanced), "linear: A [M, DIDx(D), K/D], B [N, DIDx(D), K/D], C [DIDx(D, balanced), M/D, N]"},
	{reduce(ofBatches), "linear: A [M, DIDx(D), K/D], B [N, DIDx(D), K/D], C [S, DIDx(D), M/(S*D), N]"},
	{reduce(ofGradient), "gradient: A [DIDx(D), M/D, N], B [DIDx(D), M/D, K], C [DIDx(D), N/D, K]"},
	{reduce(ofRows).alone(), "sum: A [DIDx(D), M, N], C [DIDx(D), M/D, N]"},
	{reduce(ofCounted), "linear: A [M, DIDx(D), K/D], B [N, DIDx(D), K/D], C [DIDx(D, uneven), M/D, N]"},
	{reduce(ofCounted).alone(), "sum: A [DIDx(D), M, N], C [DIDx(D, uneven), M/D, N]"},
	{reduce(ofRows).overHosts(), "as on one host, Mesh schedule.Hosts()"},
	{reduce(ofBalanced).overHosts(), "as on one host, Mesh schedule.Hosts()"},
	{reduce(ofCounted).overHosts(), "as on one host, Mesh schedule.Hosts()"},
	{reduce(ofCounted).alone().overHosts(), "as on one host, Mesh schedule.Hosts()"},
	{reduce(ofBatches).overHosts(), "as on one host, Mesh schedule.Hosts()"},
	{reduce(ofRows).alone().overHosts(), "as on one host, Mesh schedule.Hosts()"},
	{reduce(ofGradient).overHosts(), "as on one host, Mesh schedule.Hosts()"},
	{reduceAll(ofRows), "linear: A [M, DIDx(D), K/D], B [N, DIDx(D), K/D], C [M, N]"},
	{reduceAll(ofGradient), "gradient: A [DIDx(D), M/D, N], B [DIDx(D), M/D, K], C [N, K]"},
	{reduceAll(ofRows).alone(), "sum: A [DIDx(D), M, N], C [M, N]"},
	{reduceAll(ofRows).overHosts(), "as on one host, Mesh schedule.Hosts()"},
	{reduceAll(ofRows).alone().overHosts(), "as on one host, Mesh schedule.Hosts()"},
	{reduceAll(ofGradient).overHosts(), "as on one host, Mesh schedule.Hosts()"},
	{exchange, "copy: A [DIDx(D), D, M], C [D, DIDx(D), M]"},
	{exchangeCounted, "copy: A [DIDx(D, uneven), D, M], C [D, DIDx(D, uneven), M]"},
	{exchangeColumns, "copy: A [DIDx(D), M/D, N], C [M, DIDx(D), N/D]; or back"},
	{broadcast, "copy: A [M, N] on rank 0, C [M, N]"},
	{rotation, "copy: A [DIDx(D), M/D, N], C [DIDx(D, shift 1), M/D, N]"},
}

// Communications on one host: gather, reduce and reduceAll are of what is cut so.
var (
	exchange        = need{Kind: edges.AllToAll}
	exchangeCounted = need{Kind: edges.AllToAll, of: ofCounted}
	exchangeColumns = need{Kind: edges.AllToAll, of: ofColumns}
	broadcast       = need{Kind: edges.Broadcast}
	rotation        = need{Kind: edges.Permutation}
)

func gather(of cut) need    { return need{Kind: edges.AllGather, of: of} }
func reduce(of cut) need    { return need{Kind: edges.ReduceScatter, of: of} }
func reduceAll(of cut) need { return need{Kind: edges.AllReduce, of: of} }

// alone is the same where no product makes or takes what travels.
func (n need) alone() need {
	n.bare = true
	return n
}

// overHosts is the same between ranks on several hosts.
func (n need) overHosts() need {
	n.hosts = true
	return n
}

// arrives is the communication that brings what a stage works on.
func (w *writer) arrives(s *stage) need {
	n := need{Kind: cmp.Or(s.Moved.Kind, edges.AllGather)}
	t, declared := w.Schedule.Tensor(s.Input)
	_, counted := w.Multiplied(s.Stage)
	switch {
	case n.Kind == edges.AllToAll && (len(t.Axes) == 2 || !declared):
		n.of = ofColumns
	case n.Kind == edges.AllToAll && w.Uneven(s.Input):
		n.of = ofCounted
	case n.Kind != edges.AllGather:
	case s.Moved.From.Columns():
		n.of = ofColumns
	case s.TakesParts():
		n.of = ofOperand
	case w.Order == stages.BatchInRound:
		n.of = ofSteps
	case w.Batches > 0:
		n.of = ofBatches
	case counted:
		n.of = ofCounted
	case w.Uneven(s.Input) && len(s.Ops) > 0:
		n.of = ofBalanced
	case w.Uneven(s.Input):
		n.of, n.bare = ofCounted, true
	default:
		n.bare = len(w.stages) == 1 && len(s.Ops) == 0
	}
	return n
}

// leavesBy is the communication that adds up the partial results of a stage.
func (w *writer) leavesBy(s *stage) need {
	n := need{Kind: edges.ReduceScatter}
	if s.ToAll {
		n.Kind = edges.AllReduce
	}
	switch last := s.Last(); {
	case s.Left.Size == edges.Counted || s.Given != "" && w.Uneven(s.Sums):
		n.of, n.bare = ofCounted, s.Given != ""
	case s.Given != "":
		n.bare = true
	case last.Name() == schedule.GradientWord:
		n.of = ofGradient
	case s.Left.Columns():
		n.of = ofColumns
	case s.Left.Size != edges.Even:
		n.of = ofBalanced
	case w.Batches > 0:
		n.of = ofBatches
	}
	return n
}

// leg is one of the communications that a program does.
type leg struct {
	need
	stage   *stage
	operand string
	move    string // that its steps have; a sum that is gathered as it is has two
	name    string // with which those of its memory and words begin beside others: the operand, or the move
	beside  []schedule.Op
	by      *lowering // that writes it
}

// travel finds the communications between the stages, and whether some way does each of them.
func travel(w *writer) error {
	w.legs = w.travels()
	if i := slices.IndexFunc(w.Original.Ops, schedule.Op.Batched); i >= 0 && w.Batches == 0 && len(w.legs) > 0 {
		return w.ApartFrom(i, w.legs[0].String()) // they do not travel one by one
	}
	switch {
	case !w.Original.OverHosts():
		return nil
	case len(w.legs) == 0:
		return refused("Mesh", oneHost, "nothing travels, between hosts or on one: %s", w.Schedule.Ops[0])
	}
	for _, l := range w.legs {
		if !l.need.served() {
			way := betweenHosts()
			why := whyNot(l.need, way)
			l.need.hosts = false
			return refused("Mesh", oneHost, "no pass does the %s of %s over hosts by %s: %s", l.need, l.operand,
				schedule.WayName(way), why)
		}
	}
	return nil
}

const oneHost = "leave the mesh out, for ranks of one host"

func (w *writer) travelling() (names []string) {
	for _, l := range w.legs {
		names = append(names, w.DeclaredAs(l.operand))
	}
	return names
}

// travels are the communications of a chain, one for each time that a stage communicates.
func (w *writer) travels() (list []leg) {
	for _, s := range w.stages {
		add := func(n need, operand, move string) {
			beside := s.Ops
			if s.GathersColumns() {
				beside = w.Schedule.Ops[s.Moved.Maker : s.Moved.Maker+1]
			}
			n.hosts = w.Original.OverHosts()
			list = append(list, leg{need: n, stage: s, operand: operand, move: move, beside: beside})
		}
		if s.Gathers {
			add(w.arrives(s), s.Of(), s.here())
		}
		if s.Sums != "" {
			add(w.leavesBy(s), s.Sums, s.Sums)
		}
	}
	for i := range list {
		l := &list[i]
		l.name = l.operand
		if slices.ContainsFunc(list, func(x leg) bool { // the tensor travels twice, or another name begins with it
			return x.operand == l.operand && x.move != l.move ||
				x.move == l.operand && x.move != x.operand && x.name == x.move
		}) {
			l.name = l.move
		}
	}
	return list
}
