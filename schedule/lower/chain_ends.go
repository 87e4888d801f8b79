package lower

import (
	"slices"

	"ovgen/schedule/hostir"
)

// head forks the streams and posts the words that let peers begin.
func (w *writer) head() {
	first, sets := mainRef, w.streams()
	if w.any((*stage).puts) {
		first = w.put
	}
	if w.copies() {
		first = copyRef
	}
	if w.meetsBeforeEarly() {
		first = mainRef
	}
	w.program.Streams = []hostir.StreamSet{{Name: hostir.MainStream}}
	fork := w.fork(sets...)
	if w.any(func(s *stage) bool { return w.comes[s].inLoop }) { // streams of products are forked there
		fork.Streams = fork.Streams[:len(sets)-len(w.sets)]
	}
	if first == mainRef {
		w.open(first)
	}
	if len(fork.Streams) > 0 {
		w.add(fork)
	}
	if first != mainRef {
		w.open(first)
	}
	if w.copies() && w.any((*stage).puts) {
		w.add(hostir.After(w.put, copyRef))
	}
	if w.any(func(s *stage) bool { return w.leaves[s].before != nil }) { // products wait behind this rank's posts
		w.add(hostir.Synchronize{Origin: hostir.Origin{Field: movesField}, Streams: refs(w.sets),
			On: []hostir.StreamRef{first}})
	}
	if w.exchanges() {
		w.add(hostir.After(collectiveRef, first)) // peers need these posts before they can exchange
	}
	if s := w.chain.stages[0]; w.n > 1 && w.chain.order == batchByBatch {
		w.moves(s.here(), w.comes[s].begin...)
		w.moves(s.sums, hostir.Wait(w.put, w.named(free, s.sums), every))
	}
}

// meetsBeforeEarly says that all ranks meet on the caller's stream ahead of a stage whose rows come from the beginning.
// The post that peers' copies need must not come behind that meeting, which holds the device.
func (w *writer) meetsBeforeEarly() bool {
	met := false
	return w.any(func(s *stage) bool {
		early := met && w.early(s)
		met = met || s.meets()
		return early
	})
}

// exchanges says that ranks exchange rows or sums with those of other hosts.
func (w *writer) exchanges() bool {
	return w.any(func(s *stage) bool { return w.comes[s].exchanges || w.leaves[s].exchanges })
}

// beside are the streams that arrivals and departures have of their own.
func (w *writer) beside() (sets []hostir.StreamSet) {
	for _, s := range w.chain.stages {
		for _, set := range slices.Concat(w.comes[s].beside, w.leaves[s].beside) {
			sets = withSet(sets, set)
		}
	}
	return sets
}

// streams are those of the program.
func (w *writer) streams() (sets []hostir.StreamSet) {
	if w.copies() {
		sets = append(sets, copySet)
	}
	if w.any((*stage).puts) {
		sets = append(sets, hostir.StreamSet{Name: putName, High: true})
	}
	return slices.Concat(sets, w.sets, w.beside())
}

// open posts on a stream what lets peers write here, and read the caller's memory.
func (w *writer) open(on hostir.StreamRef) {
	for i, s := range w.chain.stages {
		a := w.comes[s]
		w.moves(s.here(), signal(on, a.free)...)
		if i == 0 || w.early(s) {
			w.moves(s.here(), signal(on, a.ready)...)
		}
	}
	for _, s := range w.chain.stages {
		w.moves(s.sums, signal(on, w.leaves[s].open)...)
	}
}

// copies says that the stream of copies brings rows or columns from peers.
func (w *writer) copies() bool {
	return w.any(func(s *stage) bool { return w.comes[s].on == copyRef })
}

// reads says that peers' memory is read until the end of the run.
func (w *writer) reads() bool {
	return w.any(func(s *stage) bool { return w.comes[s].reads != "" || w.spreads(s) })
}

