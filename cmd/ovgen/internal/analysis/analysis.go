package analysis

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"ovgen/cmd/ovgen/internal/literal"
	"ovgen/schedule"
	"ovgen/schedule/lower"
)

// Analyzer reports the mistakes.
var Analyzer = &analysis.Analyzer{
	Name: "schedule",
	Doc: `report mistakes in schedule literals

Of an exported variable of type schedule.Schedule everything is reported that ovgen vet
would say before a proof; of a literal inside a function, which the code may go on to
change, what is wrong with the fields that it sets. What is not constant is left alone,
and so are test files, which may hold mistakes on purpose.`,
	URL: "https://pkg.go.dev/" + literal.Path,
	Run: run,
}

// Wanted reports whether go vet runs this command as its tool: the arguments are -V=full, -flags, or the description of
// a package.
func Wanted(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		return a == "-V=full" || a == "-flags" || strings.HasSuffix(a, ".cfg")
	})
}

// report is one diagnostic.
type report struct {
	at  token.Pos
	msg string
}

// checker looks at one package.
type checker struct {
	pass     *analysis.Pass
	src      *literal.Source
	reported map[report]bool
	// top has the values of variables, which are not checked again as literals.
	top map[ast.Expr]bool
}

func run(pass *analysis.Pass) (any, error) {
	c := &checker{pass: pass, src: literal.New(pass.TypesInfo, pass.Files), reported: map[report]bool{},
		top: map[ast.Expr]bool{}}
	files := slices.DeleteFunc(slices.Clone(pass.Files), func(f *ast.File) bool {
		return strings.HasSuffix(pass.Fset.Position(f.Pos()).Filename, "_test.go")
	})
	for _, f := range files {
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
				for _, spec := range g.Specs {
					c.variables(spec.(*ast.ValueSpec))
				}
			}
		}
	}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			if ok && !c.top[lit] && literal.IsSchedule(pass.TypesInfo.TypeOf(lit)) {
				c.local(lit)
			}
			return true
		})
	}
	return nil, nil
}

// variables checks exported schedules, which ovgen takes as complete.
func (c *checker) variables(spec *ast.ValueSpec) {
	for i, id := range spec.Names {
		obj := c.pass.TypesInfo.Defs[id]
		if obj == nil || !id.IsExported() || !literal.IsSchedule(obj.Type()) || len(spec.Values) > 0 &&
			len(spec.Values) != len(spec.Names) {
			continue
		}
		var value ast.Expr
		if len(spec.Values) > 0 {
			value = spec.Values[i]
			c.top[ast.Unparen(value)] = true
		}
		c.variable(id, value)
	}
}

func (c *checker) variable(id *ast.Ident, value ast.Expr) {
	var s schedule.Schedule
	var unknown []string
	if c.src.Changed(c.pass.TypesInfo.Defs[id]) {
		return
	}
	if value != nil {
		s, unknown = c.src.Value(value)
	}
	err := s.Validate()
	if err == nil && len(unknown) == 0 {
		_, err = lower.Lower(id.Name, s)
	}
	for _, e := range schedule.FieldErrors(err) {
		if dependsOn(e.Path, unknown) {
			continue
		}
		at := ast.Node(id)
		if p := c.src.Find(value, e.Path); p.At != nil {
			at = p.At
		}
		c.say(at.Pos(), "schedule "+id.Name+": "+e.Error())
	}
}

// local checks the fields that a literal in a function sets.
func (c *checker) local(lit *ast.CompositeLit) {
	s, unknown := c.src.Value(lit)
	for _, e := range schedule.FieldErrors(s.Validate()) {
		p := c.src.Find(lit, e.Path)
		if !p.Whole || e.Path == "Tensors" || strings.HasSuffix(e.Path, ".Of") && len(s.Tensors) == 0 ||
			dependsOn(e.Path, unknown) {
			continue
		}
		c.say(p.At.Pos(), "schedule: "+e.Error())
	}
}

func (c *checker) say(at token.Pos, msg string) {
	if r := (report{at, msg}); !c.reported[r] {
		c.reported[r] = true
		c.pass.Reportf(at, "%s", msg)
	}
}

// dependsOn reports whether a finding may be due to something unknown: to anything in the same field of the schedule
// or, for a finding in operations, tensors or the Of of a move, to an unknown operation or tensor.
func dependsOn(path string, unknown []string) bool {
	computed := func(f string) bool { return f == "Ops" || f == "Tensors" }
	return slices.ContainsFunc(unknown, func(u string) bool {
		return u == "" || field(u) == field(path) || computed(field(u)) &&
			(computed(field(path)) || strings.HasSuffix(path, ".Of"))
	})
}

// field is the first step of a path.
func field(path string) string {
	if i := strings.IndexAny(path, ".["); i >= 0 {
		return path[:i]
	}
	return path
}
