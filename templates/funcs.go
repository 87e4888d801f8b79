package templates

import (
	"strings"
	"text/template"
)

// functions are all functions that templates may call beside text/template's own. They depend on nothing but their
// arguments and don't turn mistakes into values.
func functions() template.FuncMap {
	return template.FuncMap{"join": join, "mma": mma}
}

// join is a list's items with a text between them.
func join(between string, list []string) string { return strings.Join(list, between) }
