package lower

import "ovgen/schedule/hostir"

// head forks the streams and posts the words that let peers begin.
func (w *writer) head() {
	gathers, puts := w.any((*stage).copies), w.any((*stage).puts)
	first := w.put
	var sets []hostir.StreamSet
	if gathers {
		sets, first = append(sets, copySet), copyRef
	}
	if puts {
		sets = append(sets, hostir.StreamSet{Name: putName, High: true})
	}
	if w.any(w.inTurns) {
		sets = append(sets, w.set)
	}
	if w.original.OverHosts() {
		sets = append(sets, ncclSet, relays)
	}
	if gathers || puts {
		w.add(w.fork(sets...))
	} else {
		w.program.Streams = []hostir.StreamSet{{Name: hostir.MainStream}}
	}
	start := &w.chain.stages[0]
	if a, comes := w.comes[start]; comes {
		w.moves(start.here(), a.ready(first))
	} else if start.fetched {
		w.moves(start.here(), hostir.Post(copyRef, w.named(ready, start.here()), every))
	}
	for i := range w.chain.stages {
		if s := &w.chain.stages[i]; s.puts() {
			w.moves(s.sums, w.leaves[s].open(first))
		}
	}
	if gathers && puts {
		w.add(hostir.After(w.put, copyRef))
	}
	if w.original.OverHosts() {
		w.add(hostir.After(ncclRef, first)) // peers need these posts before they can exchange
	}
	if w.n > 1 {
		w.moves(start.here(), w.comes[start].begin...)
		w.moves(start.sums, hostir.Wait(w.put, w.named(free, start.sums), every))
	}
}

// tail lets the owners overwrite the rows that were gathered, and joins.
func (w *writer) tail() {
	gathers, puts := w.any((*stage).copies), w.any((*stage).puts)
	last, set := w.put, hostir.StreamSet{Name: putName}
	if !puts {
		last, set = copyRef, copySet
	}
	spreads := w.any(w.spreads)
	name, of := w.readAcross()
	join := func(sets ...hostir.StreamSet) hostir.Synchronize {
		if w.original.OverHosts() {
			sets = append(sets, ncclSet)
		}
		return join(sets...)
	}
	if gathers && w.original.OverHosts() {
		w.add(hostir.Synchronize{Streams: []hostir.StreamRef{copyRef}, On: refs([]hostir.StreamSet{relays})})
	}
	for i := range w.chain.stages {
		if s := &w.chain.stages[i]; s.pulls() && s.into != "" {
			w.moves(s.here(), hostir.Set(copyRef, w.rowsAt(s.into, hostir.Rank), hostir.Whole(s.input)).
				Described("the caller gets all rows").AskedBy("Tensors"))
		}
	}
	post := func(on hostir.StreamRef) hostir.Node {
		return hostir.Post(on, read, every).Described(name + " may be overwritten afterwards")
	}
	if gathers && !spreads {
		w.moves(of, post(copyRef))
	}
	if gathers && puts {
		w.add(hostir.After(w.put, copyRef))
	}
	if spreads {
		w.moves(of, post(w.put))
	}
	if gathers && w.original.OverHosts() {
		w.add(hostir.After(last, ncclRef)) // peers' exchanges need this rank's
	}
	if (gathers || spreads) && w.any((*stage).meets) {
		w.add(hostir.After(last, mainRef)) // peers need it before they can post
	}
	if gathers || spreads {
		w.moves(of, hostir.Wait(last, read, every))
	}
	switch {
	case w.chain.stages[len(w.chain.stages)-1].puts(): // the sum of this rank's rows waited for all products
		w.add(join(set))
	case w.any(w.inTurns):
		w.add(join(set, w.set))
	case gathers:
		w.add(join(set))
	}
}

// moves appends steps of a tensor's move to the program.
func (w *writer) moves(of string, nodes ...hostir.Node) { w.add(hostir.MovesOf(of, nodes...)...) }

// readAcross is the first memory that peers read, or that they read the sums of, and its move.
func (w *writer) readAcross() (name, move string) {
	for i := range w.chain.stages {
		switch s := &w.chain.stages[i]; {
		case s.padded:
			return s.input + paddedSuffix, s.here()
		case s.pulls() || s.fetched:
			return s.input, s.here()
		case w.spreads(s):
			return s.sums, s.sums
		case s.gathersColumns():
			return w.madeIn(s.widened), s.widened
		}
	}
	return "", ""
}
