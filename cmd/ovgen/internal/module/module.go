// Package module has the path of the module that this ovgen was built from; all emitted code imports packages of this
// module.
package module

import (
	"path"
	"reflect"

	"ovgen/schedule"
)

// Path is the module's path. It is read from the path of a package, so it is right however ovgen was built: as the main
// module, as a tool of another module, or in a test.
var Path = path.Dir(reflect.TypeFor[schedule.Schedule]().PkgPath())

// Package is the import path of a package of the module, such as "runtime/plan".
func Package(name string) string { return path.Join(Path, name) }
