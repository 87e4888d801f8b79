package run

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"ovgen/verify/harness"
)

// row of the table: a program, a shape and a mode on all ranks.
type row struct {
	Program string `json:"program"`
	Tiles   string `json:"tiles,omitempty"` // the kernel of tiles that it was told to take
	Proof   string `json:"proof"`
	Driver  string `json:"driver"`
	Type    string `json:"type"`
	extents
	Counts []int               `json:"counts,omitempty"` // of uneven parts
	Parts  string              `json:"parts,omitempty"`  // the name of the counts, where they are not the usual ones
	Ranks  int                 `json:"ranks"`
	Mode   string              `json:"mode"`
	Runs   int                 `json:"runs"`
	Share  float64             `json:"share"` // the share, of 1, of the elements that were compared by ==
	Result string              `json:"result"`
	Wrong  []*harness.Mismatch `json:"wrong,omitempty"` // one a rank
}

// Results of a row.
const (
	bitExact    = "bit-exact"
	withinBound = "within bound"
	isWrong     = "WRONG"
	hasFailed   = "FAILED" // a program's
)

// gather collects the results of the ranks.
func (c *checker) gather(ctx context.Context, mode string, runs int, first *harness.Mismatch) (row, error) {
	mine, err := json.Marshal(first)
	if err != nil {
		return row{}, err
	}
	all, err := c.r.Gather(ctx, fmt.Sprintf("results of %s %s %s %s", c.Program.Name, c.Shape, c.Shape.Type, mode),
		mine)
	if err != nil {
		return row{}, err
	}
	w := row{Program: c.Program.Name, Tiles: c.tiles, Proof: c.Program.Proof, Driver: c.r.drv.Name(),
		Type: c.Shape.Type.String(), extents: extentsOf(c.Shape), Counts: c.Problem.Counts, Ranks: c.r.Size(),
		Mode: mode, Runs: runs, Result: bitExact}
	if w.Share = c.Share(); w.Share < 1 {
		w.Result = withinBound
	}
	for _, b := range all {
		var m *harness.Mismatch
		if err := json.Unmarshal(b, &m); err != nil {
			return row{}, err
		}
		if m != nil {
			w.Wrong, w.Result = append(w.Wrong, m), isWrong
		}
	}
	return w, nil
}

// print adds a row, and prints it on rank 0.
func (c *verifyCommand) print(r *rank, w row, done *verified) {
	first := len(done.rows) == 0
	done.rows = append(done.rows, w)
	r.shown.clear()
	switch {
	case r.Rank() != 0:
	case c.json:
		printJSON(w)
	default:
		if first {
			done.line = c.line(r)
			fmt.Printf(done.line, "program", "type", "m,k,n", "ranks", "mode", "runs", "result")
		}
		fmt.Printf(done.line, byTiles(w.Program, w.Tiles), w.Type, w.shape(), w.Ranks, w.Mode, w.Runs, w.result())
	}
}

// line is the format of a row of the table, with columns as wide as the programs, shapes and modes of the command line.
func (c *verifyCommand) line(r *rank) string {
	program, shape, mode := len("program"), len("m,k,n"), len(modeReplayed)
	for i := range c.programs {
		p := &c.programs[i]
		program = max(program, len(p.Name))
		if p.Eager {
			mode = len(modeOwn)
		}
		for _, t := range c.typesOf(p) {
			for _, s := range c.shapesOf(p, t, r.onGPU()) {
				for _, counts := range p.Patterns(s, r.Size()) {
					shape = max(shape, len(shapeText(s, counts.Name)))
				}
			}
		}
	}
	return fmt.Sprintf("%%-%dv  %%-4v  %%-%dv  %%-5v  %%-%dv  %%-4v  %%v\n", program, shape, mode)
}

// report prints on rank 0, after the table, which results were wrong and which programs failed. It returns whether all
// is right.
func (c *verifyCommand) report(r *rank, done *verified) (right bool) {
	rows, wrong := done.rows, 0
	for _, w := range rows {
		if w.Result == isWrong {
			wrong++
		}
	}
	right = wrong == 0 && len(done.failed) == 0
	if r.Rank() != 0 || len(rows) == 0 && len(done.failed) == 0 {
		return right
	}
	if c.json {
		for _, f := range done.failed {
			printJSON(f)
		}
		return right
	}
	for _, w := range rows {
		for _, m := range w.Wrong {
			fmt.Printf("%s %s %s %s: %s\n", byTiles(w.Program, w.Tiles), w.Type, w.shape(), w.Mode, m)
		}
	}
	var parts, names []string
	switch {
	case wrong > 0:
		parts = append(parts, fmt.Sprintf("%s: %d of %d rows", isWrong, wrong, len(rows)))
	case len(rows) > 0:
		parts = append(parts, counted(rows))
	}
	for _, f := range done.failed {
		fmt.Printf("%s: %s\n", hasFailed, f.Error)
		names = append(names, f.Program)
	}
	if len(names) > 0 {
		parts = append(parts, fmt.Sprintf("%s: %d of %d programs (%s)", hasFailed, len(names), len(c.programs),
			strings.Join(names, ", ")))
	}
	text := strings.Join(parts, "; ")
	fmt.Printf("%s on %d ranks, driver %s\n", text, r.Size(), r.drv.Name())
	return right
}

// result is the word for the table. A row within bounds also has the share of elements with a single right value.
func (w *row) result() string {
	if w.Result != withinBound {
		return w.Result
	}
	return fmt.Sprintf("%s, %.1f %% by ==", w.Result, math.Floor(w.Share*1000)/10)
}

// counted prints how many runs had each result: "bit-exact: 80, within bound: 8 runs".
func counted(rows []row) string {
	var text []string
	for _, result := range []string{bitExact, withinBound} {
		runs := 0
		for _, w := range rows {
			if w.Result == result {
				runs += w.Runs
			}
		}
		if runs > 0 {
			text = append(text, fmt.Sprintf("%s: %d", result, runs))
		}
	}
	return strings.Join(text, ", ") + " runs"
}

func (w *row) shape() string {
	return shapeText(harness.Shape{M: w.M, K: w.K, N: w.N, N2: w.N2, N3: w.N3, F: w.F, W: w.W, P: w.P}, w.Parts)
}

// shapeText is the shape as Shape prints it, and the pattern of counts where it is not the usual one.
func shapeText(s harness.Shape, parts string) string {
	return strings.TrimSuffix(s.String()+", "+parts, ", ")
}

// printJSON prints a value on one line.
func printJSON(v any) { writeJSON(os.Stdout, v) }

// writeJSON writes a value on one line.
func writeJSON(to io.Writer, v any) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		fmt.Fprintf(os.Stderr, "run: %v\n", err)
		return
	}
	to.Write(b.Bytes())
}
