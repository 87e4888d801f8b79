package group

import (
	"encoding/json"

	"ovgen/runtime/group/store"
)

// news is a rank's message about an abort to the ranks of other hosts. Ranks of one host read it in their shared page.
type news struct {
	By     int // the rank that set the abort word
	Kind   uint32
	Gone   uint32
	Reason string
	// Report says that the fields below are set: the rank's wait, if it has one, and the runs that it has begun.
	Report bool
	Wait   *Wait
	Runs   uint64
	Recent [recentRuns]uint32
}

// news makes this rank's message about an abort.
func (g *Group) news(by int, cause error) news {
	n := news{By: by, Reason: cause.Error()}
	n.Reason = n.Reason[:min(len(n.Reason), reasonBytes)]
	n.Kind, n.Gone = classify(cause)
	return n
}

// tell sends news to the other hosts. It does not wait for the send: a Gather that rank 0 does not read may block the
// connection. If the send fails, the connection has ended, and the other hosts learn of its end.
func (g *Group) tell(n news) {
	if g.Hosts() == 1 {
		return
	}
	if blob, err := json.Marshal(n); err == nil {
		go func() { _ = g.client.Tell(blob) }()
	}
}

// told returns the channel of other ranks' news where there are several hosts, else nil.
func (g *Group) told() <-chan store.Message {
	if g.Hosts() == 1 {
		return nil
	}
	return g.client.Told()
}

// hearAll takes the news that have arrived.
func (g *Group) hearAll() {
	for {
		select {
		case m := <-g.told():
			g.hear(m)
		default:
			return
		}
	}
}

// hear writes the news of a rank of another host into this host's page: all ranks of the host write the same.
func (g *Group) hear(m store.Message) {
	var n news
	if g.beside(m.Rank) || json.Unmarshal(m.Blob, &n) != nil || n.By < 0 || n.By >= g.Size() ||
		n.Wait != nil && (n.Wait.Rank != m.Rank || n.Wait.Peer < 0 || n.Wait.Peer >= g.Size()) {
		return
	}
	g.page.adopt(m.Rank, n, g.beside(n.By))
}

// adopt writes the news of a rank. If known, the rank that aborted is on this host and wrote its reason here.
func (p *page) adopt(rank int, n news, known bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.mem == nil {
		return
	}
	if n.Report {
		p.runs(rank).Store(n.Runs)
		for i, plan := range n.Recent {
			p.word(section(rank, sectionRecent+4*i)).Store(plan)
		}
		if n.Wait != nil {
			p.report(*n.Wait)
		}
		p.word(section(rank, sectionState)).Store(1)
	}
	if !known {
		p.word(section(n.By, sectionKind)).Store(n.Kind)
		p.word(section(n.By, sectionGone)).Store(n.Gone)
		p.writeTextOf(n.By, sectionReason, reasonBytes, n.Reason)
		p.word(pageAbort).CompareAndSwap(0, uint32(n.By+1))
	}
}
