package lower

import (
	"cmp"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// putName is the stream of partial results on their way, and of sums.
const putName = "put"

// writer writes the program of a chain. Rows of rank r+i go through a stage in its step i: they are
// gathered, multiplied as soon as they are there, and their partial results leave as soon as they are
// made, while others still come. The own rows wait for nobody and fill the gaps.
type writer struct {
	*draft
	parts                          // the batches that the rows of all ranks come in
	comes     map[*stage]arrival   // of stages to which rows come one rank's after another's
	leaves    map[*stage]departure // of stages whose partial results leave one rank's after another's
	across    map[*stage]junction  // sums that go on in parts
	through   map[*stage]bool      // stages whose own rows such a sum takes along
	coming    []coming
	parted    map[string]*stage  // memory that a stage's products take in parts of all rows
	set       hostir.StreamSet   // of products where rows of rank r+i go through a stage in round i
	sets      []hostir.StreamSet // of all products
	work, put hostir.StreamRef
	most      schedule.Extent // rows that a rank has at most, where padded rows are multiplied
	wrong     error           // parts of memory that is taken otherwise
}

// newWriter begins to write: rounds have a stream of products each, or take a number of them in turn.
func newWriter(d *draft) *writer {
	d.fine = map[string]int64{}
	d.pool.streams = cmp.Or(d.pool.streams, d.pool.usual)
	n := d.pool.streams
	set := hostir.StreamSet{Name: workName, First: one, Count: hostir.Size,
		Falling: d.pool.falls && d.pool.equal == "" && n == 0}
	if n > 0 {
		d.program.Constants[poolName] = int64(n)
		set.First, set.Count = hostir.Const(0), hostir.Var(poolName)
	}
	return &writer{draft: d, parts: parts{n: int64(d.Batches), index: "s"}, set: set,
		put: hostir.Stream(putName), work: hostir.StreamAt(workName, poolIndex(d, step)),
		comes: map[*stage]arrival{}, leaves: map[*stage]departure{}, across: map[*stage]junction{},
		through: map[*stage]bool{}, parted: map[string]*stage{}}
}

// writeChain writes the program once the ways of all communications are known.
func writeChain(d *draft) error {
	if err := cmp.Or(d.tensors(), d.heads()); err != nil {
		return err
	}
	w := newWriter(d)
	w.memories()
	w.countRows()
	w.room()
	if err := cmp.Or(w.wrong, w.junctions(), w.cutPieces()); err != nil {
		return err
	}
	if err := w.plan(); err != nil {
		return err
	}
	w.words()
	w.head()
	for i, s := range d.stages {
		w.add(w.awaitComing(s)...)
		if w.through[s] && s.Own {
			continue
		}
		w.add(s.gathering.steps(w, s, s.here())...)
		w.add(w.bringAll(s, i)...)
		if w.inTurns(s) {
			w.add(w.batches(s, i)...)
		} else {
			w.add(w.onAll(s)...)
		}
		w.add(s.summing.steps(w, s, s.Sums)...)
	}
	w.tail()
	w.again()
	hostir.Steps(d.program.Body, func(s hostir.Step) { // peers may read the caller's memory
		reads, _ := s.Views()
		for _, v := range reads {
			if b := w.program.At(v.Buffer); b.Owner == hostir.Caller && !v.Peer.IsZero() {
				b.Shared = true
			}
		}
	})
	return w.wrong
}

// again copies what has come to the caller's other tensors of the same.
func (w *writer) again() {
	for _, o := range w.Schedule.Ops {
		from, all := w.Again[o.Out], piece{}
		if from == "" {
			continue
		}
		if !w.program.At(from).Counts.IsZero() {
			all = piece{rank: hostir.Const(0), ranks: hostir.Size}
		}
		w.add(hostir.Set(mainRef, w.at(o.Out, all), w.at(from, all)).AskedBy("Tensors"))
	}
}

// inTurns says that the rows of the ranks go through a stage one after the other, else all at once.
func (w *writer) inTurns(s *stage) bool { return s.inTurn() || s.puts() }

// byRanks says that each rank's rows of a stage are chunks of their own: they go through it, come, or are made so.
func (w *writer) byRanks(s *stage) bool {
	return w.inTurns(s) && !s.leaving.ofAll || s.Gathers && !s.Moved.From.Columns() || len(s.taken) > 0
}

// spreads says that the sums of a stage, each made by its owner, are copied to all.
func (w *writer) spreads(s *stage) bool { return len(w.leaves[s].toAll) > 0 }

func (d *draft) any(is func(*stage) bool) bool {
	return slices.ContainsFunc(d.stages, is)
}

// named is the name of the memory or of a semaphore of a move. In a program of several moves it begins with the tensor
// that travels or, where another name begins with that, with the move.
func (w *writer) named(name, move string) string {
	if len(w.legs) == 1 {
		return name
	}
	i := slices.IndexFunc(w.legs, func(l leg) bool { return l.move == move })
	if i < 0 || namedByMove(w.legs, w.legs[i]) {
		return move + name
	}
	return w.legs[i].operand + name
}

// namedByMove says that the tensor of a leg travels twice, or that an earlier leg that is named so brings it.
func namedByMove(legs []leg, of leg) bool {
	return slices.ContainsFunc(legs, func(l leg) bool {
		return l.operand == of.operand && l.move != of.move ||
			l.move == of.operand && l.move != l.operand && namedByMove(legs, l)
	})
}

func (w *writer) words() {
	for _, s := range w.stages {
		w.program.Semaphores = append(w.program.Semaphores, w.comes[s].words...)
		w.program.Semaphores = append(w.program.Semaphores, w.leaves[s].words...)
	}
	if w.readsPeers() {
		w.semaphores(read)
	}
}
