package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"slices"
	"sync/atomic"
	"time"
)

// Server answers OpenAI's completions requests. It keeps ranks ready: when one dies, or the model can't be served, it
// starts them again and again.
type Server struct {
	model string
	start func(ctx context.Context) (*Crew, error)
	now   atomic.Pointer[session]
}

// session is a crew that serves requests, or an error that says why there is none.
type session struct {
	*Crew
	err      error
	requests chan *Request
	running  []*Request    // by their places in the cache
	over     chan struct{} // closed when the crew serves no more
	why      error         // behind that
}

// Request asks for the tokens behind a prompt.
type Request struct {
	// Tokens gets every token as it is made, and is closed behind the last one. Then Finish says why it is the last,
	// "stop" or "length", or Err why there are no more.
	Tokens chan int
	Finish string
	Err    error

	ctx  context.Context
	all  []int // the prompt and what was made
	read int   // how many of them are in the cache
	most int   // how many there will be
}

// What a server says of requests that may be sent again.
var (
	errJoins  = &Problem{http.StatusServiceUnavailable, "the ranks are joining (try again later)"}
	errDied   = &Problem{http.StatusServiceUnavailable, "a rank died; the ranks join again (try again later)"}
	errClosed = &Problem{http.StatusServiceUnavailable, "the server ends"}
)

// NewServer is a server of a model of a name, which Run gives ranks.
func NewServer(model string, start func(ctx context.Context) (*Crew, error)) *Server {
	s := &Server{model: model, start: start}
	s.now.Store(&session{err: errJoins})
	return s
}

// retry is the least time between two starts, of which the first failed.
const retry = 200 * time.Millisecond

// Run serves until ctx ends. Where the ranks can't start it tries again: what kept them may have been mended.
func (s *Server) Run(ctx context.Context) {
	for ctx.Err() == nil {
		began := time.Now()
		crew, err := s.start(ctx)
		took := time.Since(began).Round(time.Millisecond)
		if err != nil {
			why := &Problem{http.StatusServiceUnavailable, fmt.Sprintf("the ranks can't serve: %v (trying again)", err)}
			if last := s.now.Swap(&session{err: why}); last.err.Error() != why.Message {
				log.Print(why)
			}
			select {
			case <-ctx.Done():
			case <-time.After(max(took, retry)):
			}
			continue
		}
		log.Printf("%d ranks serve the model after %v", len(crew.Ranks), took)
		now := &session{Crew: crew, requests: make(chan *Request), running: make([]*Request, crew.Sequences),
			over: make(chan struct{})}
		s.now.Store(now)
		err = now.serve(ctx)
		s.now.Store(&session{err: errJoins})
		if now.why = errClosed; ctx.Err() == nil {
			now.why = errDied
			log.Printf("the ranks join again: %v", err)
		}
		close(now.over)
		for place := range now.running {
			now.end(place, "", now.why)
		}
		if err := crew.Close(context.WithoutCancel(ctx)); err != nil {
			log.Printf("close the ranks: %v", err)
		}
	}
	s.now.Store(&session{err: errClosed})
}

// Submit asks for up to so many tokens behind a prompt, when there is a place. The request is given up between two
// steps when ctx ends.
func (s *session) Submit(ctx context.Context, prompt []int, most int) (*Request, error) {
	most = min(most, s.Room-len(prompt))
	r := &Request{Tokens: make(chan int, most), ctx: ctx, all: slices.Clone(prompt), most: len(prompt) + most}
	select {
	case s.requests <- r:
		return r, nil
	case <-s.over:
		return nil, s.why
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// serve runs requests until ctx ends, a rank dies or a step fails.
func (s *session) serve(ctx context.Context) error {
	for {
		if s.admit() == 0 {
			select {
			case s.running[0] = <-s.requests:
			case <-s.Done:
				return errDied
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		for _, prompt := range []bool{true, false} {
			rows := s.rows(prompt)
			if len(rows) == 0 {
				continue
			}
			next, err := s.Step(Batch{prompt, rows})
			if err != nil {
				return err
			}
			for i, best := range next {
				s.give(int(rows[i].Sequence), int(best.Token))
			}
		}
	}
}

// admit gives up requests whose clients have gone, fills the places that are free, and returns how many run.
func (s *session) admit() (n int) {
	for place, r := range s.running {
		if r != nil && r.ctx.Err() != nil {
			s.end(place, "", r.ctx.Err())
		}
		if s.running[place] == nil {
			select {
			case s.running[place] = <-s.requests:
			default:
				continue
			}
		}
		n++
	}
	return n
}

// rows are those of the next step: of one prompt, all but its last token, or else the last token of each request of
// which all others have been read.
func (s *session) rows(prompt bool) (rows []Row) {
	for place, r := range s.running {
		if r == nil || (len(r.all)-r.read > 1) != prompt || prompt && len(rows) > 0 {
			continue
		}
		for range min(max(len(r.all)-r.read-1, 1), s.most(prompt)) {
			rows = append(rows, Row{Token: int32(r.all[r.read]), Sequence: int32(place), Position: int32(r.read)})
			r.read++
		}
	}
	return rows
}

// give hands a request the token that follows.
func (s *session) give(place, token int) {
	r := s.running[place]
	if slices.Contains(s.Ends, token) {
		s.end(place, "stop", nil)
		return
	}
	r.all = append(r.all, token)
	r.Tokens <- token
	if len(r.all) == r.most {
		s.end(place, "length", nil)
	}
}

// end ends the request at a place, if there is one.
func (s *session) end(place int, finish string, err error) {
	if r := s.running[place]; r != nil {
		r.Finish, r.Err, s.running[place] = finish, err, nil
		close(r.Tokens)
	}
}
