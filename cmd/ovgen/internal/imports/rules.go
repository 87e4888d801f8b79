package imports

import (
	"fmt"
	"slices"
	"strings"

	"ovgen/cmd/ovgen/internal/module"
)

// Package is one package of the project with its imports.
type Package struct {
	Path    string   // import path
	Imports []string // of its non-test files
}

// rule lists the packages that a part of the project may import besides the standard library.
type rule struct {
	part  string   // folder of the module
	allow []string // folders of the module, behind = without those below, and prefixes of other modules' import paths
}

// rules are in order, the most special first; a package must keep the first rule that fits it.
var rules = []rule{
	{"schedule/catalog", []string{"schedule"}},
	{"schedule/edges", []string{"=schedule"}},
	{"schedule/stages", []string{"=schedule", "schedule/edges"}},
	{"schedule/hostir", []string{"schedule"}},
	{"schedule/lower", []string{"schedule"}},
	{"schedule/passes", []string{"schedule"}},
	{"schedule/scheduletest", []string{"schedule"}}, // for tests alone
	{"schedule", nil},
	{"runtime", []string{"runtime", "golang.org/x/sys"}},
	{"generated/programs", []string{"generated", "verify"}},
	{"generated/run", []string{"generated/programs", "runtime", "verify"}},
	{"generated/host", []string{"verify/sim", "verify/tables"}},
	{"generated/schedules", []string{"schedule"}},
	{"generated/tuned", []string{"generated", "runtime"}},
	{"generated/device", nil},
	{"generated", []string{"runtime"}},
	{"verify/ops/opstest", []string{"schedule", "verify/ops", "pgregory.net/rapid"}}, // for tests alone
	{"verify/ops", []string{"schedule"}},
	{"verify/prove", []string{"schedule", "verify/ops"}},
	{"verify/cost", []string{"schedule", "runtime/kernels", "verify/ops"}},
	{"verify/reading", []string{"schedule"}},
	{"verify/explore", []string{"schedule", "verify/ops", "verify/reading"}},
	{"verify/formula", []string{"schedule"}},
	{"verify/touch", []string{"runtime/driver"}},
	{"verify/tables", []string{"runtime/driver", "runtime/kernels", "runtime/fewrows", "runtime/plan", "verify/touch"}},
	{"verify/sim", []string{"runtime/driver", "verify/sim", "verify/touch", "golang.org/x/sys", "gonum.org/v1/gonum"}},
	{"verify/drivertest", []string{"runtime/driver", "schedule", "verify/formula", "verify/reference"}},
	{"verify/timeline", nil},
	{"verify/harness", []string{"schedule", "runtime", "verify/formula", "verify/reading", "verify/reference",
		"verify/touch"}},
	{"verify/run", []string{"schedule", "runtime", "verify/harness", "verify/reading", "verify/reference",
		"verify/inject", "verify/trace",
		"verify/timeline", "golang.org/x/sys"}},
}

// Broken lists each import that the rules do not allow.
func Broken(packages []Package) []string {
	var list []string
	for _, p := range packages {
		i := slices.IndexFunc(rules, func(r rule) bool { return within(folder(p.Path), r.part) })
		if i < 0 {
			continue
		}
		for _, path := range p.Imports {
			if standard(path) || slices.ContainsFunc(rules[i].allow, func(a string) bool {
				one, alone := strings.CutPrefix(a, "=")
				return folder(path) == one || !alone && within(folder(path), a)
			}) {
				continue
			}
			list = append(list, fmt.Sprintf("%s imports %s (%s may import the standard library%s)", p.Path, path,
				rules[i].part, also(rules[i].allow)))
		}
	}
	return list
}

func also(allow []string) string {
	if len(allow) == 0 {
		return " only"
	}
	return " and " + strings.ReplaceAll(strings.Join(allow, ", "), "=", "")
}

func within(path, part string) bool { return path == part || strings.HasPrefix(path, part+"/") }

// folder is the part of an import path below the module's path; it is the whole path of a package of another module.
func folder(path string) string { return strings.TrimPrefix(path, module.Path+"/") }

// standard reports whether a path belongs to the standard library: its first element has no dot, and it is not in this
// module.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !within(path, module.Path) && !strings.Contains(first, ".")
}
