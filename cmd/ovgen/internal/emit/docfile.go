package emit

import (
	"fmt"
	"path"
	"strings"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// docFile is doc.go: what the package computes, the schedule, the host program and
// what has been proven of it.
func (u *unit) docFile() ([]byte, error) {
	var text strings.Builder
	fmt.Fprintf(&text, "%s\n", wrap("Package "+u.purpose()))
	fmt.Fprintf(&text, "\nThe schedule:\n\n%s", indented(describe(u.program.Schedule)))
	text.WriteString("\nThe host program, the same text for every rank; r is the rank, D the number\nof ranks:\n\n")
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

// carriers says what moves bytes and what signals.
func (u *unit) carriers() string {
	if !u.device {
		return "Copies go by the copy engine and signals by stream memory operations: there is no device code in this package."
	}
	t := u.program.Schedule.Transport
	copies, signals := "the copy engine", "stream memory operations"
	if t.Copy == schedule.CopyKernel {
		copies = "kernels"
	}
	if t.Signal == schedule.SignalKernel {
		signals = "kernels"
	}
	text := fmt.Sprintf("Copies go by %s and signals by %s. ", copies, signals)
	if u.sums() {
		text += "Sums are made by kernels. "
	}
	return text + "The kernels are in " + u.name + ".cu."
}

// describe is a schedule as text: the operation, the placements, and what differs
// from the default choices.
func describe(s schedule.Schedule) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s", s.Op)
	for _, t := range s.Tensors {
		fmt.Fprintf(&b, "\n  %-4s %s", t.Name, t)
	}
	d := schedule.Schedule{}.WithDefaults()
	b.WriteString("\n")
	exchanges := s.Pipeline.Kind == schedule.PointToPoint
	when := func(does bool, choice string) string {
		if does {
			return choice
		}
		return ""
	}
	count := func(what string, n int) string { return when(n > 0, fmt.Sprintf("%d %s", n, what)) }
	for _, c := range []struct{ what, got, usual string }{
		{"pipeline", string(s.Pipeline.Kind), ""},
		{"order", when(exchanges, string(s.Pipeline.Order)), ""},
		{"protocol", when(exchanges, string(s.Pipeline.Protocol)), ""},
		{"direction", string(s.Pipeline.Direction), string(d.Pipeline.Direction)},
		{"products", string(s.Pipeline.Products), string(d.Pipeline.Products)},
		{"reduction", when(s.Reduces(), string(s.Pipeline.Reduction)), ""},
		{"steps", count("chunks", s.Pipeline.Chunks), ""},
		{"shards", count("parts", s.Pipeline.Parts), ""},
		{"own shard", string(s.Pipeline.Own) + ", " + string(s.Pipeline.OwnShard), ""},
		{"signals", string(s.Pipeline.Signals), ""},
		{"copy by", string(s.Transport.Copy), ""},
		{"signal by", string(s.Transport.Signal), ""},
		{"launches", string(s.Transport.Steps), string(d.Transport.Steps)},
		{"priority", string(s.Streams.Priority), string(schedule.Equal)},
		{"copy stream", string(s.Streams.Copy), ""},
		{"start", string(s.Streams.Start), ""},
		{"handles", string(s.Streams.Handles), ""},
	} {
		if c.got != c.usual {
			fmt.Fprintf(&b, "%-15s %s\n", c.what, c.got)
		}
	}
	compute := "one for each step"
	if s.Streams.Compute > 0 {
		compute = fmt.Sprint(s.Streams.Compute)
	}
	fmt.Fprintf(&b, "%-15s %s\n", "compute streams", compute)
	return b.String()
}

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
