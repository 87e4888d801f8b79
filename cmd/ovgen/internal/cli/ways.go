package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"ovgen/schedule/lower"
)

// waysTopic is the word behind help that asks for the table.
const waysTopic = "ways"

// ways prints what there are programs for: the table that schedules are held against.
func ways(w io.Writer) error {
	fmt.Fprint(w, `The placements of a schedule say which communication it needs; Kind and Order of its
Pipeline choose among the ways to do it, and each way reads some choices more. Every way
takes its signals, and its copies between ranks, by either carrier.

`)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "COMMUNICATION\tKIND, ORDER\tCHOICES")
	for _, x := range lower.Ways() {
		fmt.Fprintf(table, "%s\t%s, %s\t%s\n", x.Communication, x.Kind, x.Order, strings.Join(x.Choices, "; "))
	}
	return table.Flush()
}
