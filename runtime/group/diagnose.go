package group

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"ovgen/runtime/group/store"
)

// diagnose finds where this rank's run of a plan waits: on each stream, at the first wait after the one that its step
// word names. Where a replay may be at several plans, diagnose takes the plan that the words show unfinished, or else
// probably the plan that was captured after the last plan that has begun.
func (g *Group) diagnose(plans []int, words []uint32, all []history, cause error) (Wait, bool) {
	var at next
	var plan int
	var ok bool
	for _, id := range following(plans, words) {
		tracer := g.plan(id)
		if tracer == nil {
			continue
		}
		steps, byStream := tracer.Steps(), g.pool.stepWords(id, words)
		list := nexts(steps, id, byStream)
		g.readPosts(list)
		x, found := earliest(list)
		x.sure = x.sure && (len(plans) == 1 || amidst(steps, id, byStream))
		if found && (!ok || x.sure && !at.sure) {
			at, plan, ok = x, id, true
		}
	}
	if !ok {
		return Wait{}, false
	}
	w := Wait{Rank: g.Rank(), Plan: plan, Step: at.Number, Sure: at.sure, Posted: at.posted}
	place := fmt.Sprintf("step %d on %s: %s", at.Number, at.Stream, at.Text)
	if w.Posted {
		w.Peer, place = w.Rank, "before "+place+", whose posts are there"
	} else {
		w.Peer = suspect(at.lacks(), w.Rank, all, cause)
		if words := at.words(); words != "" {
			place = fmt.Sprintf("step %d on %s, for %s: %s", at.Number, at.Stream, words, at.Text)
		}
	}
	w.Text = g.planName(plan) + ", " + place
	return w, true
}

// following returns the plans in turn, beginning after the last plan that a step word names.
func following(plans []int, words []uint32) []int {
	begun := func(i int) bool {
		return slices.ContainsFunc(words, func(w uint32) bool { return int(w>>16) == plans[i] })
	}
	for i := range plans {
		if !begun(i) && begun((i+len(plans)-1)%len(plans)) {
			return slices.Concat(plans[i:], plans[:i])
		}
	}
	return plans
}

// amidst reports whether a stream has passed a wait of the plan and has not reached the plan's last wait.
func amidst(steps []Step, plan int, words map[string]uint32) bool {
	last := map[string]int{}
	for _, s := range steps {
		if s.Wait {
			last[s.Stream] = s.Number & 0xffff
		}
	}
	for stream, w := range words {
		if at, ok := last[stream]; ok && int(w>>16) == plan && int(w&0xffff) != at {
			return true
		}
	}
	return false
}

// stepWords returns the step words, by stream name. Where two streams have the same name and different priorities, it
// returns the word of the stream on which this plan runs.
func (p *pool) stepWords(plan int, words []uint32) map[string]uint32 {
	p.mu.Lock()
	defer p.mu.Unlock()
	byStream := map[string]uint32{}
	for i, w := range words {
		name := p.streams[i].String()
		if _, two := byStream[name]; !two || int(w>>16) == plan {
			byStream[name] = w
		}
	}
	return byStream
}

// suspect picks one of the peers that a step waits for: the peer that is gone, else a peer that has begun fewer runs
// than this rank, else the first.
func suspect(peers []int, rank int, all []history, cause error) int {
	var gone *store.GoneError
	if errors.As(cause, &gone) && slices.Contains(peers, gone.Rank) {
		return gone.Rank
	}
	for _, p := range peers {
		if all[p].runs < all[rank].runs {
			return p
		}
	}
	if len(peers) > 0 {
		return peers[0]
	}
	return rank
}

// order describes how the ranks' sequences of plans differ: the first known run that was not the same plan on all
// ranks, or else the number of runs that each rank has begun.
func order(all []history, name func(int) string) string {
	least, most := all[0].runs, all[0].runs
	for _, h := range all {
		least, most = min(least, h.runs), max(most, h.runs)
	}
	first := uint64(0)
	if most > recentRuns {
		first = most - recentRuns
	}
	for n := first; n < least; n++ {
		if s := differ(all, func(h history) uint64 { return uint64(h.recent[n%recentRuns]) }); s != nil {
			return fmt.Sprintf("run %d of the group was %s", n+1, s.list(func(v uint64) string { return name(int(v)) }))
		}
	}
	if s := differ(all, func(h history) uint64 { return h.runs }); s != nil {
		return "runs begun by the host: " + s.list(func(v uint64) string { return fmt.Sprint(v) })
	}
	return ""
}

// shares has each value with the ranks that have it.
type shares []share

type share struct {
	value uint64
	ranks []string
}

// differ groups the ranks by a value; it returns nil if all ranks have the same value.
func differ(all []history, value func(history) uint64) shares {
	var s shares
	for r, h := range all {
		v := value(h)
		i := slices.IndexFunc(s, func(x share) bool { return x.value == v })
		if i < 0 {
			i = len(s)
			s = append(s, share{value: v})
		}
		s[i].ranks = append(s[i].ranks, fmt.Sprint(r))
	}
	if len(s) == 1 {
		return nil
	}
	return s
}

func (s shares) list(text func(uint64) string) string {
	var parts []string
	for _, x := range s {
		noun := "rank "
		if len(x.ranks) > 1 {
			noun = "ranks "
		}
		parts = append(parts, text(x.value)+" on "+noun+strings.Join(x.ranks, ", "))
	}
	return strings.Join(parts, "; ")
}

// report writes a rank's wait into its section.
func (p *page) report(w Wait) {
	for i, v := range []int{w.Plan, w.Step, w.Peer + 1} {
		p.word(section(w.Rank, sectionWait+4*i)).Store(uint32(v))
	}
	for i, set := range []bool{w.Sure, w.Posted} {
		if set {
			p.word(section(w.Rank, sectionWait+4*(3+i))).Store(1)
		}
	}
	p.writeTextOf(w.Rank, sectionText, textBytes, w.Text)
}

// waits returns the waits that the ranks have reported.
func (p *page) waits() []Wait {
	var all []Wait
	for r := range p.size {
		state := p.word(section(r, sectionState)).Load()
		field := func(i int) int { return int(p.word(section(r, sectionWait+4*i)).Load()) }
		if state == 0 || field(2) == 0 {
			continue
		}
		all = append(all, Wait{Rank: r, Plan: field(0), Step: field(1), Peer: field(2) - 1, Sure: field(3) == 1,
			Posted: field(4) == 1, Text: p.text(r, sectionText, textBytes)})
	}
	return all
}
