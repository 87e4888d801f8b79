package templates

import (
	"bytes"
	"fmt"
	"strings"

	"ovgen/runtime/driver"
	"ovgen/runtime/kernels"
)

// Own is a .cu file beside the schedules.
type Own struct {
	Name string // "attention.cu"
	Text string
}

// Namespace is the file's namespace, which separates its names from names in other files: "attention_cu".
func (o Own) Namespace() string {
	return strings.NewReplacer(".", "_", "-", "_").Replace("own_" + o.Name)
}

// Call is a kernel of the caller.
type Call struct {
	kernels.Call
	File, Function string
	Out            string
	In             []string
	Threads        int // of a block
	Types          []driver.Type
}

// Namespace is the namespace of the kernel's file.
func (c Call) Namespace() string { return Own{Name: c.File}.Namespace() }

// Numbers are the indices of the arguments.
func (c Call) Numbers() []int {
	list := make([]int, c.Args)
	for i := range list {
		list[i] = i
	}
	return list
}

// calls are the kernels of the caller, with the table's element types.
func (d Device) calls() (list []Call) {
	for _, c := range d.Calls {
		c.Types = d.Table.Types
		list = append(list, c)
	}
	return list
}

// own are the parts of the .cu with the caller's files and kernels.
func (d Device) own() (parts []Part) {
	for _, o := range d.Own {
		o.Text = strings.TrimRight(o.Text, "\n")
		parts = append(parts, Part{"own.cu.tmpl", o})
	}
	for _, c := range d.calls() {
		parts = append(parts, Part{"call.cu.tmpl", c})
	}
	return parts
}

// here is the line after a caller's text. Numbered replaces it by a line that continues the line numbers of the
// generated file.
const here = "#line here"

// Numbered is the text in which the lines after the texts of other files have the line numbers of the named file.
func (t Text) Numbered(name string) Text {
	lines := bytes.Split(t.Bytes, []byte("\n"))
	for i, l := range lines {
		if string(l) == here {
			lines[i] = fmt.Appendf(nil, "#line %d %q", i+2, name)
		}
	}
	t.Bytes = bytes.Join(lines, []byte("\n"))
	return t
}

// hostCalls are the kernels of calls with their structs.
func (d Device) hostCalls() (list []HostKernel) {
	for _, c := range d.calls() {
		for _, t := range c.Types {
			list = append(list, HostKernel{c.Base() + "_" + t.String(), c.Base()})
		}
	}
	return list
}

// Summary has a line for each kernel, with its work.
func (d Device) Summary() []string {
	lines := Summary(d.Table)
	for _, m := range multipliers {
		if len(d.few(m.weight)) > 0 {
			lines = append(lines, m.line)
		}
	}
	for _, c := range d.Calls {
		lines = append(lines, fmt.Sprintf("  %s  is %s of %s", c.Base(), c.Function, c.File))
	}
	return lines
}
