package lower

import (
	"slices"

	"ovgen/schedule/hostir"
)

// head forks the streams and posts the words that let peers begin.
func (w *writer) head() {
	carry := w.putSets()
	if w.any(func(s *stage) bool { return s.comes.on == copyRef }) {
		carry = slices.Insert(carry, 0, copySet)
	}
	w.program.Declare(slices.Concat(carry, w.sets, w.beside())...)
	now, then := w.startFirst()
	posts := mainRef
	if len(now) > 0 {
		begin := hostir.Forked(now...)
		begin.Remark = "the first product starts before the post"
		w.add(begin)
	} else if len(carry) > 0 {
		// All ranks may meet on the caller's stream ahead of rows that come from the beginning, and of products that
		// wait for peers. The posts that these need must not come behind that meeting, which holds the device.
		met := slices.IndexFunc(w.stages, w.meets)
		opens := func(s *stage) bool {
			return s.leaves.sends != nil || s.leaves.begin != nil ||
				s != w.stages[met] && (w.early(s) || w.ahead(s) || s.Bare() && s.departs())
		}
		if met < 0 || !slices.ContainsFunc(w.stages[met:], opens) {
			posts = hostir.Stream(carry[0].Name)
		}
	}
	if posts == mainRef {
		w.open(posts)
	}
	if streams := slices.Concat(hostir.Refs(carry), then, hostir.Refs(w.beside())); len(streams) > 0 {
		w.add(hostir.Forked(streams...))
	}
	if posts != mainRef {
		w.open(posts)
	}
	w.add(w.behindPosts(posts)...)
	for _, s := range w.stages {
		w.moves(s.here(), s.comes.begin...)
		if w.ahead(s) {
			w.moves(s.here(), s.comes.sends...)
		}
		w.moves(s.Sums, s.leaves.begin...)
	}
}

// behindPosts lets the streams that wait for peers do so behind this rank's posts, which are on another one.
func (w *writer) behindPosts(posts hostir.StreamRef) []hostir.Node {
	waiting := slices.DeleteFunc(w.putSets(), func(set hostir.StreamSet) bool { return set.Name == posts.Set })
	if w.any(func(s *stage) bool { return s.leaves.sends != nil || s.comes.withStep() }) { // those of products
		waiting = append(waiting, w.sets...)
	}
	// What only leaves by collectives is on the stream of the posts before it does.
	if w.any(func(s *stage) bool {
		return s.comes.on == collectiveRef || s.comes.exchanges || s.leaves.exchanges && !s.outward()
	}) {
		waiting = append(waiting, collectiveSet)
	}
	if posts == mainRef || len(waiting) == 0 {
		return nil
	}
	return []hostir.Node{hostir.Synchronize{Streams: hostir.Refs(waiting), On: []hostir.StreamRef{posts}}}
}

// startFirst divides the streams of products for those that begin ahead of the posts and the others. Products that wait
// for no rows need not wait for a post. If priorities fall only the first begins: a product that has begun keeps the
// device, whatever its priority, so the others must not begin at the same moment.
func (w *writer) startFirst() (now, then []hostir.StreamRef) {
	s, all := w.stages[0], hostir.Refs(w.sets)
	d := s.leaves
	if len(all) == 0 || !s.outward() || s.Bare() || len(d.open) == 0 || d.take == nil && d.sends == nil {
		return nil, all
	}
	work := w.sets[0] // all have one name
	switch {
	case d.take != nil && work.Falling:
		all[0].From = hostir.Add(work.First, one)
		return []hostir.StreamRef{hostir.StreamAt(work.Name, work.First)}, all
	case d.take != nil:
		return all, nil
	case w.pool.streams > 0: // peers have to be waited for on each
		return nil, all
	}
	others := all[0] // behind it, where rows of another stage take more
	all[0].To, others.From = d.own.Index, hostir.Add(d.own.Index, one)
	if !others.From.Equal(others.To) {
		all = append(all, others)
	}
	return []hostir.StreamRef{d.own}, all
}

func (w *writer) exchanges() bool {
	return w.any(func(s *stage) bool { return s.comes.exchanges || s.leaves.exchanges })
}

// beside are the streams that arrivals and departures have of their own.
func (w *writer) beside() (sets []hostir.StreamSet) {
	for _, s := range w.stages {
		for _, set := range slices.Concat(s.comes.beside, s.leaves.beside) {
			if set.Name != copyName { // which head forks for all
				sets = w.program.WithSet(sets, set)
			}
		}
	}
	return sets
}

func (w *writer) putting(s *stage) bool { return s.leaves.sums.Set == putName }

// putSets are the sets of streams of copies and sums that leave.
func (w *writer) putSets() (sets []hostir.StreamSet) {
	for _, s := range w.stages {
		if w.putting(s) {
			sets = w.program.WithSet(sets, hostir.StreamSet{Name: putName, High: true})
		}
		sets = w.program.WithSet(sets, s.leaves.puts)
	}
	return sets
}

// open posts on a stream what lets peers write here, and read the caller's memory.
func (w *writer) open(on hostir.StreamRef) {
	for _, s := range w.stages {
		w.moves(s.here(), hostir.AllOn(s.comes.free, on)...)
		if w.early(s) {
			w.moves(s.here(), hostir.AllOn(s.comes.ready, on)...)
		}
	}
	for _, s := range w.stages {
		w.moves(s.Sums, hostir.AllOn(s.leaves.open, on)...)
	}
}

