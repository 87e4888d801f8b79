package templates

import (
	"text/template"

	"github.com/Masterminds/sprig/v3"
)

// functions are all functions that templates may call beside text/template's own: the functions of sprig
// that one calls, and our own. They depend on nothing but their arguments and don't turn mistakes into values.
func functions() template.FuncMap {
	return template.FuncMap{"join": sprig.TxtFuncMap()["join"], "mma": mma}
}
