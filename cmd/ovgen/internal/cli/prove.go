package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"ovgen/cmd/ovgen/internal/load"
	"ovgen/verify/prove"
)

// largestRanks is the largest mesh that a proof is tried for.
const largestRanks = 1024

// proven lowers and proves what can be, for the ranks asked for: a mistake in one schedule
// does not hide another. The error is trouble.
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

// patience is how long a schedule is proven before there is a line for each mesh size.
const patience = 5 * time.Second

// prove keeps the reports with the inputs. What can't be proven is a mistake of its
// schedule; the first counterexample's interleaving goes to the trace file, where one is
// named.
func (c *call) prove(s *subjects, ranks []int) error {
	traced := c.trace == ""
	for _, x := range s.good() {
		begun := time.Now()
		done := func(size prove.Size) {
			if spent := time.Since(begun); spent > patience {
				fmt.Fprintf(c.stderr, "%s: proven for D = %d, after %.0f s\n", x.Name, size.Ranks, spent.Seconds())
			}
		}
		err := load.Guarded(func() (err error) {
			x.input.Proof, err = prove.Schedule(c.ctx, x.input.Program, prove.Options{Ranks: ranks, Done: done})
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

func (c *call) writeTrace(wrong *prove.Counterexample) (err error) {
	name := c.trace
	if !filepath.IsAbs(name) {
		name = filepath.Join(c.env.Dir, name)
	}
	f, err := os.Create(name)
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
	var list []int
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' }) {
		first, last, isRange := strings.Cut(part, "..")
		if !isRange {
			last = first
		}
		from, err1 := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		if err1 != nil || err2 != nil || from < 1 || to < from || to > largestRanks {
			return nil, &usageError{msg: fmt.Sprintf("-ranks %s: %q is no number of ranks (use 1..8 or 2,4,72; at most %d)", text, part, largestRanks)}
		}
		for d := from; d <= to; d++ {
			list = append(list, d)
		}
	}
	return list, nil
}