// tail lets the owners overwrite the rows that were gathered, and joins.
func (w *writer) tail() {
	puts, copies := w.any(w.putting), w.any(func(s *stage) bool { return s.comes.on == copyRef })
	spreads := w.any(w.spreads)
	last, reader := mainRef, mainRef
	if copies {
		last, reader = copyRef, copyRef
	}
	if puts {
		last = putRef
	}
	posts := reader
	if spreads {
		posts = last
	}
	others := slices.DeleteFunc(w.beside(), func(x hostir.StreamSet) bool { return x.Name == collectiveName })
	if len(others) > 0 {
		w.add(hostir.After(posts, hostir.Refs(others)...))
	}
	w.close(reader)
	name, of := "", "" // the first memory that peers read, or that they read the sums of, and its move
	for _, s := range w.stages {
		if reads := s.comes.reads; name == "" && reads != "" {
			name, of = reads, s.here()
		} else if name == "" && w.spreads(s) {
			name, of = s.Sums, s.Sums
		}
	}
	post := hostir.Post(posts, read, every).Described(name + " may be overwritten afterwards")
	if name != "" && !spreads {
		w.moves(of, post)
	}
	if copies && puts {
		w.add(hostir.After(putRef, copyRef))
	}
	if spreads {
		w.moves(of, post)
	}
	if name != "" && w.exchanges() {
		w.add(hostir.After(last, collectiveRef)) // peers' exchanges need this rank's
	}
	closes := w.any(func(s *stage) bool { return s.comes.closed != nil })   // when those that read have done so
	onMain := name != "" && posts == mainRef || closes && reader == mainRef // posts that peers wait for
	if (onMain || (name != "" || closes) && w.any(w.meets)) && last != mainRef {
		w.add(hostir.After(last, mainRef)) // peers need it before they can post
	}
	if name != "" {
		w.moves(of, hostir.Wait(last, read, every))
	}
	for _, s := range w.stages {
		w.moves(s.here(), hostir.AllOn(s.comes.closed, last)...)
	}
	w.join(last)
}

// close ends the arrivals, whose rows a stream has brought, or knows to be here.
func (w *writer) close(on hostir.StreamRef) {
	if on != mainRef && w.any(func(s *stage) bool { return s.comes.withStep() }) {
		w.add(hostir.After(on, mainRef))
	}
	for _, s := range w.stages {
		if s.pulls() && s.Into != "" && !s.comes.copied {
			own := hostir.Set(on, w.rowsAt(s.Into, hostir.Rank), w.shard(s, hostir.Expr{}))
			w.moves(s.here(), w.comeIn(s).inTurn(own.Described("the caller gets all rows").AskedBy("Tensors"))...)
		}
		w.moves(s.here(), hostir.AllOn(s.comes.close, on)...)
	}
}

// join makes the caller's stream wait for what it does not yet know to be done.
func (w *writer) join(last hostir.StreamRef) {
	var on []hostir.StreamRef
	if last != mainRef {
		on = append(on, last)
	}
	// A sum of this rank's rows has waited for all products.
	if s := w.stages[len(w.stages)-1]; !s.departs() && !w.joined(s) {
		on = append(on, hostir.Refs(w.sets)...)
	}
	if w.exchanges() {
		on = append(on, collectiveRef)
	}
	if len(on) > 0 {
		w.add(hostir.Joined(on...))
	}
}

func (w *writer) moves(of string, nodes ...hostir.Node) { w.add(hostir.MovesOf(of, nodes...)...) }

// early says that the rows of a stage may come from the beginning: the caller has given them, and no operation is
// between. Where ranks wait for each other to bring them, no stage before waits on another stream.
func (w *writer) early(s *stage) bool {
	a := s.comes
	apart := func(on hostir.StreamRef) bool { return on != a.on && !(a.sent && on == mainRef) }
	return w.given(s) && !(w.late(s) && slices.ContainsFunc(w.since(s),
		func(s *stage) bool { return slices.ContainsFunc(w.waitsOn(s), apart) }))
}

// since are the stages before one, from the last that let the stream which brings its rows wait for the caller's.
func (w *writer) since(s *stage) []*stage {
	before := w.stages[:slices.Index(w.stages, s)]
	for i, x := range slices.Backward(before) {
		if x.once && x.comes.on == s.comes.on && !w.early(x) {
			return before[i:]
		}
	}
	return before
}

// ahead says that own rows go to peers before all stages, ahead of one whose rows come later.
func (w *writer) ahead(s *stage) bool { return len(s.comes.sends) > 0 && w.given(s) && !w.early(s) }

func (w *writer) given(s *stage) bool {
	_, declared := w.Schedule.Tensor(s.Input)
	return s.Gathers && declared && !w.Schedule.Made(s.Input)
}

// late says that the rows of a stage wait for more of peers than posts that begin the program.
func (w *writer) late(s *stage) bool {
	return s.inPieces() && (s.comes.reads == "" || s.comes.exchanges || !w.given(s))
}

// waitsOn are the streams on which a stage waits for the work of peers in it, beyond posts that begin the program. A
// wait may hold the device, and keep it from other streams.
func (w *writer) waitsOn(s *stage) (on []hostir.StreamRef) {
	if w.late(s) {
		on = append(on, s.comes.on)
	}
	switch d := s.leaves; {
	case s.gathering != nil, s.summing != nil, d.passes != nil:
		on = append(on, mainRef)
	case d.exchanges:
		on = append(on, collectiveRef)
	case s.departs():
		on = append(on, d.sums)
	}
	return on
}

// meets says that the caller's stream waits in a stage for all ranks, at once or one after another. Over hosts no
// collective is of all ranks.
func (w *writer) meets(s *stage) bool {
	on := w.waitsOn(s)
	return slices.Contains(on, mainRef) || slices.Contains(on, collectiveRef) && !w.Original.OverHosts()
}
