package group

import (
	"fmt"
	"sync"
)

// Tracer is what the group knows of a plan: enough to say in an error what it
// was doing.
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
	Peers  []int
	Text   string // "Wait ready[2]"
}

// MaxPlans is how many plans a group can register in its life: ids fill the
// upper half of a step word and are not used twice.
const MaxPlans = 1<<16 - 1

type plans struct {
	mu   sync.Mutex
	next int
	byID map[int]Tracer
}

// Register makes a plan known to the group and returns its id, from 1. Ranks
// that make the same plans in the same order get the same ids.
func (g *Group) Register(t Tracer) (id int, err error) {
	g.plans.mu.Lock()
	defer g.plans.mu.Unlock()
	if g.plans.next == MaxPlans {
		return 0, fmt.Errorf("register plan %s: the group has had %d plans (close it and join again)", t.Name(), MaxPlans)
	}
	g.plans.next++
	if g.plans.byID == nil {
		g.plans.byID = map[int]Tracer{}
	}
	g.plans.byID[g.plans.next] = t
	return g.plans.next, nil
}

// Unregister forgets a plan. Its id is not used again.
func (g *Group) Unregister(id int) {
	g.plans.mu.Lock()
	defer g.plans.mu.Unlock()
	delete(g.plans.byID, id)
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
