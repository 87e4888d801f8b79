package prove

import (
	"fmt"

	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// half is which of a buffer's halves, or of a semaphore's words, a run uses; 0 where there is one.
func (m *Model) half(name string, run int32) int32 {
	if n := m.Halves[name]; n > 1 {
		return run % int32(n)
	}
	return 0
}

// landing says that packets land in a buffer. It is the plan's alone, as words are: no other plan writes it.
func (m *Model) landing(name string) bool { return m.Halves[name] > 0 }

// leastRuns is how many runs stand for all: one more than the period of the buffer that has the longest.
func (m *Model) leastRuns() int {
	least := 2
	for _, halves := range m.Halves {
		least = max(least, halves+1)
	}
	return least
}

// Landing is the form of a buffer in which packets or plain data land, with the semaphore of their flags.
type Landing struct {
	Flags   string
	Packets bool
}

// landings checks kernels that send packets or push plain data: they alone use landings and flags, since they know the
// form. A packet orders its own data alone. So at a peer a kernel of packets writes this rank's part of the peer's
// landing, and uses nothing else; of its own landing it reads the parts whose flags the launch has awaited, each once a
// run, and takes them back.
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

// sameStep is the operations of a list's first step.
func sameStep(list []ops.Op) []ops.Op {
	n := 1
	for n < len(list) && list[n].Step == list[0].Step && list[n].Stream == list[0].Stream {
		n++
	}
	return list[:n]
}

// lands is a place in a landing or of a flag that an operation uses and only kernels of another form do.
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

// strays finds an operation of a rank's launch of packets whose memory no packet tells about, and says why it is wrong.
// It notes the parts that the launch reads.
func (p *proof) strays(rank int, launch []ops.Op, read map[ops.Loc]bool) (at int, wrong string) {
	told, held := map[ops.Loc]bool{}, map[ops.Loc]bool{} // parts that have landed, and that are not taken back yet
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

// part is which rank's part of a landing a use is in, and whether it is the whole part.
func (p *proof) part(u ops.Use) (sender int, whole bool) {
	b, ok := p.model.buffer(u.At.Buffer)
	size := b.Bytes / int64(len(p.lists))
	if !ok || size == 0 {
		return -1, false
	}
	return int(u.At.Offset / size), u.At.Offset%size == 0 && u.Bytes == size
}
