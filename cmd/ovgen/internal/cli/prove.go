package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"ovgen/cmd/ovgen/internal/emit"
	"ovgen/cmd/ovgen/internal/load"
	"ovgen/verify/prove"
)

// largestRanks is the largest mesh that a proof is tried for.
const largestRanks = 1024

// prove proves every program for the ranks asked for and keeps the reports with
// the inputs. What can't be proven is a mistake of its schedule; the first
// counterexample's interleaving goes to the trace file, where one is named.
func (c *call) prove(pkg *load.Package, inputs []emit.Input) error {
	ranks, err := parseRanks(c.ranks)
	if err != nil {
		return err
	}
	var all load.Mistakes
	for i, d := range pkg.Declarations {
		report, err := prove.Schedule(c.ctx, inputs[i].Program, prove.Options{Ranks: ranks})
		var wrong *prove.Counterexample
		switch {
		case errors.As(err, &wrong):
			if len(all) == 0 && c.trace != "" {
				if err := c.writeTrace(wrong); err != nil {
					return err
				}
			}
			all = append(all, d.Mistake(wrong)...)
		case err != nil:
			return err
		default:
			inputs[i].Proof = report
		}
	}
	return all.Err()
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
