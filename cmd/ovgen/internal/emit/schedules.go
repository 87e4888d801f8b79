package emit

import (
	"path"
	"reflect"

	"github.com/dave/jennifer/jen"
)

// emitSchedules adds package schedules, a file for each schedule: tests read it, plans do not.
func emitSchedules(units []*unit, files map[string][]byte) error {
	f := newFile(schedulesName, runFrom)
	f.PackageComment(comment(wrap("Package " + schedulesName + " holds the schedules that the packages were " +
		"generated from, for their tests and package " + runName + ".")))
	if err := add(f, path.Join(schedulesName, "doc.go"), files); err != nil {
		return err
	}
	for _, u := range units {
		f := newFile(schedulesName, "schedule "+u.program.Name)
		f.Add(docf("%s is the schedule of package %s.", u.program.Name, u.name))
		f.Var().Id(u.program.Name).Op("=").Qual(schedulePath, "Schedule").
			Add(fieldsOf(reflect.ValueOf(minimal(u.program)), jen.Options(lineByLine)))
		// The suffix keeps a name from meaning a test or a system.
		if err := add(f, path.Join(schedulesName, u.name+"_schedule.go"), files); err != nil {
			return err
		}
	}
	return nil
}
