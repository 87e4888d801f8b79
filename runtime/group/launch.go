package group

import (
	"context"
	"errors"
	"io"
	"time"
)

// Launch is a program that starts its own ranks.
type Launch struct {
	Ranks  int
	Path   string   // the binary; empty means this one
	Args   []string // its arguments
	Env    []string // added to this process's environment
	Driver string   // OVGEN_DRIVER of the ranks; empty leaves it
	// Stdout and Stderr take the output of rank 0; nil means this process's.
	Stdout, Stderr io.Writer
	// Prefix passes on the output of all ranks, each line behind "[rank] ".
	Prefix bool
	// Grace is how long the other ranks have to end by themselves once one has
	// failed, and then again after SIGTERM; 0 means 2 s.
	Grace time.Duration
}

// Run starts the ranks and waits for them.
func (l *Launch) Run(ctx context.Context) error { return errors.New("not yet") }

// Launched says whether this process is a rank that a Launch started.
func Launched() bool { return false }

// RankError is the failure of the first rank that failed.
type RankError struct {
	Rank   int
	Status string // "exit status 1", "signal: killed"
	Stderr string // the end of what it wrote, unless that was passed on already
}

// Error names the rank and how it ended.
func (e *RankError) Error() string { return "" }
