package plan

import (
	"fmt"
	"slices"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
)

// Packets is memory of a plan in which packets of all ranks land, at the same offset of every rank's arena. It has two
// halves, each with a part for each rank, and for each block a word that says which half the block's next run uses. A
// packet has 4 bytes and is 0 between runs. In each part, behind its packets, lie 8 more bytes for each packet, for
// data that are not packets.
type Packets struct {
	name, flags string
	bytes       int64 // of data, in all parts
	words       bool  // plain data lands, and each part ends with a word for each block
	offset      int64
	base        []driver.Ptr
}

// Packets declares memory for packets, given the bytes of all ranks' data together, one equal part for each rank, and
// the name of their flags. No other plan shares this memory.
func (b *Builder) Packets(name, flags string, bytes int64) *Packets {
	if bytes < 0 {
		b.mistake("buffer %s has %d bytes", name, bytes)
	}
	p := &Packets{name: name, flags: flags, bytes: bytes}
	b.plan.packets = append(b.plan.packets, p)
	return p
}

// Words says that plain data lands, whose flags are a word for each block of the kernel that sends it.
func (b *Builder) Words(p *Packets) *Packets {
	p.words = true
	return p
}

// MostPacketBlocks is the largest number of blocks, each of at most 512 threads, of a kernel that sends packets: two
// for each of MostBlocks multiprocessors.
const MostPacketBlocks = 2 * MostBlocks

// part is the bytes of a rank's part of a half: its packets with the words beside them, or its data and words.
func (x *Packets) part(ranks int) int64 {
	if x.words {
		return x.flagsAt(ranks) + group.StagingBytes(4*MostPacketBlocks)
	}
	return 3 * x.flagsAt(ranks)
}

// flagsAt is the offset in a part at which the words of plain data begin, or the words beside packets.
func (x *Packets) flagsAt(ranks int) int64 { return group.StagingBytes(x.bytes / int64(ranks)) }

// half is the bytes of a half.
func (x *Packets) half(ranks int) int64 { return int64(ranks) * x.part(ranks) }

// turn is the offset at which the words of blocks begin.
func (x *Packets) turn(ranks int) int64 { return 2 * x.half(ranks) }

// size is the bytes of both halves and of the words of blocks.
func (x *Packets) size(ranks int) int64 {
	return group.StagingBytes(x.turn(ranks) + 4*MostPacketBlocks)
}

// PacketBytes is the bytes of the arena that all ranks' packets, or plain data with words, take, given the bytes of all
// ranks' data together.
func PacketBytes(data int64, ranks int, words bool) int64 {
	return (&Packets{bytes: data, words: words}).size(ranks)
}

// land takes the plan's memory for packets from the arena.
func (p *Plan) land() error {
	arena := p.group.Arena()
	for _, x := range p.packets {
		offset, err := arena.Keep(x.size(p.Size()))
		if err != nil {
			return err
		}
		x.offset = offset
		for r := range p.Size() {
			x.base = append(x.base, within(arena, r, offset))
		}
	}
	return nil
}

// clearPackets sets this rank's packets and the words of blocks to 0. The ranks meet before a rank sends packets.
func (p *Plan) clearPackets() error {
	for _, x := range p.packets {
		if err := p.driver.MemsetD32Async(x.base[p.rank], 0, x.size(p.Size())/4, p.main.own); err != nil {
			return fmt.Errorf("clear packets %s: %w", x.name, err)
		}
	}
	return nil
}

// PacketWords has the addresses and distances that a kernel of packets works with. To is this rank's part of each
// rank's landing, by rank, 0 for this rank. From is this rank's landing. Part is the bytes of a part, Half the bytes
// from one half to the other, Flags the bytes from the start of a part to its first block's word, or to the words
// beside packets. Turn is the first block's word that says the half. Step and Value are the step word and its value.
type PacketWords struct {
	To         []driver.Ptr
	From       driver.Ptr
	Part, Half int64
	Flags      int64
	Turn       driver.Ptr
	Spread     [8]PacketSpread // the landings of further results
	Step       driver.Ptr
	Value      uint32
}

// PacketSpread is a further landing of a kernel of packets: the bytes from the first landing to it, on every rank, and
// the other figures that PacketWords has of the first one.
type PacketSpread struct{ Away, Part, Half, Flags int64 }

// PacketWords counts the step of a kernel of packets, which the next Launch enqueues. A kernel that sends further
// results has a landing for each. The addresses are valid until the next call.
func (q *Queue) PacketWords(s *Stream, x *Packets, kind string, spread ...*Packets) (w PacketWords) {
	q.begin(s)
	q.named = true
	if q.numbering() {
		peers, does := slices.Clone(q.plan.peers), kind
		for _, x := range append([]*Packets{x}, spread...) {
			does += fmt.Sprintf(", Post %s%s, Wait %s%s", x.flags, peerList(peers), x.flags, peerList(peers))
		}
		q.plan.note(s, true, peers, does)
	}
	n, rank := q.Size(), q.Rank()
	w.Part, w.Half, w.Flags = x.part(n), x.half(n), x.flagsAt(n)
	w.Step, w.Value = s.step, group.StepValue(q.plan.id, q.step)
	q.words = q.words[:0]
	for r := range n {
		to := driver.Ptr(0)
		if r != rank && len(x.base) > 0 {
			to = x.base[r] + driver.Ptr(int64(rank)*w.Part)
		}
		q.words = append(q.words, to)
	}
	w.To = q.words
	if len(x.base) > 0 {
		w.From = x.base[rank]
		w.Turn = w.From + driver.Ptr(x.turn(n))
	}
	if q.numbering() && !x.words {
		x.awaited(&q.plan.steps[len(q.plan.steps)-1], w)
	}
	for i, y := range spread {
		w.Spread[i] = PacketSpread{y.offset - x.offset, y.part(n), y.half(n), y.flagsAt(n)}
		if at := w; q.numbering() {
			at.From, at.Part, at.Half = at.From+driver.Ptr(w.Spread[i].Away), y.part(n), y.half(n)
			y.awaited(&q.plan.steps[len(q.plan.steps)-1], at)
		}
	}
	return w
}

// awaited notes in a step the first packet of each peer, in both halves.
func (x *Packets) awaited(step *group.Step, w PacketWords) {
	for _, p := range step.Peers {
		word := w.From + driver.Ptr(int64(p)*w.Part)
		step.Posts = append(step.Posts, group.Post{Peer: p, Name: fmt.Sprintf("%s[%d]", x.flags, p), Word: word,
			Or: word + driver.Ptr(w.Half)})
	}
}
