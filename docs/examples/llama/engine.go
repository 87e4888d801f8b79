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
	Start func(ctx context.Context) (Crew, error)
	Options
	Ends []int // tokens behind which nothing follows

	queue chan *Request
	ready atomic.Bool
}

// Queued are the requests that may wait for a place.
const Queued = 256

// NewEngine is an engine that does not run yet.
func NewEngine(start func(ctx context.Context) (Crew, error), o Options, ends []int) *Engine {
	o.Sequences = min(o.Sequences, slices.Max(o.Decode))
	return &Engine{Start: start, Options: o, Ends: ends, queue: make(chan *Request, Queued)}
}

// Request asks for the tokens behind a prompt.
type Request struct {
	Prompt []int
	Most   int // tokens that it wants
	// Made gets every token as it is made, and then an event that says why it is the last.
	Made chan Event
	ctx  context.Context

	sequence int // its place in the cache
	read     int // tokens of the prompt that are in the cache
	last     int // the token that was made last
	made     int
	ended    bool
}

// Event is a token, or the end of a request.
type Event struct {
	Token  int
	Finish string // "stop" or "length": there is no token
	Err    error  // there is no token
}

// Submit hands in a request. It is given up between two steps when ctx ends.
func (e *Engine) Submit(ctx context.Context, prompt []int, most int) (*Request, error) {
	r := &Request{Prompt: prompt, Most: most, Made: make(chan Event, most+1), ctx: ctx}
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

// Run serves until ctx ends. It returns the error of the first crew that could not start; later ones it tries again.
func (e *Engine) Run(ctx context.Context) error {
	defer func() { // ends the requests that still wait
		for len(e.queue) > 0 {
			(<-e.queue).Made <- Event{Err: errClosed}
		}
	}()
	for first := true; ; first = false {
		crew, err := e.Start(ctx)
		switch {
		case err == nil:
			e.ready.Store(true)
			err = e.serve(ctx, crew)
			e.ready.Store(false)
			if ctx.Err() == nil {
				log.Printf("the ranks stopped: %v", err)
			}
			if err := crew.Close(context.WithoutCancel(ctx)); err != nil {
				log.Printf("close the ranks: %v", err)
			}
		case first:
			return err
		}
		if ctx.Err() != nil {
			return nil
		}
		if !first && err != nil {
			time.Sleep(100 * time.Millisecond) // it may be its end that kept the last crew from starting
		}
	}
}

// serve runs requests until ctx ends or a step fails.
func (e *Engine) serve(ctx context.Context, crew Crew) (err error) {
	var running []*Request
	free := make([]int, e.Sequences)
	for i := range free {
		free[i] = i
	}
	defer func() {
		why := error(errClosed)
		if ctx.Err() == nil {
			why = errDied
		}
		for _, r := range running {
			if !r.ended {
				r.Made <- Event{Err: why}
			}
		}
	}()
	admit := func(r *Request) {
		r.sequence, free = free[0], free[1:]
		running = append(running, r)
	}
	for {
		if len(running) == 0 {
			select {
			case r := <-e.queue:
				admit(r)
			case <-crew.Done():
				return errDied
			case <-ctx.Done():
			}
		}
		for len(free) > 0 && len(e.queue) > 0 { // which nothing else takes from
			admit(<-e.queue)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		running = slices.DeleteFunc(running, func(r *Request) bool {
			if r.ctx.Err() == nil && !r.ended {
				return false
			}
			free = append(free, r.sequence)
			return true
		})
		if err := e.read(ctx, crew, running); err != nil {
			return err
		}
		if err := e.decode(ctx, crew, running); err != nil {
			return err
		}
	}
}

// read puts the next rows of one prompt into the cache, behind whose last the first token follows.
func (e *Engine) read(ctx context.Context, crew Crew, running []*Request) error {
	i := slices.IndexFunc(running, func(r *Request) bool { return r.read < len(r.Prompt) })
	if i < 0 {
		return nil
	}
	r, b := running[i], Batch{Prompt: true}
	for most := r.read + slices.Max(e.Prefill); r.read < min(most, len(r.Prompt)); r.read++ {
		b.Add(r.Prompt[r.read], r.sequence, r.read)
	}
	next, err := crew.Step(ctx, b)
	if err == nil && r.read == len(r.Prompt) {
		e.give(r, int(next[0]))
	}
	return err
}

// decode makes a token of each request whose prompt has been read.
func (e *Engine) decode(ctx context.Context, crew Crew, running []*Request) error {
	var b Batch
	var of []*Request
	for _, r := range running {
		if r.made > 0 && !r.ended {
			b.Add(r.last, r.sequence, len(r.Prompt)+r.made-1)
			of = append(of, r)
		}
	}
	if len(of) == 0 {
		return nil
	}
	next, err := crew.Step(ctx, b)
	if err != nil {
		return err
	}
	for i, r := range of {
		e.give(r, int(next[i]))
	}
	return nil
}

// give hands a token to a request, and the end if it is the last.
func (e *Engine) give(r *Request, token int) {
	r.last = token
	r.made++
	finish := ""
	if slices.Contains(e.Ends, token) {
		finish = "stop"
	} else {
		r.Made <- Event{Token: token}
		if r.made == r.Most || len(r.Prompt)+r.made == e.Room {
			finish = "length"
		}
	}
	if finish != "" {
		r.ended = true
		r.Made <- Event{Finish: finish}
	}
}
