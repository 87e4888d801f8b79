package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"ovgen/docs/examples/llama/kernels"
)

// Engine keeps a crew busy: it reads the prompts of requests and decodes all of them a token at a time. When a rank
// dies, the requests that run get an error, and the engine starts another crew.
type Engine struct {
	start   func(ctx context.Context) (*Crew, error)
	now     atomic.Pointer[state]
	queue   chan *Request
	running []*Request // by their places in the cache
}

// state is a crew that serves, or why there is none.
type state struct {
	crew *Crew
	err  error
}

// Queued are the requests that may wait for a place.
const Queued = 256

// What an engine says of requests that may be sent again.
var (
	ErrFull   = &Problem{http.StatusTooManyRequests, "too many requests wait (try again later)"}
	ErrJoins  = &Problem{http.StatusServiceUnavailable, "the ranks are joining (try again later)"}
	errDied   = &Problem{http.StatusServiceUnavailable, "a rank died; the ranks join again (try again later)"}
	errClosed = &Problem{http.StatusServiceUnavailable, "the server ends"}
)

// NewEngine is an engine that does not run yet.
func NewEngine(start func(ctx context.Context) (*Crew, error)) *Engine {
	e := &Engine{start: start, queue: make(chan *Request, Queued)}
	e.now.Store(&state{err: ErrJoins})
	return e
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

// Submit asks for up to so many tokens behind a prompt. The request is given up between two steps when ctx ends.
func (e *Engine) Submit(ctx context.Context, prompt []int, most int) (*Request, error) {
	crew, err := e.Crew()
	if err != nil {
		return nil, err
	}
	most = min(most, crew.Room-len(prompt))
	r := &Request{Tokens: make(chan int, most), ctx: ctx, all: slices.Clone(prompt), most: len(prompt) + most}
	select {
	case e.queue <- r:
		return r, nil
	default:
		return nil, ErrFull
	}
}

// Crew is the crew that serves, or why there is none.
func (e *Engine) Crew() (*Crew, error) {
	now := e.now.Load()
	return now.crew, now.err
}

func (r *Request) end(finish string, err error) {
	r.Finish, r.Err = finish, err
	close(r.Tokens)
}

// Run serves until ctx ends. It starts a crew again and again until it can: its checkpoint may have been mended.
func (e *Engine) Run(ctx context.Context) {
	for ctx.Err() == nil {
		began := time.Now()
		crew, err := e.start(ctx)
		took := time.Since(began).Round(time.Millisecond)
		if err != nil {
			e.fail(err)
			select {
			case <-ctx.Done():
			case <-time.After(max(took, 200*time.Millisecond)):
			}
			continue
		}
		log.Printf("%d ranks serve the model after %v", len(crew.Ranks), took)
		e.now.Store(&state{crew: crew})
		err = e.serve(ctx, crew)
		e.now.Store(&state{err: ErrJoins})
		why := errClosed
		if ctx.Err() == nil {
			why = errDied
			log.Printf("the ranks join again: %v", err)
		}
		for place, r := range e.running {
			if r != nil {
				r.end("", why)
			}
			e.running[place] = nil
		}
		if err := crew.Close(context.WithoutCancel(ctx)); err != nil {
			log.Printf("close the ranks: %v", err)
		}
	}
	e.drop(errClosed)
}

// fail answers requests with what keeps the ranks from serving the model.
func (e *Engine) fail(err error) {
	why := &Problem{http.StatusServiceUnavailable, fmt.Sprintf("the ranks can't serve the model: %v (trying again)", err)}
	if now := e.now.Swap(&state{err: why}); now.err.Error() != why.Error() {
		log.Print(why)
	}
	e.drop(why)
}

// drop ends the requests that wait.
func (e *Engine) drop(why error) {
	for len(e.queue) > 0 {
		(<-e.queue).end("", why)
	}
}

// serve runs requests until ctx ends or a step fails.
func (e *Engine) serve(ctx context.Context, crew *Crew) error {
	e.running = make([]*Request, crew.Sequences)
	for {
		if e.admit() == 0 {
			select {
			case e.running[0] = <-e.queue:
			case <-crew.Done:
				return errDied
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		for _, prompt := range []bool{true, false} {
			rows := e.rows(prompt, crew)
			if len(rows) == 0 {
				continue
			}
			next, err := crew.Step(Batch{prompt, rows})
			if err != nil {
				return err
			}
			for i, best := range next {
				e.give(rows[i], int(best.Token), crew)
			}
		}
	}
}

// admit gives up requests whose clients have gone, fills the places that are free, and returns how many run.
func (e *Engine) admit() (n int) {
	for i, r := range e.running {
		if r != nil && r.ctx.Err() != nil {
			r.end("", r.ctx.Err())
			e.running[i] = nil
		}
		if e.running[i] == nil {
			select {
			case e.running[i] = <-e.queue:
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
func (e *Engine) rows(prompt bool, crew *Crew) (rows []kernels.Row) {
	for i, r := range e.running {
		if r == nil || (len(r.all)-r.read > 1) != prompt || prompt && len(rows) > 0 {
			continue
		}
		for range min(max(len(r.all)-r.read-1, 1), crew.most(prompt)) {
			rows = append(rows, kernels.Row{Token: int32(r.all[r.read]), Sequence: int32(i), Position: int32(r.read)})
			r.read++
		}
	}
	return rows
}

// give hands the request of a row the token that follows.
func (e *Engine) give(row kernels.Row, token int, crew *Crew) {
	r := e.running[row.Sequence]
	stop := slices.Contains(crew.Ends, token)
	if !stop {
		r.all = append(r.all, token)
		r.Tokens <- token
	}
	switch {
	case stop:
		r.end("stop", nil)
	case len(r.all) == r.most:
		r.end("length", nil)
	default:
		return
	}
	e.running[row.Sequence] = nil
}
