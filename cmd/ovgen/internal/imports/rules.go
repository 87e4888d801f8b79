package imports

import (
	"fmt"
	"slices"
	"strings"
)

// Package is one package of the project with what it imports.
type Package struct {
	Path    string   // import path
	Imports []string // of its non-test files
}

// rule allows a part of the project some imports besides the standard library.
type rule struct {
	part  string   // import path prefix
	allow []string // import path prefixes
}

// rules, the most special first; a package keeps the first that fits it.
var rules = []rule{
	{"ovgen/schedule/catalog", []string{"ovgen/schedule"}},
	{"ovgen/schedule/hostir", []string{"ovgen/schedule"}},
	{"ovgen/schedule/lower", []string{"ovgen/schedule"}},
	{"ovgen/schedule", nil},
	{"ovgen/runtime/driver/sim", []string{"ovgen/runtime", "golang.org/x/sys", "gonum.org/v1/gonum"}},
	{"ovgen/runtime", []string{"ovgen/runtime", "golang.org/x/sys"}},
	{"ovgen/generated/programs", []string{"ovgen/generated", "ovgen/runtime", "ovgen/verify"}},
	{"ovgen/generated/run", []string{"ovgen/generated", "ovgen/runtime", "ovgen/verify"}},
	{"ovgen/generated/tuned", []string{"ovgen/generated", "ovgen/runtime"}},
	{"ovgen/generated", []string{"ovgen/runtime"}},
	{"ovgen/verify/ops", []string{"ovgen/schedule"}},
	{"ovgen/verify/prove", []string{"ovgen/schedule", "ovgen/verify/ops"}},
	{"ovgen/verify/cost", []string{"ovgen/schedule", "ovgen/verify/ops"}},
	{"ovgen/verify/explore", []string{"ovgen/schedule", "ovgen/verify/ops"}},
	{"ovgen/verify/timeline", nil},
}

// Broken lists each import that the rules do not allow.
func Broken(packages []Package) []string {
	var list []string
	for _, p := range packages {
		i := slices.IndexFunc(rules, func(r rule) bool { return within(p.Path, r.part) })
		if i < 0 {
			continue
		}
		for _, path := range p.Imports {
			if standard(path) || slices.ContainsFunc(rules[i].allow, func(a string) bool { return within(path, a) }) {
				continue
			}
			list = append(list, fmt.Sprintf("%s imports %s (%s may import the standard library%s)", p.Path, path, rules[i].part, also(rules[i].allow)))
		}
	}
	return list
}

func also(allow []string) string {
	if len(allow) == 0 {
		return " only"
	}
	return " and " + strings.Join(allow, ", ")
}

func within(path, part string) bool { return path == part || strings.HasPrefix(path, part+"/") }

// standard says whether a path is of the standard library: it has no dot in its
// first element and is not of this module.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return first != "ovgen" && !strings.Contains(first, ".")
}
