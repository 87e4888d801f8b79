package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"ovgen/schedule"
	schedules "ovgen/schedule/catalog"
	"ovgen/schedule/lower"
)

// Words after help: one prints the ways of each communication, the other the page docs/schedules.md.
const (
	waysTopic      = "ways"
	schedulesTopic = "schedules"
)

// printWays prints a table with a row for each communication and way, with the options of the way for that
// communication.
func printWays(w io.Writer) error {
	fmt.Fprint(w, `The placements of a schedule say what has to travel; Moves chooses the way, the first of
a communication by default. go doc ovgen/schedule says what each way does.

`)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "COMMUNICATION\tWAY\tOPTIONS")
	for _, c := range lower.Table() {
		for _, x := range c.Ways {
			fmt.Fprintf(table, "%s of %s\t%s\t%s\n", c.Kind, c.Data, schedule.WayName(x), options(c, x))
		}
	}
	return table.Flush()
}

// options are the options of a way that the communication reads, each with the values that it takes there.
func options(c lower.Communication, w schedule.Way) string {
	var list []string
	for _, o := range schedule.Options(w) {
		text, values := o.Field, schedule.OptionValues(w, o.Field)
		lacks := func(value string) bool {
			return slices.Contains(c.Lacks[schedule.WayName(w)], strings.TrimSpace(o.Field+" "+value))
		}
		if lacks("") {
			continue
		}
		values = slices.DeleteFunc(slices.Clone(values), lacks)
		if len(values) > 1 || values[0] != "yes" {
			text += " " + strings.Join(values, ", ")
		}
		list = append(list, text)
	}
	return strings.Join(list, "; ")
}

// printSchedules prints the page of everything that is lowered. Each kind of edge has a matrix of ways and
// communications: a cell says that a way serves a communication, or has the number of the fact that is the reason why
// it does not. A second table has the options of each way, and the schedules of the catalog that use it.
func printSchedules(w io.Writer) error {
	made, err := byWay()
	if err != nil {
		return err
	}
	fmt.Fprint(w, `# What is lowered

`+"`ovgen help schedules`"+` prints this page; a test keeps it current. The placements of a schedule's tensors imply
the communications; the names of its tensors and extents are free, but rows by counts are of M.
`+"`Moves`"+` chooses among the ways; the default is marked. Unset options default to the fastest known value. S is any
constant. A matmul, B [K, N], does as a linear does. Where a product follows an all-gather, its weight, bias and result
may all be spread over the ranks by the result's columns too (N/D, a column-parallel layer): each rank then makes its
columns. Of a linear in batches, `+"`schedule.BatchedLinear`"+` has them as an axis: [S, DIDx(D), M/D, K] for
[S, DIDx(D), M/(S*D), K], where M is the rows of one batch. In a chain each way goes with each of the others, with
these exceptions: a way has the limit that stands beside it below; a Pull with Once takes no batches whose sums leave
one by one; a Naive stands alone; and a
gather that stands beside other communications takes no Streams. This holds with options left open. Options
that cut rows, such as Parts, also depend on how rows come and leave beside them; they are refused by their
field where they do not fit. Where an operation adds an undeclared product to its own, partial results both,
they are added on each rank and meet once; by Tiles and Stores they are two sums. Tiles make the first product
of the rows that they bring, and products that follow take these when all are there; or they make the last
product of a stage, and add up. Such a product is a linear of bf16 or fp16 with a bias, or without. Functions
that have kernels of their own may follow; functions that the library of products would apply stand in a Copy
behind. An all-to-all begins when its operand is made, beside operations on each rank's own part. Any operation
may make the operand and read the result, also whole; of tensors with more axes than rows and columns these are
functions and other all-to-alls, since calls and products have no parts of more axes. A call takes all rows of
its operands, and CallRows the rank's own. A product may take an operand whole, such as a weight of FSDP. That
operand travels while the products before it run. Pull and Push start it when the run begins; the other ways start
it when the last sum before it is done. A tensor that no product makes or takes is alone: the caller has it, or
functions make it, such as codes of a product. A number is the fact below why a way does not do it.
`)
	list := lower.Table()
	for len(list) > 0 {
		n := slices.IndexFunc(list, func(c lower.Communication) bool { return c.Kind != list[0].Kind })
		if n < 0 {
			n = len(list)
		}
		printMatrix(w, list[:n], made)
		list = list[n:]
	}
	fmt.Fprint(w, "\n## Under another name\n\nThese have no package of their own.\n\n"+
		"| schedule | is | as |\n|---|---|---|\n")
	for _, a := range schedules.Aliases() {
		fmt.Fprintf(w, "| %s | %s | %s |\n", a.Name, a.Of, a.Why)
	}
	return nil
}

