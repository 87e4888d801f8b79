package emit

import (
	"fmt"
	"path"
	"strings"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
)

// docFile writes doc.go: the package's result, the schedule, the host program and the proven properties.
func (u *unit) docFile() ([]byte, error) {
	var text strings.Builder
	fmt.Fprintf(&text, "%s\n", wrap("Package "+u.purpose()))
	fmt.Fprintf(&text, "\nThe schedule:\n\n%s", indented(foldLines(describe(u.program))))
	text.WriteString("\nThe host program, the same text for every rank; r is the rank, D the number of ranks:\n\n")
	text.WriteString(indented(foldLines(foldRemarks(hostir.Print(u.program)))))
	text.WriteString("\n" + wrap(u.carriers()+u.functions()) + "\n")
	text.WriteString("\nProof: " + u.proof() + ".\n")
	f := u.file()
	f.PackageComment(comment(text.String()))
	return render(f, path.Join(u.name, "doc.go"))
}

// purpose is the schedule's comment, as a comment of the package.
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

// carried names the carriers of copies and signals, by the value of By.
var carried = map[string]string{
	schedule.CopyEngine:    "the copy engine and signals by stream memory operations",
	schedule.KernelCopies:  "kernels and signals by stream memory operations",
	schedule.KernelSignals: "the copy engine and signals by kernels",
	schedule.Kernels:       "kernels and signals by kernels",
	schedule.OneKernel:     "kernels and signals by kernels",
}

// signalled names the carrier of signals where ranks copy nothing, by the value of Signals.
var signalled = map[string]string{
	schedule.MemOps:    "stream memory operations",
	schedule.Kernels:   "kernels",
	schedule.OneKernel: "kernels",
}

// carriers names the carriers of bytes and signals between ranks.
func (u *unit) carriers() string {
	copies, signals := "", ""
	if u.program.OverHosts() {
		copies = "NCCL, which is loaded when a plan is made on several hosts, carries between them. On a host copies " +
			"go by " + carried[schedule.CopyEngine]
	}
	moved := lower.Read(u.program)
	var byNCCL []string
	for _, m := range moved {
		if schedule.FactsOf(m.Way).Library {
			byNCCL = append(byNCCL, m.Of)
		}
	}
	switch {
	case len(byNCCL) == 0:
	case len(byNCCL) == len(moved):
		copies = "NCCL, which is loaded when a plan is made, does all that ranks do together"
	default:
		signals = ". NCCL, which is loaded when a plan is made, moves " + strings.Join(byNCCL, ", ")
	}
	for _, m := range moved {
		for _, o := range m.Options {
			by := "Copies between ranks go by " + carried[o.Value]
			switch {
			case o.Field == "By" && copies == "":
				copies = by
			case o.Field == "By" && copies != by:
				copies += ", those of " + m.Of + " by " + carried[o.Value]
			case o.Field == "Signals" && len(moved) == 1:
				signals += ". Signals go by " + signalled[o.Value]
			case o.Field == "Signals":
				signals += ". Signals of " + m.Of + " go by " + signalled[o.Value]
			}
		}
	}
	switch {
	case len(moved) == 0:
		copies = "Nothing travels, and no rank waits for another"
	case copies == "" && signals == "":
		copies = "Copies between ranks go by " + carried[schedule.Kernels]
	case copies == "":
		copies = "No rank copies from or to another"
	}
	text := copies + signals
	if !u.device {
		return text + ": there is no device code in this package."
	}
	text += ". "
	if u.sums() {
		text += "Sums are made by kernels. "
	}
	return text + "The kernels are in " + u.name + ".cu."
}

// functions says for each function whether the library of products or a kernel applies it.
func (u *unit) functions() string {
	if text := hostir.Sentences(u.program.FunctionsBy()); text != "" {
		return " Functions: " + text + "."
	}
	return ""
}

// describe is a schedule as text: its operations, its placements, and the ways of its program.
func describe(p *hostir.Program) string {
	var b strings.Builder
	for _, o := range p.Schedule.Ops {
		fmt.Fprintf(&b, "%s\n", o)
	}
	longest := 4
	for _, t := range p.Schedule.Tensors {
		longest = max(longest, len(t.Name))
	}
	for _, t := range p.Schedule.Tensors {
		where := ""
		if t.Root {
			where = " on rank 0"
		}
		fmt.Fprintf(&b, "  %-*s %s%s\n", longest, t.Name, t, where)
	}
	if p.OverHosts() {
		b.WriteString("on the ranks of several hosts\n")
	}
	for _, m := range lower.Read(p) {
		var options []string
		for _, o := range m.Options {
			options = append(options, o.Field+" "+o.Value)
		}
		by := m.Of + " by " + schedule.WayName(m.Way)
		if len(options) > 0 {
			by += ": "
		}
		b.WriteString(hanging(by, options))
	}
	return b.String()
}

// hanging is a head followed by a list; further lines are indented to the list's first entry.
func hanging(head string, list []string) string {
	text, line := "", head
	for i, x := range list {
		if i < len(list)-1 {
			x += ","
		}
		if len(line)+len(x) > docWidth {
			text, line = text+strings.TrimRight(line, " ")+"\n", "    "
		}
		line += x + " "
	}
	return text + strings.TrimRight(line, " ") + "\n"
}

// docWidth is the length of a line of a preformatted comment.
const docWidth = columns - tab - len("//")

// foldLines breaks lines that are too long at spaces; the rest is indented further.
func foldLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))] + "    "
		for len(line) > docWidth {
			at := strings.LastIndex(line[:docWidth+1], " ")
			if at <= len(indent) {
				break
			}
			b.WriteString(strings.TrimRight(line[:at], " ") + "\n")
			line = indent + line[at+1:]
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// foldRemarks moves remarks nearer to their nodes, or onto separate lines, where lines are too long.
func foldRemarks(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if at := strings.LastIndex(line, " # "); len(line) > docWidth && at > 0 {
			code, remark := strings.TrimRight(line[:at], " "), line[at+1:]
			line = code + "  " + remark
			if len(line) > docWidth {
				indent := len(code) - len(strings.TrimLeft(code, " "))
				line = code + "\n" + strings.Repeat(" ", indent+2) + remark
			}
		}
		b.WriteString(line + "\n")
	}
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
