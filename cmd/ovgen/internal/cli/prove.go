package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"ovgen/cmd/ovgen/internal/load"
	"ovgen/runtime/group/store"
	"ovgen/verify/explore"
	"ovgen/verify/prove"
)

// manyRanks is the largest n of a proof for all meshes 1..n; the largest single mesh has store.MaxRanks. The time of a
// proof grows with the cube of the ranks; either takes some seconds for each schedule.
const manyRanks = 72

// proven lowers and proves each schedule for the ranks of -ranks: a mistake in one schedule does not hide another. The
// error is trouble, not a mistake in a schedule.
func (c *call) proven(dir string) (*subjects, error) {
	ranks, err := parseRanks(c.ranks)
	if err != nil {
		return nil, err
	}
	s, err := c.lower(dir)
	if err != nil {
		return nil, err
	}
	return s, c.prove(s, ranks)
}

// patience is the time of a proof without output, before the first line and between two lines.
const patience = 5 * time.Second

// progress of a long proof.
type progress struct {
	to          io.Writer
	name        string
	begun, last time.Time // last: time of the last line
}

// proven notes that the proof for a number of ranks is done.
func (p *progress) proven(ranks int, now time.Time) {
	if now.Sub(p.last) > patience {
		p.last = now
		fmt.Fprintf(p.to, "%s: proven for D = %d, after %.0f s\n", p.name, ranks, now.Sub(p.begun).Seconds())
	}
}

// prove keeps the reports with the inputs. A schedule that can't be proven, or that the explorer refuses, is a mistake;
// the interleaving of the first counterexample goes to the trace file, if -trace names one.
func (c *call) prove(s *subjects, ranks []int) error {
	traced := c.trace == ""
	for _, x := range s.good() {
		now := time.Now()
		p := progress{to: c.stderr, name: x.Name, begun: now, last: now}
		done := func(size prove.Size) { p.proven(size.Ranks, time.Now()) }
		err := load.Guarded(func() (err error) {
			x.input.Proof, err = prove.Schedule(c.ctx, x.input.Program, prove.Options{Ranks: ranks, Done: done})
			if err == nil {
				err = c.explore(x)
			}
			return err
		})
		if c.ctx.Err() != nil {
			return fmt.Errorf("prove %s: %w", x.Name, context.Cause(c.ctx))
		}
		var wrong *prove.Counterexample
		if errors.As(err, &wrong) && !traced {
			traced = true
			if err := c.writeTrace(wrong); err != nil {
				return err
			}
		}
		x.blame(err)
	}
	return nil
}

// explore runs the explorer on a proven schedule, for the numbers of ranks that take moments.
func (c *call) explore(x *subject) (err error) {
	look := explore.Small
	if c.look != nil {
		look = c.look
	}
	var ranks []int
	for _, size := range x.input.Proof.Sizes {
		ranks = append(ranks, size.Ranks)
	}
	x.explored, err = look(x.input.Program, ranks, x.input.Proof.Replay())
	if refused := (*explore.Refusal)(nil); errors.As(err, &refused) {
		err = fmt.Errorf("the prover accepts it, and the explorer does not (please report this): %w", err)
	}
	return err
}

func (c *call) writeTrace(wrong *prove.Counterexample) (err error) {
	f, err := os.Create(c.path(c.trace))
	if err != nil {
		return fmt.Errorf("write the trace of a counterexample: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := wrong.Trace(f); err != nil {
		return fmt.Errorf("write the trace of a counterexample: %w", err)
	}
	fmt.Fprintf(c.stderr, "%s: the interleaving, for ui.perfetto.dev\n", c.trace)
	return nil
}

// parseRanks reads mesh sizes: "1..8" or "2,4,72"; empty means the prover's default.
func parseRanks(text string) ([]int, error) {
	refused := func(format string, args ...any) ([]int, error) {
		return nil, &usageError{msg: fmt.Sprintf("-ranks %s: %s", text, fmt.Sprintf(format, args...))}
	}
	var list []int
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' }) {
		first, last, isRange := strings.Cut(part, "..")
		if !isRange {
			last = first
		}
		from, err1 := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		switch {
		case err1 != nil || err2 != nil || from < 1 || to < from:
			return refused("%q is no number of ranks (use 1..8 or 2,4,72)", part)
		case to > store.MaxRanks:
			return refused("%d ranks: a proof is tried for %d at most (name the sizes that you run on: 1..8,72)", to,
				store.MaxRanks)
		}
		for d := from; d <= to; d++ {
			list = append(list, d)
		}
	}
	slices.Sort(list)
	if list = slices.Compact(list); effort(list...) > effort(upTo(manyRanks)...) {
		return refused("so many sizes take more time than 1..%d (name the sizes that you run on: 1..8,72)", manyRanks)
	}
	return list, nil
}

// effort of proofs for meshes of these sizes, without a unit.
func effort(ranks ...int) (sum int) {
	for _, d := range ranks {
		sum += d * d * d
	}
	return sum
}

// upTo is the list from 1 to n.
func upTo(n int) (list []int) {
	for d := 1; d <= n; d++ {
		list = append(list, d)
	}
	return list
}