// tail lets the owners overwrite the rows that were gathered, and joins.
func (w *writer) tail() {
	puts, copies, spreads := w.any((*stage).puts), w.copies(), w.any(w.spreads)
	last, sets, reader := mainRef, []hostir.StreamSet{}, mainRef
	if copies {
		last, sets, reader = copyRef, []hostir.StreamSet{copySet}, copyRef
	}
	if puts {
		last, sets = w.put, []hostir.StreamSet{{Name: putName}}
	}
	others := slices.DeleteFunc(w.beside(), func(x hostir.StreamSet) bool { return x.Name == collectiveName })
	switch {
	case len(others) > 0 && spreads:
		w.add(hostir.After(last, refs(others)...))
	case len(others) > 0:
		w.add(hostir.After(reader, refs(others)...))
	}
	w.close(reader)
	name, of := w.readAcross()
	post := func(on hostir.StreamRef) hostir.Node {
		return hostir.Post(on, read, every).Described(name + " may be overwritten afterwards")
	}
	if w.reads() && !spreads {
		w.moves(of, post(reader))
	}
	if copies && puts {
		w.add(hostir.After(w.put, copyRef))
	}
	if spreads {
		w.moves(of, post(w.put))
	}
	if w.reads() && w.exchanges() {
		w.add(hostir.After(last, collectiveRef)) // peers' exchanges need this rank's
	}
	if (w.reads() || w.any(w.closes)) && w.any((*stage).meets) && last != mainRef {
		w.add(hostir.After(last, mainRef)) // peers need it before they can post
	}
	if w.reads() {
		w.moves(of, hostir.Wait(last, read, every))
	}
	for _, s := range w.chain.stages {
		w.moves(s.here(), signal(last, w.comes[s].closed)...)
	}
	w.join(sets)
}

// closes says that a rank waits until those that read what came here have done so.
func (w *writer) closes(s *stage) bool { return w.comes[s].closed != nil }

// close ends the arrivals, whose rows a stream has brought, or knows to be here.
func (w *writer) close(on hostir.StreamRef) {
	if on != mainRef && w.any(func(s *stage) bool { return w.comes[s].withStep() }) {
		w.add(hostir.After(on, mainRef))
	}
	for _, s := range w.chain.stages {
		a, comes := w.comes[s]
		if comes && s.pulls() && s.into != "" && !a.copied {
			w.moves(s.here(), hostir.Set(on, w.rowsAt(s.into, hostir.Rank), hostir.Whole(s.input)).
				Described("the caller gets all rows").AskedBy("Tensors"))
		}
		w.moves(s.here(), signal(on, a.close)...)
	}
}

// join makes the caller's stream wait for what it does not yet know to be done.
func (w *writer) join(sets []hostir.StreamSet) {
	last := w.chain.stages[len(w.chain.stages)-1]
	switch {
	case last.puts(): // the sum of this rank's rows waited for all products
	case !w.joined(last):
		sets = append(sets, w.sets...)
	}
	if w.exchanges() {
		sets = append(sets, collectiveSet)
	}
	if len(sets) > 0 {
		w.add(join(sets...))
	}
}

// signal has posts and waits of a way stand on a stream.
func signal(on hostir.StreamRef, words []hostir.Node) []hostir.Node {
	return hostir.MapSteps(words, func(s hostir.Step) []hostir.Node {
		s.Stream = on
		return []hostir.Node{s}
	})
}

// moves appends steps of a tensor's move to the program.
func (w *writer) moves(of string, nodes ...hostir.Node) { w.add(hostir.MovesOf(of, nodes...)...) }

// readAcross is the first memory that peers read, or that they read the sums of, and its move.
func (w *writer) readAcross() (name, move string) {
	for _, s := range w.chain.stages {
		switch {
		case w.comes[s].reads != "":
			return w.comes[s].reads, s.here()
		case w.spreads(s):
			return s.sums, s.sums
		}
	}
	return "", ""
}
