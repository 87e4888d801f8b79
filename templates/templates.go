package templates

import (
	"bytes"
	"embed"
	"fmt"
	"strings"
	"text/template"
)

//go:embed *.tmpl
var files embed.FS

// Device is what the templates of device code are rendered with.
type Device struct {
	Package string   // prefix of all names in C
	From    string   // what the code was generated from: "schedule AllGatherLinear"
	About   []string // lines of the .cu's head comment
	Kernels []Kernel
	Source  string // sha256 of the .cu in hexadecimal, for the shim
}

// Kernel is one kernel of a package.
type Kernel struct {
	Name   string // in PTX
	Params string // its parameter struct, in the header
	File   string // template of its code, without ".cu.tmpl"
}

// Uses says whether a kernel of the package comes from the named template.
func (d Device) Uses(file string) bool {
	for _, k := range d.Kernels {
		if k.File == file {
			return true
		}
	}
	return false
}

// Guard is the prefix of the package's macros.
func (d Device) Guard() string { return strings.ToUpper(d.Package) }

// Peers and Terms are how many a launch signals, and how many it adds up.
const (
	Peers = 32
	Terms = 64
)

// Peers is the constant of that name, for templates.
func (Device) Peers() int { return Peers }

// Terms is the constant of that name, for templates.
func (Device) Terms() int { return Terms }

// Section says that a template's output starts at a line of the text.
type Section struct {
	Line     int // from 1
	Template string
}

// Text is rendered text that knows which template each line is from.
type Text struct {
	Bytes    []byte
	Sections []Section
}

// At returns the template that made a line.
func (t Text) At(line int) string {
	name := ""
	for _, s := range t.Sections {
		if s.Line <= line {
			name = s.Template
		}
	}
	return name
}

// Render executes templates one after another into one text.
func Render(data any, names ...string) (Text, error) {
	var text Text
	for _, name := range names {
		source, err := files.ReadFile(name)
		if err != nil {
			return Text{}, fmt.Errorf("open template %s: %w", name, err)
		}
		text.Sections = append(text.Sections, Section{Line: 1 + bytes.Count(text.Bytes, []byte("\n")), Template: name})
		out, err := execute(name, string(source), data)
		text.Bytes = append(text.Bytes, out...)
		if err != nil {
			return Text{}, fmt.Errorf("template %s, line %d of its text: %w", name, 1+bytes.Count(out, []byte("\n")), err)
		}
	}
	return text, nil
}

// execute returns what was written also when it fails.
func execute(name, source string, data any) ([]byte, error) {
	t, err := template.New(name).Option("missingkey=error").Funcs(functions()).Parse(source)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = t.Execute(&out, data)
	return out.Bytes(), err
}
