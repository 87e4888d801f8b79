package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"ovgen/cmd/ovgen/internal/literal"
	"ovgen/schedule"
)

// Config selects the package to load.
type Config struct {
	Dir     string   // folder in which the go command runs; positions are relative to it
	Env     []string // of the go command
	Pattern string   // names one package, in the syntax of the go command
	// Output is the folder of the generated packages: a package of schedules must not import these. Empty if nothing is
	// generated.
	Output string
}

// Package is a package of schedules.
type Package struct {
	Path         string // import path
	Declarations []*Declaration
	// Mistakes are the exported variables that contain schedules in another form than as their value.
	Mistakes Mistakes
}

// Declaration is one exported variable of type schedule.Schedule.
type Declaration struct {
	Name     string
	Doc      string // its comment
	Pos      token.Position
	Schedule schedule.Schedule

	name  *ast.Ident
	value ast.Expr // nil if the variable has the zero value
	pkg   *source
}

// source is the syntax in which fields are looked up.
type source struct {
	dir string
	pkg *packages.Package
	lit *literal.Source
}

// Load returns the package's schedules in the order of their positions. Mistakes in the package are returned as
// Mistakes; any other error is trouble with the go command.
func Load(ctx context.Context, c Config) (*Package, error) {
	found, err := find(ctx, c)
	if err != nil {
		return nil, err
	}
	src := &source{dir: c.Dir, pkg: found, lit: literal.New(found.TypesInfo, found.Syntax)}
	p := &Package{Path: found.PkgPath}
	if p.Declarations, p.Mistakes, err = src.declarations(); err != nil {
		return nil, err
	}
	if len(p.Declarations) == 0 {
		return p, nil
	}
	return p, evaluate(ctx, c, src, p.Declarations)
}

// find loads the one package that the pattern names, with types and syntax.
func find(ctx context.Context, c Config) (*packages.Package, error) {
	if strings.HasSuffix(c.Pattern, ".go") {
		return nil, fmt.Errorf("load %s: it is a file (name the folder or the import path of its package)", c.Pattern)
	}
	pkgs, err := packages.Load(&packages.Config{
		Context: ctx,
		Dir:     c.Dir,
		Env:     c.Env,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedModule |
			packages.NeedTypes | packages.NeedTypesInfo | packages.NeedSyntax,
	}, c.Pattern)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", c.Pattern, err)
	}
	if len(pkgs) == 0 {
		return nil, c.nothing(ctx)
	}
	if len(pkgs) != 1 {
		return nil, fmt.Errorf("load %s: it names %d packages (name one)", c.Pattern, len(pkgs))
	}
	p := pkgs[0]
	if err := c.cycle(p); err != nil {
		return nil, err
	}
	if len(p.Errors) > 0 {
		return nil, c.broken(p)
	}
	if p.Name == "main" {
		return nil, fmt.Errorf("load %s: it is a main package, which no program can import (move the schedules to a "+
			"package of their own)", p.PkgPath)
	}
	return p, nil
}

// nothing is the reason why the pattern names no package. packages.Load drops the go command's errors about the whole
// module, such as an error about a go.mod that has to be tidied.
func (c Config) nothing(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "go", "list", "--", c.Pattern)
	cmd.Dir, cmd.Env = c.Dir, append(c.Env[:len(c.Env):len(c.Env)], "PWD="+c.Dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("load %s: %s", c.Pattern, cmp.Or(strings.TrimSpace(string(out)), err.Error()))
	}
	return fmt.Errorf("load %s: it names 0 packages (name one)", c.Pattern)
}

// cycle refuses a package that imports packages generated from it.
func (c Config) cycle(p *packages.Package) error {
	if c.Output == "" || p.Module == nil || p.Module.Dir == "" {
		return nil
	}
	rel, err := filepath.Rel(p.Module.Dir, c.Output)
	if err != nil || !filepath.IsLocal(rel) || rel == "." {
		return nil
	}
	output := path.Join(p.Module.Path, filepath.ToSlash(rel))
	var all Mistakes
	for _, f := range p.Syntax {
		for _, i := range f.Imports {
			if name := strings.Trim(i.Path.Value, "`\""); name == output || strings.HasPrefix(name, output+"/") {
				all = append(all, &Mistake{Pos: c.relative(p.Fset.Position(i.Path.Pos())),
					Msg: "a package of schedules imports " + name + ", which is generated from schedules " +
						"(move the code that needs it to another package)"})
			}
		}
	}
	return all.Err()
}

