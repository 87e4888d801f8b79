package templates

import (
	"text/template"

	"github.com/Masterminds/sprig/v3"
)

// functions are all functions that templates may call besides those of text/template: join of sprig, and functions of
// this package. They depend on nothing but their arguments, and return an error for a mistake instead of a value.
func functions() template.FuncMap {
	return template.FuncMap{"join": sprig.TxtFuncMap()["join"], "mma": mma}
}
