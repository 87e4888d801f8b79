package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
)

// Collectives declares that runs have collectives of NCCL, which add up elements of a type.
func (b *Builder) Collectives(t driver.Type) { b.plan.collective, b.plan.summed = true, t }

// AllGather gathers bytes of each rank on all ranks, in the order of ranks.
func (q *Queue) AllGather(s *Stream, recv, send driver.Ptr, bytes int64) {
	q.together(s, recv, send, driver.CollectiveDesc{Kind: driver.AllGather, Bytes: bytes}, EveryPeer)
}

// ReduceScatter adds up the ranks' operands and leaves each rank its part, in bytes.
func (q *Queue) ReduceScatter(s *Stream, recv, send driver.Ptr, bytes int64) {
	q.together(s, recv, send, driver.CollectiveDesc{Kind: driver.ReduceScatter, Bytes: bytes}, EveryPeer)
}

// AllReduce adds up bytes of all ranks and leaves the sum on each rank.
func (q *Queue) AllReduce(s *Stream, recv, send driver.Ptr, bytes int64) {
	q.together(s, recv, send, driver.CollectiveDesc{Kind: driver.AllReduce, Bytes: bytes}, EveryPeer)
}

// AllToAll sends part p of each rank's operand to rank p. Sizes of parts are in bytes.
func (q *Queue) AllToAll(s *Stream, recv, send driver.Ptr, bytes int64) {
	q.together(s, recv, send, driver.CollectiveDesc{Kind: driver.AllToAll, Bytes: bytes}, EveryPeer)
}

// Exchange sends bytes to a rank of this rank's communicator, and receives as many.
func (q *Queue) Exchange(s *Stream, recv, send driver.Ptr, bytes int64, to, from int) {
	q.ExchangeParts(s, recv, send, bytes, bytes, to, from)
}

// ExchangeParts sends bytes to a rank of this rank's communicator, and receives as many as the other rank sends.
func (q *Queue) ExchangeParts(s *Stream, recv, send driver.Ptr, receives, sends int64, to, from int) {
	each := max(1, q.PerHost()%q.plan.ranks) // a communicator over hosts has one rank of each, that of one host has all
	q.together(s, recv, send, driver.CollectiveDesc{Kind: driver.Exchange, Bytes: sends, More: receives - sends,
		To: to / each, From: from / each}, from)
}

// together enqueues a collective that waits for one rank, or for all ranks of the communicator.
func (q *Queue) together(s *Stream, recv, send driver.Ptr, d driver.CollectiveDesc, from int) {
	live := q.begin(s)
	d.Type = q.plan.summed
	if q.numbering() {
		q.plan.note(s, true, q.plan.rail(from), "NCCL "+string(d.Kind))
		q.plan.steps[len(q.plan.steps)-1].Unmarked = true
		// Where parts differ, two that are alike here may not be so on other ranks, and all try equally many.
		if q.plan.balanced != nil || q.plan.counts > 0 || !slices.Contains(q.plan.collectives, d) {
			q.plan.collectives = append(q.plan.collectives, d)
		}
	}
	switch {
	case !live:
	case q.listener != nil:
		q.check(q.listener.Collective(s.handle, d, 1+len(q.plan.rail(EveryPeer)), recv, send))
	default:
		q.check(q.plan.group.Collective(d, recv, send, s.handle))
	}
}

// rail lists one rank or, for EveryPeer, the other ranks of this rank's communicator.
func (p *Plan) rail(one int) (list []int) {
	switch {
	case one != EveryPeer:
		return []int{one}
	case p.hosts == 1:
		return p.peers
	}
	for h := 1; h < p.hosts; h++ {
		list = append(list, (p.rank+h*p.perHost())%p.ranks)
	}
	return list
}

// connect makes the group's communicator, unless an earlier plan has made it, and tries each of the plan's collectives,
// on memory that it allocates for the trials. No rank begins the trials if a rank has failed.
func (p *Plan) connect(ctx context.Context, failed error) error {
	ctx, cancel := context.WithTimeout(ctx, p.group.CallTimeout())
	defer cancel()
	connected := p.group.Connected()
	var id []byte
	var memory driver.Ptr
	send, recv := p.rehearsal()
	if failed == nil && !connected {
		id, failed = p.group.CommunicatorID()
	}
	if failed == nil {
		memory, failed = p.driver.MemAlloc(RehearsalBytes(send, recv))
	}
	all, err := p.agree(ctx, fmt.Sprintf("make plan %d by NCCL", p.id), id, failed)
	if err == nil && !connected {
		err = p.group.Connect(ctx, all)
	}
	if err == nil {
		err = p.group.Rehearse(ctx, p.collectives, memory+driver.Ptr(group.StagingBytes(send)), memory, p.main.own)
	}
	if memory != 0 {
		err = errors.Join(err, p.driver.MemFree(memory))
	}
	return err
}

// rehearsal returns the bytes that the largest collectives send and receive. An exchange of none has addresses too.
func (p *Plan) rehearsal() (send, recv int64) {
	for _, d := range p.collectives {
		s, r := d.Sizes(1 + len(p.rail(EveryPeer)))
		send, recv = max(send, s, 1), max(recv, r, 1)
	}
	return send, recv
}
