package templates

import (
	"bytes"
	"embed"
	"fmt"
	"text/template"
)

//go:embed *.tmpl
var files embed.FS

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

// Part is a template with what it is rendered with.
type Part struct {
	Template string
	Data     any
}

// Render executes templates one after another into one text.
func Render(parts ...Part) (Text, error) {
	var text Text
	for _, p := range parts {
		source, err := files.ReadFile(p.Template)
		if err != nil {
			return Text{}, fmt.Errorf("open template %s: %w", p.Template, err)
		}
		text.Sections = append(text.Sections, Section{Line: 1 + bytes.Count(text.Bytes, []byte("\n")), Template: p.Template})
		out, err := execute(p.Template, string(source), p.Data)
		text.Bytes = append(text.Bytes, out...)
		if err != nil {
			return Text{}, fmt.Errorf("template %s, line %d of its text: %w", p.Template, 1+bytes.Count(out, []byte("\n")), err)
		}
	}
	return text, nil
}

// shared holds what templates of kernels have in common.
const shared = "signals.tmpl"

// execute returns what was written also when it fails.
func execute(name, source string, data any) ([]byte, error) {
	t, err := template.New(shared).Option("missingkey=error").Funcs(functions()).ParseFS(files, shared)
	if err == nil {
		t, err = t.New(name).Parse(source)
	}
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = t.Execute(&out, data)
	return out.Bytes(), err
}
