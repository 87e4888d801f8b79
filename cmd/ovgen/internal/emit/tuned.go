package emit

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"ovgen/schedule"
	"ovgen/schedule/edges"
	"ovgen/schedule/hostir"
)

// tunedName is the package that chooses among the schedules of an operation.
const tunedName = "tuned"

// family is the schedules of one signature, in the order of their names and of schedule.Last. All compute the same
// result. The first schedule names the operation.
type family []*unit

// families are the families of at least two schedules. They leave out schedules that teach, that are over hosts, or
// that have calls: a tuned plan has no fields for functions.
func families(units []*unit) []family {
	units = slices.DeleteFunc(slices.Clone(units), func(u *unit) bool {
		s := u.program.Schedule
		return s.Teaches || s.OverHosts() || calls(s)
	})
	slices.SortStableFunc(units, func(a, b *unit) int { return schedule.Last(a.program.Schedule, b.program.Schedule) })
	var several []family
	for _, f := range schedule.Families(units, func(u *unit) schedule.Schedule { return u.program.Schedule }) {
		if len(f) > 1 {
			several = append(several, f)
		}
	}
	return several
}

// CheckFamilies refuses schedules for which package tuned would declare a name twice: the type of one operation and the
// constructor of another operation. Each error is "schedule NAME: ...", and wraps the cause.
func CheckFamilies(inputs []Input) error {
	units := make([]*unit, len(inputs))
	for i, in := range inputs {
		units[i] = &unit{Input: in, name: PackageName(in.Program.Name), program: in.Program}
	}
	slices.SortFunc(units, func(a, b *unit) int { return strings.Compare(a.program.Name, b.program.Name) })
	list := families(units)
	var errs []error
	for _, made := range list {
		for _, other := range list {
			if name := other[0].program.Name; name == "New"+made[0].program.Name {
				errs = append(errs, fmt.Errorf("schedule %s: %w", name,
					fmt.Errorf("in package %s it would be a type, and the function that makes a %s (rename one)",
						tunedName, made[0].program.Name)))
			}
		}
	}
	return errors.Join(errs...)
}

// emitTuned adds package tuned, a file for each family.
func emitTuned(units []*unit, opt Options, files map[string][]byte) error {
	list := families(units)
	if len(list) == 0 {
		return nil
	}
	f := newFile(tunedName, runFrom)
	f.PackageComment(comment(wrap("Package tuned has one type for each operation that several schedules compute. A " +
		"plan of it runs the schedule that run tune measured as the fastest at the shape on the machine: New takes " +
		"the file that run tune wrote. A shape that was not measured gets the fastest schedule of the nearest shape. " +
		"Choice says which schedule runs and why. A program links every schedule of each operation that it makes a " +
		"plan of, since a tuning of its own machine may name any of them, and the device code of the others.")))
	name := path.Join(tunedName, tunedName+".go") // no schedule's package has that name
	text, err := render(f, name)
	if err != nil {
		return err
	}
	files[name] = text
	for _, l := range list {
		name := path.Join(tunedName, l[0].name+".go")
		if files[name], err = l.file(opt, name); err != nil {
			return err
		}
	}
	return nil
}

// file is the type of one operation, its New and the table of its schedules.
func (l family) file(opt Options, name string) ([]byte, error) {
	f := newFile(tunedName, runFrom)
	for _, u := range l {
		u.importAs(f, opt, "s", "x", "shape", "buffers")
	}
	base := l[0]
	typ, table := base.program.Name, "schedulesOf"+base.program.Name
	of := func(generic string) *jen.Statement {
		return jen.Qual(tuningPath, generic).Types(jen.Qual(base.importPath(opt), "Shape"),
			jen.Qual(base.importPath(opt), "Buffers"))
	}
	f.Add(docf("%s is the operation of package %s, by the schedule that a tuning has chosen.", typ, base.name))
	f.Type().Id(typ).Op("=").Add(of("Tuned"))
	f.Line()
	f.Add(docf("New%s makes a plan by the fastest schedule that t has for s, as tuning.Tune finds it; a nil t is what "+
		"ovgen's authors measured. It is collective, and all ranks need the same tuning.", typ))
	f.Func().Id("New"+typ).Params(jen.Id("ctx").Qual("context", "Context"),
		jen.Id("g").Op("*").Qual(groupPath, "Group"),
		jen.Id("t").Op("*").Qual(tuningPath, "Table"), jen.Id("s").Qual(base.importPath(opt), "Shape")).
		Params(jen.Op("*").Id(typ), jen.Error()).
		Block(jen.Return(jen.Qual(tuningPath, "Tune").Call(jen.Id("ctx"), jen.Id("g"), jen.Id("t"), jen.Id("s"),
			jen.Id(table).Call())))
	var entries []jen.Code
	for _, u := range l {
		entries = append(entries, u.candidate(base, opt))
	}
	f.Line()
	f.Add(docf("%s are the schedules to choose from. Of a function the linker leaves out what no program calls.",
		table))
	f.Func().Id(table).Params().Index().Add(of("Candidate")).Block(
		jen.Type().Id("shape").Op("=").Qual(base.importPath(opt), "Shape"),
		jen.Type().Id("buffers").Op("=").Qual(base.importPath(opt), "Buffers"),
		jen.Return(jen.Index().Qual(tuningPath, "Candidate").Types(jen.Id("shape"), jen.Id("buffers")).
			Custom(lineByLine, entries...)))
	return render(f, name)
}

// candidate writes the entry of one schedule of a family. Its shape and buffers have the fields of the first
// schedule's, under another type name.
func (u *unit) candidate(base *unit, opt Options) jen.Code {
	of := func(x *unit, name string) *jen.Statement { return jen.Qual(x.importPath(opt), name) }
	own := []jen.Code{jen.Op("&").Add(of(u, "Program")), of(u, "New"),
		jen.Parens(jen.Op("*").Add(of(u, "Plan"))).Dot("Bind")}
	if u == base {
		return u.summing(jen.Qual(tuningPath, "Own").Call(own...))
	}
	convert := func(typ, x string) jen.Code {
		return jen.Line().Add(oneLine(jen.Func().Params(jen.Id(x).Id(unexported(typ))).Add(of(u, typ)),
			jen.Return(of(u, typ).Call(jen.Id(x)))))
	}
	return u.summing(jen.Qual(tuningPath, "Other").Call(append(own, convert("Shape", "s"), convert("Buffers", "x"))...))
}

// summing adds to a candidate how it sums for all ranks, if nothing else travels and more than a measurement may choose
// it.
func (u *unit) summing(candidate *jen.Statement) jen.Code {
	p := u.program
	if len(p.Edges) != 1 || p.Edges[0].Kind != string(edges.AllReduce) || p.Schedule.FewRows > 0 {
		return candidate
	}
	by := schedule.FactsOf(p.Edges[0].Way).Estimate
	if by == "" {
		return candidate
	}
	more, behind := 0, 0
	hostir.Steps(p.Body, func(s hostir.Step) {
		switch x := s.Do.(type) {
		case hostir.PacketSpread:
			more = len(x.Spread) - 1
		case hostir.Apply:
			behind++
		}
	})
	fields := []jen.Code{set("By", jen.Qual(tuningPath, by)), set("Of", jen.Lit(p.Edges[0].Of))}
	if more > 0 {
		fields = append(fields, set("More", jen.Lit(more)))
	}
	if behind > 0 {
		fields = append(fields, set("Behind", jen.Lit(behind)))
	}
	return candidate.Dot("Summing").Call(jen.Qual(tuningPath, "Sum").Values(fields...))
}
