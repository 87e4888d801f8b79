package group

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// Tracer is the group's view of a plan: its name and its steps, which errors quote.
type Tracer interface {
	// Name of the plan: "allgatherlinear".
	Name() string
	// Steps of one run, in issue order; the group does not change them.
	Steps() []Step
}

// Step is one node of a plan's host program.
type Step struct {
	Number int    // from 1, as written into step words
	Stream string // the pooled stream's String
	Wait   bool   // the step waits for the peers
	// Unmarked says that the step writes no step word, as collectives do not.
	Unmarked bool
	Peers    []int
	Posts    []Post // the posts that the step awaits; none where their words do not say which are missing
	Text     string // "Wait ready[2]"
}

// Closer is a Tracer that Group.Close closes if it is still open.
type Closer interface {
	Close(context.Context) error
}

// MaxPlans is the number of plans of a group that can be open at once: ids fill the upper half of a step word.
const MaxPlans = 1<<16 - 1

type plans struct {
	mu   sync.Mutex
	last int // the last id that was given
	byID map[int]Tracer
}

// Register makes a plan known to the group and returns its id, from 1 to MaxPlans. Ranks that make and close the same
// plans in the same order get the same ids. Ids are given in turn, so that the id of a closed plan returns as late as
// possible: a step word that still holds it would mislead a diagnosis.
func (g *Group) Register(t Tracer) (id int, err error) {
	p := &g.plans
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.byID) == MaxPlans {
		return 0, fmt.Errorf("register plan %s: %d plans of the group are open "+
			"(close plans that are not used any more)", t.Name(), MaxPlans)
	}
	if p.byID == nil {
		p.byID = map[int]Tracer{}
	}
	for {
		p.last = p.last%MaxPlans + 1
		if p.byID[p.last] == nil {
			p.byID[p.last] = t
			return p.last, nil
		}
	}
}

// open lists the plans that are registered, by id.
func (p *plans) open() []Tracer {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []Tracer
	for _, id := range slices.Sorted(maps.Keys(p.byID)) {
		list = append(list, p.byID[id])
	}
	return list
}

// Unregister forgets a plan; another plan may get its id.
func (g *Group) Unregister(id int) {
	g.plans.mu.Lock()
	defer g.plans.mu.Unlock()
	delete(g.plans.byID, id)
	g.runs.forget(id)
}

// plan returns the tracer of a plan, nil if it is not registered any more.
func (g *Group) plan(id int) Tracer {
	g.plans.mu.Lock()
	defer g.plans.mu.Unlock()
	return g.plans.byID[id]
}

// planName is "plan 3 (allgatherlinear)".
func (g *Group) planName(id int) string {
	if t := g.plan(id); t != nil {
		return fmt.Sprintf("plan %d (%s)", id, t.Name())
	}
	return fmt.Sprintf("plan %d", id)
}
