package group

import (
	"context"
	"errors"
)

type page struct{}

func (p *page) aborted() bool { return false }

type abort struct{}

func (a *abort) failure() error { return nil }

type watch struct{}

func (w *watch) poke() {}

func (r *runs) drained(uint64)       {}
func (g *Group) open(r *Run) error   { return nil }
func (g *Group) shut(r *Run) error   { return nil }
func (g *Group) abortWith(err error) {}

func runCause(ctx context.Context, plan int, g *Group) error { return context.Cause(ctx) }

// Join makes this process a rank of the job c names; it is collective.
func Join(ctx context.Context, c Config) (*Group, error) { return nil, errors.New("not yet") }

// Abort ends all runs of the group on all ranks with an error that says reason.
// It returns at once; any goroutine may call it at any time.
func (g *Group) Abort(reason error) {}

// Close leaves the group: collective while it is whole, bounded always, and a
// second call returns what the first did.
func (g *Group) Close(ctx context.Context) error { return nil }
