package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"text/tabwriter"
)

// mismatch is the first wrong element that a rank found.
type mismatch struct {
	Rank   int    `json:"rank"`
	Run    int    `json:"run"` // from 1
	Tensor string `json:"tensor"`
	Row    int    `json:"row"` // in the whole tensor, of all axes but the last
	Column int    `json:"column"`
	Got    string `json:"got"` // a NaN is no JSON number
	Want   string `json:"want"`
	Differ int    `json:"differ"` // elements of that tensor that are wrong in that run
}

// mismatch is at element i of this rank's part of a tensor.
func (t *tensors) mismatch(name string, i int, got, want float64, differ int) *mismatch {
	text := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 32) }
	axes := t.x.Tensor(name).Axes
	columns, err := t.x.Extents.Of(axes[len(axes)-1].Extent)
	if err != nil || columns == 0 {
		columns = 1
	}
	at := t.parts[name].At(i)
	return &mismatch{Tensor: name, Row: at / columns, Column: at % columns, Got: text(got), Want: text(want), Differ: differ}
}

// String is "rank 2, run 3: C, row 5, column 7 is 1, want 2 (31 elements differ)".
func (m *mismatch) String() string {
	return fmt.Sprintf("rank %d, run %d: %s, row %d, column %d is %s, want %s (%d elements of that run differ)",
		m.Rank, m.Run, m.Tensor, m.Row, m.Column, m.Got, m.Want, m.Differ)
}

// row of the table: a program, a shape and a mode on all ranks.
type row struct {
	Program string      `json:"program"`
	Proof   string      `json:"proof"`
	Driver  string      `json:"driver"`
	Type    string      `json:"type"`
	M       int         `json:"m"`
	K       int         `json:"k"`
	N       int         `json:"n"`
	N2      int         `json:"n2,omitempty"`
	N3      int         `json:"n3,omitempty"`
	F       int         `json:"f,omitempty"`
	P       int         `json:"p,omitempty"`
	Counts  []int       `json:"counts,omitempty"` // of uneven parts
	Parts   string      `json:"parts,omitempty"`  // of these, where they are not the usual ones
	Ranks   int         `json:"ranks"`
	Mode    string      `json:"mode"`
	Runs    int         `json:"runs"`
	Result  string      `json:"result"`
	Wrong   []*mismatch `json:"wrong,omitempty"` // a rank each
}

// Results of a row.
const (
	bitExact    = "bit-exact"
	withinBound = "within bound"
	isWrong     = "WRONG"
)

// gather brings together what the ranks found.
func (c *checker) gather(ctx context.Context, mode string, runs int, first *mismatch) (row, error) {
	mine, err := json.Marshal(first)
	if err != nil {
		return row{}, err
	}
	all, err := c.r.Gather(ctx, fmt.Sprintf("results of %s %s %s %s", c.p.Name, c.s, c.s.Type, mode), mine)
	if err != nil {
		return row{}, err
	}
	w := row{Program: c.p.Name, Proof: c.p.Proof, Driver: c.r.drv.Name(), Type: c.s.Type.String(),
		M: c.s.M, K: c.s.K, N: c.s.N, N2: c.s.N2, N3: c.s.N3, F: c.s.F, P: c.s.P, Counts: c.x.Counts,
		Ranks: c.r.Size(), Mode: mode, Runs: runs, Result: bitExact}
	if mode == modeReal {
		w.Result = withinBound
	}
	for _, b := range all {
		var m *mismatch
		if err := json.Unmarshal(b, &m); err != nil {
			return row{}, err
		}
		if m != nil {
			w.Wrong, w.Result = append(w.Wrong, m), isWrong
		}
	}
	return w, nil
}

// report prints the table on rank 0 and says whether all is right.
func (r *rank) report(rows []row) (right bool) {
	right = true
	runs := 0
	for _, w := range rows {
		right = right && w.Result != isWrong
		runs += w.Runs
	}
	if r.Rank() != 0 {
		return right
	}
	if r.o.json {
		for _, w := range rows {
			printJSON(w)
		}
		return right
	}
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "program\ttype\tm,k,n\tranks\tmode\truns\tresult")
	for _, w := range rows {
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%s\t%d\t%s\n", w.Program, w.Type, w.shape(), w.Ranks, w.Mode, w.Runs, w.Result)
	}
	t.Flush()
	for _, w := range rows {
		for _, m := range w.Wrong {
			fmt.Printf("%s %s %s %s: %s\n", w.Program, w.Type, w.shape(), w.Mode, m)
		}
	}
	if right {
		fmt.Printf("%s: %d runs on %d ranks, driver %s\n", bitExact, runs, r.Size(), r.drv.Name())
	} else {
		fmt.Printf("not %s, driver %s\n", bitExact, r.drv.Name())
	}
	return right
}

// shape is as Shape has it, and which parts are meant where they are not the usual ones.
func (w *row) shape() string {
	text := Shape{M: w.M, K: w.K, N: w.N, N2: w.N2, N3: w.N3, F: w.F, P: w.P}.String()
	if w.Parts != "" {
		text += ", " + w.Parts
	}
	return text
}

// printJSON prints a value on one line.
func printJSON(v any) { writeJSON(os.Stdout, v) }

// writeJSON writes a line of it.
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
