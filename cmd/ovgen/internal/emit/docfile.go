package emit

import (
	"fmt"
	"path"
	"strings"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
)

// docFile is doc.go: what the package computes, the schedule, the host program and
// what has been proven of it.
func (u *unit) docFile() ([]byte, error) {
	var text strings.Builder
	fmt.Fprintf(&text, "%s\n", wrap("Package "+u.purpose()))
	fmt.Fprintf(&text, "\nThe schedule:\n\n%s", indented(describe(u.program)))
	text.WriteString("\nThe host program, the same text for every rank; r is the rank, D the number of ranks:\n\n")
	text.WriteString(indented(hostir.Print(u.program)))
	text.WriteString("\n" + wrap(u.carriers()) + "\n")
	text.WriteString("\nProof: " + u.proof() + ".\n")
	f := u.file()
	f.PackageComment(comment(text.String()))
	return render(f, path.Join(u.name, "doc.go"))
}

// purpose is the schedule's comment as that of its package.
func (u *unit) purpose() string {
	text := strings.TrimSpace(u.Doc)
	if rest, ok := strings.CutPrefix(text, u.program.Name+" "); ok {
		return u.name + " " + rest
	}
	runs := u.name + " runs the schedule " + u.program.Name + "."
	if text == "" {
		return runs
	}
	return runs + "\n" + text
}

// carriers says what moves bytes between ranks and what signals.
func (u *unit) carriers() string {
	copies := map[string]string{string(schedule.CopyEngine): "the copy engine", string(schedule.CopyKernel): "kernels"}
	signals := map[string]string{string(schedule.StreamMemOp): "stream memory operations",
		string(schedule.SignalKernel): "kernels"}
	text := ""
	for _, c := range lower.Read(u.program) {
		switch c.Field {
		case "Transport.Copy":
			text = "Copies between ranks go by " + copies[c.Value] + " and signals by "
		case "Transport.Signal":
			if text == "" {
				text = "No rank copies from or to another. Signals go by "
			}
			text += signals[c.Value]
		}
	}
	if !u.device {
		return text + ": there is no device code in this package."
	}
	text += ". "
	if u.sums() {
		text += "Sums are made by kernels. "
	}
	return text + "The kernels are in " + u.name + ".cu."
}

// labels of the choices as they are described.
var labels = map[string]string{
	"Pipeline.Kind": "pipeline", "Pipeline.Order": "order", "Pipeline.Protocol": "protocol",
	"Pipeline.Direction": "direction",
	"Pipeline.Products":  "products", "Pipeline.Reduction": "reduction", "Pipeline.Chunks": "chunks",
	"Pipeline.Parts": "parts of a shard",
	"Pipeline.Own":   "own rows", "Pipeline.OwnShard": "own shard", "Pipeline.Signals": "signals",
	"Transport.Copy":   "copies by",
	"Transport.Signal": "signals by", "Transport.Steps": "launches", "Streams.Priority": "priority",
	"Streams.Copy":  "copy stream",
	"Streams.Start": "start", "Streams.Handles": "handles", "Streams.Compute": "compute streams",
}

// describe is a schedule as text: the operation, the placements, and the choices that its
// program was made by.
func describe(p *hostir.Program) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s", p.Schedule.Op)
	for _, t := range p.Schedule.Tensors {
		where := ""
		if t.Root {
			where = " on rank 0"
		}
		fmt.Fprintf(&b, "\n  %-4s %s%s", t.Name, t, where)
	}
	b.WriteString("\n")
	line := ""
	for _, c := range lower.Read(p) {
		switch {
		case c.Field == "Streams.Compute" && c.Value == "":
			c.Value = "one for each step"
		case c.Field == "Pipeline.Parts" && c.Value == "":
			c.Value = "1"
		}
		choice := labels[c.Field] + ": " + c.Value
		if line != "" && len(line)+len(choice) > describeWidth {
			b.WriteString(line + ";\n")
			line = ""
		}
		if line != "" {
			line += "; "
		}
		line += choice
	}
	b.WriteString(line + "\n")
	return b.String()
}

// describeWidth is how wide the lines are that list choices.
const describeWidth = 90

// indented is text as a preformatted block of a Go comment.
func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimRight(text, "\n") + "\n") {
		if line == "\n" {
			b.WriteString(line)
			continue
		}
		b.WriteString("\t" + line)
	}
	return b.String()
}
