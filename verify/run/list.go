package run

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"ovgen/runtime/driver"
	"ovgen/runtime/plan"
	"ovgen/verify/harness"
)

// listed is the output of list for a program.
type listed struct {
	Program string   `json:"program"`
	Proof   string   `json:"proof"`
	Ranks   []int    `json:"ranks,omitempty"` // for which it is proven
	Op      string   `json:"op"`
	Types   []string `json:"types"`
	Tensors []placed `json:"tensors"`
	// Shape and Memory are of a plan on each of Size ranks. Refused is why a plan of the shape can't be made; then
	// there is no Memory.
	Size    int          `json:"size"`
	Shape   string       `json:"shape"` // m,k,n
	Type    string       `json:"type"`
	Memory  *plan.Memory `json:"memory,omitempty"`
	Refused string       `json:"refused,omitempty"`
}

// placed is a tensor with its placement.
type placed struct {
	Name      string `json:"name"`
	Placement string `json:"placement"`
	Written   bool   `json:"written,omitempty"`
	Root      bool   `json:"root,omitempty"` // on rank 0 only
}

// listCommand prints the programs of the binary, and the memory that a plan of each needs.
type listCommand struct {
	asked
	json bool
}

func (o *listCommand) bind(f *flag.FlagSet) {
	o.asked.bind(f)
	f.BoolVar(&o.json, "json", false, "")
}

// settle does not check whether a shape fits a program: the list says so.
func (o *listCommand) settle(f *flag.FlagSet, names []string, programs []harness.Program) error {
	if len(names) > 0 {
		return errors.New("list takes no name")
	}
	o.programs = programs
	if err := o.count(); err != nil {
		return err
	}
	return errors.Join(o.chooseTypes(), o.taken(), o.chooseShapes(f, ""))
}

func (o *listCommand) run(*driver.Code) int {
	o.list(os.Stdout)
	return exitRight
}

func (o *listCommand) list(to io.Writer) {
	if o.json {
		for _, p := range o.programs {
			writeJSON(to, o.listed(&p))
		}
		return
	}
	var refused []string
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "program\tproof\top\tshape\tarena\tworkspaces\tplacements")
	for _, p := range o.programs {
		l := o.listed(&p)
		proof, _, _ := strings.Cut(p.Proof, ", stamp")
		memory := "-\t-"
		if l.Memory != nil {
			memory = fmt.Sprintf("%s\t%s", mebibytes(l.Memory.Arena()), mebibytes(l.Memory.Workspace()))
		} else {
			refused = append(refused, fmt.Sprintf("%s: %s", p.Name, l.Refused))
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s %s\t%s\t%s\n", p.Name, proof, p.Schedule.Operation(), l.Shape, l.Type,
			memory, placements(&p))
	}
	w.Flush()
	fmt.Fprintf(to, "arena and workspaces: what a plan of the shape takes on each of %d ranks, "+
		"beside the caller's buffers;\n"+
		"the plans of a group share both where they can (-json: all amounts in bytes)\n", o.ranks)
	for _, line := range refused {
		fmt.Fprintln(to, line)
	}
}

func (o *listCommand) listed(p *harness.Program) listed {
	s := o.listedShape(p)
	l := listed{Program: p.Name, Proof: p.Proof, Ranks: p.Ranks, Op: p.Schedule.Operation(),
		Size: o.ranks, Shape: s.String(),
		Type: s.Type.String()}
	for _, t := range p.Types {
		l.Types = append(l.Types, t.String())
	}
	for _, t := range p.Schedule.Tensors {
		l.Tensors = append(l.Tensors, placed{t.Name, t.String(), p.Made(t.Name), t.Root})
	}
	err := p.Fits(s, o.ranks)
	if err == nil {
		var m plan.Memory
		m, err = p.Memory(o.ranks, s)
		l.Memory = &m
	}
	if err != nil {
		l.Memory, l.Refused = nil, err.Error()
	}
	return l
}

// listedRows is the number of rows per rank of the default shape.
const listedRows = 2048

// listedShape is the whole shape that was asked for, or a usual one.
func (o *listCommand) listedShape(p *harness.Program) harness.Shape {
	s := p.PlainShape(listedRows, o.ranks)
	if len(o.shapes) > 0 {
		s = o.shapes[0]
	}
	s = s.With(o.extents).Fit(p, o.ranks)
	s.Type = slices.Concat(o.typesOf(p), p.Types)[0]
	return s
}

// mebibytes is "96.0 MiB".
func mebibytes(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

// placements are "A [DIDx(D), M/D, K]  B [K, N] -> C [Stream(D), M/D, N]", and the types of the program where it lacks
// some.
func placements(p *harness.Program) string {
	var read, written []string
	for _, t := range p.Schedule.Tensors {
		text := t.Name + " " + t.String()
		if t.Root {
			text += " on rank 0"
		}
		if p.Made(t.Name) {
			written = append(written, text)
		} else {
			read = append(read, text)
		}
	}
	text := strings.Join(read, "  ") + " -> " + strings.Join(written, "  ")
	if len(p.Types) < 3 {
		text += fmt.Sprintf("  %v only", p.Types)
	}
	return text
}