// broken turns the errors of list, parser and type checker into mistakes. The go command repeats some errors without a
// position; if a package's errors all lack a position, the package does not exist.
func (c Config) broken(p *packages.Package) error {
	var all Mistakes
	var rest []error
	for _, e := range p.Errors {
		pos, ok := parsePosition(e.Pos)
		if !ok {
			rest = append(rest, fmt.Errorf("load %s: %s", c.Pattern, strings.TrimSpace(e.Msg)))
			continue
		}
		all = append(all, &Mistake{Pos: c.relative(pos), Msg: e.Msg})
	}
	if len(all) == 0 {
		return errors.Join(rest...)
	}
	return all.Err()
}

// declarations finds the exported variables of type schedule.Schedule. It returns the exported pointers, slices and
// maps of schedules as mistakes.
func (s *source) declarations() (out []*Declaration, bad Mistakes, err error) {
	s.eachVar(func(spec *ast.ValueSpec, doc string, i int) {
		id := spec.Names[i]
		obj := s.pkg.TypesInfo.Defs[id]
		if obj == nil {
			return
		}
		var value ast.Expr
		if len(spec.Values) == len(spec.Names) {
			value = spec.Values[i]
		} else if len(spec.Values) > 0 {
			value = spec.Values[0] // one call has all values
		}
		if !id.IsExported() {
			return
		}
		d := &Declaration{Name: id.Name, Doc: doc, Pos: s.position(id), name: id, value: value, pkg: s}
		if literal.IsSchedule(obj.Type()) {
			out = append(out, d)
		} else if why := holds(obj.Type()); why != "" {
			bad = append(bad, d.Mistake(errors.New(why))...)
		}
	})
	if len(out)+len(bad) == 0 {
		return nil, nil, fmt.Errorf("load %s: it declares no schedule (%s)", s.pkg.PkgPath, s.whyNone())
	}
	slices.SortFunc(out, func(a, b *Declaration) int { return comparePositions(a.Pos, b.Pos) })
	return out, bad, nil
}

// holds describes how a variable contains schedules other than as its value, and the remedy; it is empty for a variable
// that contains none.
func holds(t types.Type) string {
	const each = "declare each as a variable of its own, or this one with a lower-case name"
	switch t := t.Underlying().(type) {
	case *types.Pointer:
		if literal.IsSchedule(t.Elem()) {
			return "it is a pointer (declare it as a value: schedule.Schedule)"
		}
	case *types.Slice:
		if literal.IsSchedule(t.Elem()) || holds(t.Elem()) != "" {
			return "it is a slice of schedules (" + each + ")"
		}
	case *types.Array:
		if literal.IsSchedule(t.Elem()) || holds(t.Elem()) != "" {
			return "it is an array of schedules (" + each + ")"
		}
	case *types.Map:
		if literal.IsSchedule(t.Elem()) || holds(t.Elem()) != "" {
			return "it is a map of schedules (" + each + ")"
		}
	}
	return ""
}

// eachVar calls f for each name of each package-level variable declaration.
func (s *source) eachVar(f func(spec *ast.ValueSpec, doc string, i int)) {
	for _, file := range s.pkg.Syntax {
		for _, decl := range file.Decls {
			g, ok := decl.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, spec := range g.Specs {
				v := spec.(*ast.ValueSpec)
				doc := v.Doc
				if doc == nil && !g.Lparen.IsValid() {
					doc = g.Doc
				}
				for i := range v.Names {
					f(v, strings.TrimSpace(doc.Text()), i)
				}
			}
		}
	}
}

// whyNone is the remedy for a package that has no schedules.
func (s *source) whyNone() string {
	const export = "export a variable of type schedule.Schedule"
	for _, dir := range s.dirs() {
		tests, _ := filepath.Glob(filepath.Join(dir, "*_test.go"))
		for _, t := range tests {
			text, err := os.ReadFile(t)
			if err == nil && strings.Contains(string(text), `"`+literal.Path+`"`) {
				return export + "; test files, such as " + filepath.Base(t) + ", are not looked at"
			}
		}
	}
	return export
}

func (s *source) dirs() []string {
	var out []string
	for _, f := range s.pkg.GoFiles {
		if dir := filepath.Dir(f); !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	return out
}
