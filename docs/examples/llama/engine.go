package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"slices"
	"sync/atomic"
	"time"
)

// Server answers OpenAI's completions requests. It keeps ranks ready: when one dies or hangs, or the model can't be
// served yet, it starts them again and again.
type Server struct {
	model    string
	start    func(ctx context.Context) (*Crew, error)
	now      atomic.Pointer[session]
	patience time.Duration // with clients that send or read slowly
}

// session is a crew that serves requests, or an error that says why there is no crew.
type session struct {
	*Crew
	err      error
	here     chan struct{} // has an element for each request that is being read, waits or runs
	requests chan *Request
	running  []*Request    // by their places in the cache
	launched int           // steps
	flight   [][]*Request  // of each step that was launched and not waited for, the requests that get its tokens
	over     chan struct{} // closed when the crew serves no more
	why      error         // set when over is closed
}

// Request asks for the tokens behind a prompt.
type Request struct {
	// Tokens gets every token as it is made, and is closed behind the last one. Then Finish says why it is the last,
	// "stop" or "length", or Err why there are no more.
	Tokens chan int
	Finish string
	Err    error

	ctx    context.Context
	all    []int // the prompt, and the tokens that were made
	read   int   // the number of tokens that are in the cache, or on their way there
	most   int   // the greatest length of all
	choice int32 // stands for the next token, where the last step to be launched chooses it
}

// Errors of requests that a client may send again.
var (
	errJoins  = problem(http.StatusServiceUnavailable, "the ranks are joining (try again later)")
	errDied   = problem(http.StatusServiceUnavailable, "a rank died or hangs; the ranks join again (try again later)")
	errClosed = problem(http.StatusServiceUnavailable, "the server ends")
)

// NewServer makes a server of a model of that name. Run gives it ranks by start.
func NewServer(model string, start func(ctx context.Context) (*Crew, error)) *Server {
	s := &Server{model: model, start: start, patience: 10 * time.Second}
	s.now.Store(&session{err: errJoins})
	return s
}

// retry is the least time between a start that failed and the next one.
const retry = 200 * time.Millisecond

// waiting is the most requests that a server takes at once, for each that can run.
const waiting = 16

// Run serves until ctx ends. Where the ranks can't start it tries again: the checkpoint may have been mended. An error
// says why no other try can help: a NeverError, or a rank of this process that is stuck.
func (s *Server) Run(ctx context.Context) error {
	defer s.now.Store(&session{err: errClosed})
	for ctx.Err() == nil {
		began := time.Now()
		crew, err := s.start(ctx)
		took := time.Since(began).Round(time.Millisecond)
		if errors.As(err, new(NeverError)) {
			return err
		}
		if err != nil {
			why := problem(http.StatusServiceUnavailable, "the ranks can't serve: %w (trying again)", err)
			if last := s.now.Swap(&session{err: why}); last.err.Error() != why.Error() {
				log.Print(why)
			}
			select {
			case <-ctx.Done():
			case <-time.After(max(took, retry)):
			}
			continue
		}
		log.Printf("%d ranks serve the model after %v", len(crew.Ranks), took)
		now := &session{Crew: crew, here: make(chan struct{}, waiting*crew.Sequences), requests: make(chan *Request),
			running: make([]*Request, crew.Sequences), over: make(chan struct{})}
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
		err = crew.Close(ctx)
		if errors.Is(err, errSilent) {
			return fmt.Errorf("close the ranks: %w", err)
		} else if err != nil {
			log.Printf("close the ranks: %v", err)
		}
	}
	return nil
}

// Submit waits for a place, and then asks for at most that many tokens behind a prompt. When ctx ends the request is
// given up between two steps.
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

// serve runs requests until ctx ends, a rank dies or a step fails. It launches a step while the one before runs, whose
// tokens it does not know: the device feeds them to the next step.
func (s *session) serve(ctx context.Context) error {
	for {
		if s.admit() == 0 && len(s.flight) == 0 {
			select {
			case s.running[0] = <-s.requests:
			case <-s.Done:
				return errors.New("a rank has ended")
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		idle := true
		for _, prompt := range []bool{true, false} {
			rows, get := s.rows(prompt)
			if len(rows) == 0 {
				continue
			}
			if err := s.Launch(Batch{prompt, rows}); err != nil {
				return err
			}
			idle, s.launched, s.flight = false, s.launched+1, append(s.flight, get)
			if len(s.flight) == slots {
				if err := s.land(); err != nil {
					return err
				}
			}
		}
		if idle && len(s.flight) > 0 {
			if err := s.land(); err != nil {
				return err
			}
		}
	}
}

// land waits for the first step that was launched, and hands its tokens out. A request that has ended in the meantime
// gets none: the step was launched before that was known. What it wrote to the request's place in the cache is written
// again before it is read, since later steps run behind it.
func (s *session) land() error {
	next, err := s.Wait()
	if err != nil {
		return err
	}
	for i, r := range s.flight[0] {
		if place := slices.Index(s.running, r); place >= 0 {
			s.give(place, int(next[i].Token))
		}
	}
	s.flight = s.flight[1:]
	return nil
}

// admit drops requests whose clients have gone, gives free places to waiting requests, and counts the running ones.
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

// rows returns the rows of the next step: for a prompt, tokens of one request without its last token; else the last
// token of each request that has no other token to read, and the requests. A last token may be one that the step before
// chooses. Nothing follows the token that makes an answer as long as it may be.
func (s *session) rows(prompt bool) (rows []Row, get []*Request) {
	for place, r := range s.running {
		if r == nil || (len(r.all)-r.read > 1) != prompt || prompt && len(rows) > 0 || r.read+1 == r.most {
			continue
		}
		for range min(max(len(r.all)-r.read-1, 1), s.most(prompt)) {
			row := Row{Token: r.choice, Sequence: int32(place), Position: int32(r.read)}
			if r.read < len(r.all) {
				row.Token = int32(r.all[r.read])
			}
			rows = append(rows, row)
			r.read++
		}
		if !prompt {
			r.choice = Choice(s.launched, len(get))
			get = append(get, r)
		}
	}
	return rows, get
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
