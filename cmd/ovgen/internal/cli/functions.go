package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"ovgen/schedule"
)

// functionsTopic is the word after help that asks for the functions of package schedule.
const functionsTopic = "functions"

// numbered are constructors with numbers as arguments, or of functions whose text is a formula.
var numbered = []struct {
	call string
	made schedule.Func
}{
	{"GELUByErf()", schedule.GELUByErf()},
	{`Modulate("A", "B")`, schedule.Modulate("A", "B")},
	{`Multiply("A")`, schedule.Multiply("A")},
	{"QuickGELU()", schedule.QuickGELU()},
	{`ReGLU("A")`, schedule.ReGLU("A")},
	{`RotaryOf(32, "128", "A")`, schedule.RotaryOf(32, "128", "A")},
	{`Rotary("A").Interleaved()`, schedule.Rotary("A").Interleaved()},
	{`RMSNorm("A").PerHead(W)`, schedule.RMSNorm("A").PerHead(schedule.W)},
	{"Scale(.22)", schedule.Scale(.22)},
	{"Sigmoid()", schedule.Sigmoid()},
	{"SoftCap(30)", schedule.SoftCap(30)},
	{"Softmax()", schedule.Softmax()},
	{"SquaredReLU()", schedule.SquaredReLU()},
}

// printFunctions prints each function of package schedule with its formula.
func printFunctions(w io.Writer) error {
	fmt.Fprint(w, `A function stands behind an operation: schedule.Linear("C", "A", "B", schedule.SoftCap(30)). x is
the result so far. Of("R") is R at the same place, Row("R") an element for each column, Column("R")
one for each row. A function of your own is a schedule.Func with a formula; docs/adding.md has one.

`)
	var lines []string
	for _, c := range schedule.Library() {
		tensors := []string{"A", "B"}[:c.Operands]
		call := c.Name + "()"
		if c.Operands > 0 {
			call = c.Name + `("` + strings.Join(tensors, `", "`) + `")`
		}
		lines = append(lines, call+"\t"+c.Of(tensors...).Is.String())
	}
	for _, f := range numbered {
		lines = append(lines, f.call+"\t"+f.made.Is.String())
	}
	slices.Sort(lines)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "FUNCTION\tFORMULA")
	for _, l := range lines {
		fmt.Fprintln(table, l)
	}
	return table.Flush()
}
