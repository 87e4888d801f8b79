package store

import (
	"fmt"
	"slices"
	"time"
)

// rival is a connection that greets as a rank that is a member already. The server may not have read the end of that
// rank's first connection yet, or the rank has left and joins its next group. A rival waits for that end as long as a
// frame may take.
type rival struct {
	*member
	says greeting
}

// greet makes a connection a member, or refuses it with the reason. If its rank is a member already, it becomes a
// rival, and is refused only after its wait. After the end of a job that all ranks had joined, greet hangs up, so that
// the rank dials again until rank 0 listens for the next group.
func (s *server) greet(x rival, waited bool) {
	m, g := x.member, x.says
	var why string
	switch {
	case g.version != version:
		why = fmt.Sprintf("protocol version %d, rank 0 speaks %d (all ranks must run the same binary)", g.version,
			version)
	case g.job != s.Job:
		why = fmt.Sprintf("job %q is not job %q", g.job, s.Job)
	case g.size != s.Size:
		why = fmt.Sprintf("rank %d says that job %q has %d ranks, rank 0 says %d", g.rank, s.Job, g.size, s.Size)
	case g.rank < 0 || g.rank >= s.Size:
		why = fmt.Sprintf("rank %d of a job of %d", g.rank, s.Size)
	case s.open && s.dead != nil:
		s.drop(m)
		return
	case s.members[g.rank] != nil && !waited:
		s.rivals = append(s.rivals, x)
		s.settled = time.After(flushTimeout)
		return
	case s.members[g.rank] != nil:
		why = fmt.Sprintf("rank %d of job %q is there already (give each process its own rank, and each start its "+
			"own job name)", g.rank, s.Job)
	}
	if why != "" {
		s.note("refused " + why)
		m.out <- newFrame(refused).text(why)
		s.drop(m)
		return
	}
	m.rank = g.rank
	s.members[g.rank] = m
	s.push(m, newFrame(accepted))
	if s.came[g.rank] = true; len(s.came) == s.Size {
		defer s.complete()
	}
	if g.declines {
		s.end(newFrame(declined).number(g.rank).text(g.reason))
	} else if s.dead != nil {
		s.push(m, s.dead)
	}
}

// meet ends the rendezvous when every rank knows that it is a member: a rank that does not know it may dial again.
func (s *server) meet() {
	if s.open || s.dead != nil || len(s.missing()) > 0 {
		return
	}
	s.open = true
	s.broadcast(newFrame(welcome))
}

// settle greets all rivals again. If waited, they have waited long enough; otherwise they may wait anew.
func (s *server) settle(waited bool) {
	list := s.rivals
	s.rivals, s.settled = nil, nil
	for _, x := range list {
		s.greet(x, waited)
	}
}

// complete says that every rank has come; it may run again if a rank comes again after a failure.
func (s *server) complete() {
	select {
	case <-s.all:
	default:
		close(s.all)
	}
}

func (s *server) note(text string) {
	if len(s.notes) < 8 && !slices.Contains(s.notes, text) {
		s.notes = append(s.notes, text)
	}
}

// missing returns the ranks that have not joined, or do not know yet that they have.
func (s *server) missing() []int {
	var list []int
	for r, m := range s.members {
		if m == nil || !m.knows {
			list = append(list, r)
		}
	}
	return list
}
