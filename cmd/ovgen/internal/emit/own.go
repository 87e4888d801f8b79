package emit

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"ovgen/runtime/kernels"
	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/templates"
)

// Own is a .cu file beside the schedules.
type Own struct {
	Name string // as calls name it: "attention.cu"
	Path string // as errors name it: "schedules/attention.cu"
	Text string
}

// launches reports whether the package launches kernels of ovgen.
func (u *unit) launches() bool { return len(u.kernels.Kernels) > 0 }

// ownKernels describes the caller's kernels, and refuses files that lack them.
func (u *unit) ownKernels() (list []kernels.Call, err error) {
	for _, s := range u.kernelCalls() {
		list = append(list, ownKernel(s))
	}
	return list, CheckCalls(u.Input)
}

// ownKernel describes the kernel of a call.
func ownKernel(s hostir.Call) kernels.Call {
	return kernels.Call{Name: s.Name, Operands: len(s.Operands), Args: len(s.Launch.Args)}
}

// ownCode is the caller's device code.
func (u *unit) ownCode() (files []templates.Own, calls []templates.Call) {
	for _, s := range u.kernelCalls() {
		c := templates.Call{Call: ownKernel(s), File: s.Launch.File, Function: s.Launch.Kernel,
			Out: s.To.Buffer, Threads: s.Launch.Threads}
		for _, v := range s.Operands {
			c.In = append(c.In, v.Buffer)
		}
		calls = append(calls, c)
	}
	for _, o := range u.Own {
		files = append(files, templates.Own{Name: o.Name, Text: o.Text})
	}
	return files, calls
}

// CheckCalls refuses a schedule whose files lack the kernels of its calls, with a *schedule.FieldError for each.
func CheckCalls(in Input) error {
	var errs []error
	for i, o := range in.Program.Schedule.Ops {
		if o.Kernel.File != "" {
			errs = append(errs, in.checkKernel(fmt.Sprintf("Ops[%d].Kernel", i), o))
		}
	}
	return errors.Join(errs...)
}

// included matches an #include, which a caller's file can't have, since it is compiled in a namespace.
var included = regexp.MustCompile(`(?m)^\s*#\s*include`)

// checkKernel compares the kernel of a call with its file.
func (in Input) checkKernel(path string, o schedule.Op) error {
	k := o.Kernel
	i := slices.IndexFunc(in.Own, func(x Own) bool { return x.Name == k.File })
	if i < 0 {
		return fmt.Errorf("emit call %s: the text of %s was not read", o.Call, k.File)
	}
	file := in.Own[i]
	wrong := func(field, hint, format string, args ...any) error {
		return &schedule.FieldError{Path: path + "." + field, Msg: fmt.Sprintf(format, args...), Hint: hint}
	}
	text := code(file.Text)
	if at := included.FindStringIndex(text); at != nil {
		return wrong("File", "leave it out; docs/calls.md says what is there", "%s has an #include",
			file.at(at[1]))
	}
	f, found := function(text, k.Name)
	want := []string{"Out<E> " + o.Out}
	for _, name := range o.In {
		want = append(want, "In<E> "+name)
	}
	for range k.Args {
		want = append(want, "i64")
	}
	usual := fmt.Sprintf("template <typename E> DEVICE void %s(%s)", k.Name, strings.Join(want, ", "))
	switch {
	case !found:
		return wrong("Name", "write "+usual, "%s has no kernel %s", file.Path, k.Name)
	case len(f.params) != len(want):
		return wrong("Args", "write "+usual, "%s: %s takes %d parameters, and the call has %d: %s and %d numbers",
			file.at(f.at), k.Name, len(f.params), len(want), strings.Join(append([]string{o.Out}, o.In...), ", "),
			len(k.Args))
	}
	for i, p := range f.params {
		kind, _, _ := strings.Cut(want[i], "<")
		if !strings.HasPrefix(p, kind) || len(p) > len(kind) && !strings.ContainsAny(p[len(kind):len(kind)+1], "< ") {
			return wrong("Name", "write "+usual, "%s: parameter %d of %s is %q, and takes %s", file.at(f.at), i+1,
				k.Name, p, want[i])
		}
	}
	return nil
}

// at is a place in the file: "schedules/attention.cu:12".
func (o Own) at(offset int) string {
	return fmt.Sprintf("%s:%d", o.Path, 1+strings.Count(o.Text[:offset], "\n"))
}

// comments matches comments and string literals of C++.
var comments = regexp.MustCompile(`//[^\n]*|(?s:/\*.*?\*/)|"(?:\\.|[^"\\\n])*"`)

// code is a text with blanks in place of comments and literals, so that each line stays where it is.
func code(text string) string {
	return comments.ReplaceAllStringFunc(text, func(s string) string {
		lines := strings.Split(s, "\n")
		for i, l := range lines {
			lines[i] = strings.Repeat(" ", len(l))
		}
		return strings.Join(lines, "\n")
	})
}

// kernel is a function of a file.
type kernel struct {
	at     int // offset of its name
	params []string
}

// function finds a function without a result by its name.
func function(text, name string) (k kernel, found bool) {
	at := regexp.MustCompile(`\bvoid\s+` + regexp.QuoteMeta(name) + `\s*\(([^)]*)\)`).FindStringSubmatchIndex(text)
	if at == nil {
		return k, false
	}
	k.at = at[0]
	for _, p := range split(text[at[2]:at[3]]) {
		k.params = append(k.params, strings.Join(strings.Fields(p), " "))
	}
	return k, true
}

// split splits a list of parameters at the commas outside of angle brackets.
func split(text string) (list []string) {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	depth, from := 0, 0
	for i, r := range text {
		switch r {
		case '<':
			depth++
		case '>':
			depth--
		case ',':
			if depth == 0 {
				list, from = append(list, text[from:i]), i+1
			}
		}
	}
	return append(list, text[from:])
}
