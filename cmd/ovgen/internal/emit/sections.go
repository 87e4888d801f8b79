package emit

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"

	"github.com/dave/jennifer/jen"
)

// A run that is longer than a screen is split into several functions, each named after the buffer that it fills last. A
// long declaration has a function for each kind of part.

// Largest number of lines of a function, which fit a screen, and of a section of a run.
const (
	mostLines    = 60
	sectionLines = 48
)

// section is a function of a run.
type section struct {
	name, text string
	code       []jen.Code
}

// function is the function, a method of the plan.
func (x section) function() jen.Code {
	return jen.Func().Params(jen.Id("p").Op("*").Id("Plan")).Id(x.name).Params(jen.Id("q").Op("*").Qual(planPath,
		"Queue")).Block(x.code...)
}

// linesOf counts the lines of a function.
func linesOf(function jen.Code) int {
	f := newFile("part", "")
	f.Add(function)
	text, err := render(f, "part.go")
	if err != nil {
		return 0 // the file that gets the function reports the error
	}
	at := bytes.Index(text, []byte("func "))
	return bytes.Count(text[max(at, 0):], []byte("\n"))
}

// sections returns issue, and the functions that it calls. If there are two functions, the second is the rest of issue.
func (u *unit) sections(items []item) []section {
	issue := section{"issue", "issue enqueues one run: the host program of doc.go, node by node.",
		statements(items, false)}
	if linesOf(issue.function()) <= mostLines {
		return []section{issue}
	}
	issue.text, issue.code = "issue enqueues one run: the host program of doc.go.", nil
	var list []section
	taken := u.fieldNames()
	for from := 0; from < len(items); {
		to := u.end(items, from)
		x := sectionOf(items[from:to], taken)
		if len(list) == 1 && to == len(items) {
			issue.code = append(issue.code, x.code...)
			break
		}
		issue.code = append(issue.code, jen.Id("p").Dot(x.name).Call(jen.Id("q")))
		list, taken, from = append(list, x), append(taken, x.name), to
	}
	return append([]section{issue}, list...)
}

// sectionOf is the function of some items, with a name that is not taken.
func sectionOf(items []item, taken []string) section {
	var fills []string
	for _, it := range items {
		for _, name := range it.fills {
			if !slices.Contains(fills, name) {
				fills = append(fills, name)
			}
		}
	}
	name, what := "finish", "the end of a run"
	if len(fills) > 0 {
		name, what = "fill"+exported(last(items)), "what fills "+list(fills)
	}
	x := section{name: name, code: statements(items, true)}
	for n := 2; slices.Contains(taken, x.name); n++ {
		x.name = name + strconv.Itoa(n)
	}
	x.text = x.name + " enqueues " + what + "."
	return x
}

// last is the buffer that the items fill last; empty if they fill none.
func last(items []item) string {
	for _, it := range slices.Backward(items) {
		if n := len(it.fills); n > 0 {
			return it.fills[n-1]
		}
	}
	return ""
}

// end returns the end of the section that begins at an item. The section is as long as allowed and ends before a
// paragraph; if possible, it ends where the result of an operation is complete.
func (u *unit) end(items []item, from int) int {
	whole, any := 0, 0
	for to := from + 1; to <= len(items); to++ {
		if !divisible(items, from, to) {
			continue
		}
		if any > 0 && linesOf(section{name: "part", code: statements(items[from:to], true)}.function()) > sectionLines {
			break
		}
		any = to
		if to == len(items) || u.results(items, from, to) {
			whole = to
		}
	}
	return cmp.Or(whole, any)
}

// results reports whether the items fill the result of an operation last, and no later item fills it.
func (u *unit) results(items []item, from, to int) bool {
	name := last(items[from:to])
	return u.program.Schedule.Apart().Made(name) &&
		!slices.ContainsFunc(items[to:], func(it item) bool { return slices.Contains(it.fills, name) })
}

// divisible reports whether a section may end there: the section fills a buffer, and no later item uses a variable of
// it.
func divisible(items []item, from, to int) bool {
	switch {
	case to == len(items):
		return true
	case !items[to].apart && items[to].defines == "", last(items[from:to]) == "":
		return false
	}
	defined := map[string]bool{}
	for _, it := range items[from:to] {
		defined[it.defines] = it.defines != ""
	}
	for _, it := range items[to:] {
		for variable := range it.used {
			if defined[variable] {
				return false
			}
		}
		delete(defined, it.defines)
	}
	return true
}

// fieldNames are the fields of the plan that are named after parts of the program.
func (u *unit) fieldNames() (names []string) {
	for _, b := range u.program.Buffers {
		names = append(names, unexported(b.Name))
	}
	for _, s := range u.program.Semaphores {
		names = append(names, unexported(s.Name))
	}
	for _, s := range u.program.Streams {
		names = append(names, unexported(s.Name))
	}
	return names
}
