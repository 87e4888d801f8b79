package prove

import (
	"fmt"

	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// half is the half of a landing, or of the words of its flags, that a run uses; 0 for buffers without halves.
func (m *Model) half(name string, run int32) int32 {
	if n := m.Halves[name]; n > 1 {
		return run % int32(n)
	}
	return 0
}

// landing reports whether packets land in a buffer. Only this plan uses such a buffer, as it is with words: no other
// plan writes it.
func (m *Model) landing(name string) bool { return m.Halves[name] > 0 }

// leastRuns is the number of runs that stand for all: one more than the longest period of a buffer.
func (m *Model) leastRuns() int {
	least := 2
	for _, halves := range m.Halves {
		least = max(least, halves+1)
	}
	return least
}

// Landing says whether packets or plain data land in a buffer, and which semaphore has their flags.
type Landing struct {
	Flags   string
	Packets bool
}

// landings checks the kernels that send packets or push plain data. Only these kernels use landings and flags, since
// they know the form. A packet orders only the data that it carries. So at a peer, a kernel of packets writes this
// rank's part of the peer's landing, and uses nothing else. In its own rank's landing it reads the parts whose flags
// the launch has awaited, each part once a run, and takes them back.
func (p *proof) landings() *Counterexample {
	for r, list := range p.lists {
		for i, o := range list {
			if at, wrong := p.lands(o); wrong {
				return p.against(Blocks, p.find(r, i), -1, fmt.Sprintf("%s is of what lands, and this is no "+
					"kernel that sends it", at), "let kernels of packets alone use it")
			}
		}
		read := map[ops.Loc]bool{} // parts, in the run
		for i := 0; i < len(list); {
			launch := sameStep(list[i:])
			if hostir.Takes(list[i].Kernel) {
				if j, wrong := p.strays(r, launch, read); wrong != "" {
					return p.against(Blocks, p.find(r, i+j), -1, wrong, "use what packets tell of, and let other "+
						"kernels use the rest")
				}
			}
			i += len(launch)
		}
	}
	return nil
}

// sameStep lists the operations at the head of a list that belong to its first step.
func sameStep(list []ops.Op) []ops.Op {
	n := 1
	for n < len(list) && list[n].Step == list[0].Step && list[n].Stream == list[0].Stream {
		n++
	}
	return list[:n]
}

// lands finds a place in a landing, or of a flag, that an operation uses although only kernels of another form may.
func (p *proof) lands(o ops.Op) (at ops.Loc, wrong bool) {
	for _, at := range places(o) {
		if !p.model.landing(at.Buffer) {
			continue
		}
		form, known := p.model.Lands[at.Buffer]
		if !hostir.Pushes(o.Kernel) || !o.ByBlocks || known && form.Packets != hostir.Takes(o.Kernel) {
			return at, true
		}
	}
	return ops.Loc{}, false
}

// strays finds an operation of a launch of packets that uses memory which no packet has announced, and says why this is
// wrong. It notes the parts that the launch reads.
func (p *proof) strays(rank int, launch []ops.Op, read map[ops.Loc]bool) (at int, wrong string) {
	told, held := map[ops.Loc]bool{}, map[ops.Loc]bool{} // parts that have landed, and parts not taken back yet
	for i, o := range launch {
		for _, w := range o.Words {
			if !w.Write {
				sender := w.At.Offset / 4 % int64(len(p.lists))
				told[ops.Loc{Rank: w.At.Rank, Buffer: w.At.Buffer, Offset: sender}] = true
			}
		}
		for _, u := range o.Uses {
			form, known := p.model.Lands[u.At.Buffer]
			part, whole := p.part(u)
			from := ops.Loc{Rank: u.At.Rank, Buffer: form.Flags, Offset: int64(part)}
			switch {
			case u.At.Rank != rank && (!u.Write || !known || part != rank):
				return i, fmt.Sprintf("a kernel of packets uses %s@%d at a peer, and that is not its own part of what "+
					"lands there", u.At.Buffer, u.At.Rank)
			case u.At.Rank != rank || !known:
			case !whole:
				return i, fmt.Sprintf("%s@%d is read or taken in part", u.At.Buffer, rank)
			case o.Kind == ops.Take && !held[from]:
				return i, fmt.Sprintf("part %d of %s@%d is taken back, and the launch has not read it", part,
					u.At.Buffer, rank)
			case o.Kind == ops.Take:
				delete(held, from)
			case u.Write:
				return i, fmt.Sprintf("%s@%d is written where packets land", u.At.Buffer, rank)
			case !told[from] || read[from]:
				return i, fmt.Sprintf("part %d of %s@%d is read without its flag, or again", part, u.At.Buffer, rank)
			default:
				held[from], read[from] = true, true
			}
		}
	}
	if len(held) > 0 {
		return 0, fmt.Sprintf("%d parts are read where packets land, and not taken back", len(held))
	}
	return 0, ""
}

// part is the rank whose part of a landing a use is in, and whether the use is the whole part.
func (p *proof) part(u ops.Use) (sender int, whole bool) {
	b, ok := p.model.buffer(u.At.Buffer)
	size := b.Bytes / int64(len(p.lists))
	if !ok || size == 0 {
		return -1, false
	}
	return int(u.At.Offset / size), u.At.Offset%size == 0 && u.Bytes == size
}
