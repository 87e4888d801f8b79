package main

import (
	"context"
	"log"
	"slices"
	"sync/atomic"
	"time"
)

// Engine keeps a crew busy: it reads the prompts of requests and decodes all of them a token at a time. When a rank
// dies, the requests that run get its error, and the engine starts another crew.
type Engine struct {
	Start func(ctx context.Context) (*Crew, error)
	Options
	Ends []int // tokens behind which nothing follows

	queue   chan *Request
	running []*Request // by their places in the cache
	ready   atomic.Bool
}

// Queued are the requests that may wait for a place.
const Queued = 256

// NewEngine is an engine that does not run yet.
func NewEngine(start func(ctx context.Context) (*Crew, error), o Options, ends []int) *Engine {
	return &Engine{Start: start, Options: o, Ends: ends, queue: make(chan *Request, Queued),
		running: make([]*Request, max(o.Sequences, 1))}
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
	most = min(most, e.Room-len(prompt))
	r := &Request{Tokens: make(chan int, most), ctx: ctx, all: slices.Clone(prompt), most: len(prompt) + most}
	if !e.Ready() {
		return nil, ErrJoins
	}
	select {
	case e.queue <- r:
		return r, nil
	default:
		return nil, ErrFull
	}
}

// Ready reports whether there is a crew.
func (e *Engine) Ready() bool { return e.ready.Load() }

// end ends the request at a place, if there is one.
func (e *Engine) end(place int, finish string, err error) {
	if r := e.running[place]; r != nil {
		r.Finish, r.Err, e.running[place] = finish, err, nil
		close(r.Tokens)
	}
}

// Run serves until ctx ends. It returns the error of the first crew that could not start; later ones it tries again.
func (e *Engine) Run(ctx context.Context) error {
	for first := true; ctx.Err() == nil; first = false {
		began := time.Now()
		crew, err := e.Start(ctx)
		if err != nil && first {
			return err
		}
		if err != nil {
			log.Printf("the ranks can't join: %v (trying again)", err)
			time.Sleep(200 * time.Millisecond) // it may be its end that kept the last crew from starting
			continue
		}
		log.Printf("%d ranks serve the model after %v", len(crew.Ranks), time.Since(began).Round(time.Millisecond))
		e.ready.Store(true)
		err = e.serve(ctx, crew)
		e.ready.Store(false)
		why := errClosed
		if ctx.Err() == nil {
			why = errDied
			log.Printf("the ranks join again: %v", err)
		}
		for place := range e.running {
			e.end(place, "", why)
		}
		if err := crew.Close(context.WithoutCancel(ctx)); err != nil {
			log.Printf("close the ranks: %v", err)
		}
	}
	for len(e.queue) > 0 {
		e.running[0] = <-e.queue
		e.end(0, "", errClosed)
	}
	return nil
}

// serve runs requests until ctx ends or a step fails.
func (e *Engine) serve(ctx context.Context, crew *Crew) error {
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
			b, places := e.rows(prompt)
			if len(places) == 0 {
				continue
			}
			next, err := crew.Step(ctx, b)
			if err != nil {
				return err
			}
			for i, place := range places {
				e.give(place, int(next[i].Token))
			}
		}
	}
}

// admit gives up requests whose clients have gone, fills the places that are free, and returns how many run.
func (e *Engine) admit() (n int) {
	for i, r := range e.running {
		if r != nil && r.ctx.Err() != nil {
			e.end(i, "", r.ctx.Err())
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

// rows are those of the next step, and the places of their requests: many of one prompt, or else the last token of
// each request of which all others have been read.
func (e *Engine) rows(prompt bool) (b Batch, places []int) {
	b.Prompt = prompt
	for i, r := range e.running {
		if r == nil || (len(r.all)-r.read > 1) != prompt || prompt && len(places) > 0 {
			continue
		}
		places = append(places, i)
		for range min(len(r.all)-r.read, slices.Max(e.Prefill)) {
			b.Add(r.all[r.read], i, r.read)
			r.read++
		}
	}
	return b, places
}

// give hands a request the token that follows what has been read of it, if that is all.
func (e *Engine) give(place, token int) {
	switch r := e.running[place]; {
	case r.read < len(r.all):
	case slices.Contains(e.Ends, token):
		e.end(place, "stop", nil)
	default:
		r.all = append(r.all, token)
		r.Tokens <- token
		if len(r.all) == r.most {
			e.end(place, "length", nil)
		}
	}
}