// printMatrix prints both tables of one kind of edge.
func printMatrix(w io.Writer, list []lower.Communication, made map[string][]string) {
	kind := list[0].Kind
	fmt.Fprintf(w, "\n## %s\n\n", strings.ToUpper(kind[:1])+kind[1:])
	head, rule := "| way |", "|---|"
	for _, c := range list {
		fmt.Fprintf(w, "- %s: %s\n", c.Data, c.Placed)
		head, rule = head+" "+c.Data+" |", rule+"---|"
	}
	fmt.Fprintf(w, "\n%s\n%s\n", head, rule)
	var facts []string
	for _, x := range schedule.Ways() {
		if row := cells(list, x, &facts); row != "" {
			fmt.Fprintf(w, "| %s |%s\n", schedule.WayName(x), row)
		}
	}
	fmt.Fprintln(w)
	for i, fact := range facts {
		fmt.Fprintf(w, "%d. %s\n", i+1, fact)
	}
	if none := lower.NotOverHosts(kind); len(none) > 0 {
		fmt.Fprintf(w, "\nOver hosts there is none of\n\n- %s\n", strings.Join(none, "\n- "))
	}
	fmt.Fprint(w, "\n| way | of | options | limit in a chain | in the catalog |\n|---|---|---|---|---|\n")
	for _, c := range list {
		for _, x := range c.Ways {
			name := schedule.WayName(x)
			fmt.Fprintf(w, "| %s | %s | %s | %s | %s |\n", name, c.Data, options(c, x), c.Except[name],
				strings.Join(made[c.Kind+" "+c.Data+" "+name], ", "))
		}
	}
}

// cells is a way's row of the matrix; it is empty where the way adds up and the communications do not, or the other way
// round. It adds facts that are not in the list yet; a fact's number is its place in the list.
func cells(list []lower.Communication, x schedule.Way, facts *[]string) (row string) {
	name := schedule.WayName(x)
	if list[0].Sums && !schedule.Sums(x) || !list[0].Sums && !schedule.Travels(x) {
		return ""
	}
	for _, c := range list {
		switch why := c.Holes[name]; {
		case why == "" && schedule.WayName(c.Ways[0]) == name:
			row += " default |"
		case why == "":
			row += " yes |"
		default:
			if !slices.Contains(*facts, why) {
				*facts = append(*facts, why)
			}
			row += fmt.Sprintf(" %d |", slices.Index(*facts, why)+1)
		}
	}
	return row
}

// byWay lists the names of the catalog's schedules by their communications and the ways of these.
func byWay() (map[string][]string, error) {
	made := map[string][]string{}
	for _, n := range schedules.All() {
		p, err := lower.Lower(n.Name, n.Schedule)
		if err != nil {
			return nil, fmt.Errorf("lower %s: %w", n.Name, err)
		}
		for _, m := range lower.Read(p) {
			kind, _, _ := strings.Cut(m.Communication, " ")
			key := kind + " " + m.Data + " " + schedule.WayName(m.Way)
			if !slices.Contains(made[key], n.Name) {
				made[key] = append(made[key], n.Name)
			}
		}
	}
	return made, nil
}
