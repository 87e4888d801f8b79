// Package module has the path of the module that this ovgen was built from, which
// everything that it emits imports.
package module

import (
	"path"
	"reflect"

	"ovgen/schedule"
)

// Path is the module's, as its owner publishes it. It is read from the name of a package,
// so it is right wherever ovgen was built: by itself, as a tool of another module, in a test.
var Path = path.Dir(reflect.TypeFor[schedule.Schedule]().PkgPath())

// Package is the import path of a package of the module: that of "runtime/plan".
func Package(name string) string { return path.Join(Path, name) }
