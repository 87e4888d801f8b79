package templates

import (
	"fmt"
	"math/bits"
	"text/template"

	"github.com/Masterminds/sprig/v3"
)

// allowed are the functions of sprig that depend on nothing but their arguments and don't
// turn mistakes into values: its arithmetic makes 0 of a text that is no number.
var allowed = []string{
	"contains", "default", "fail", "hasPrefix", "hasSuffix", "indent", "join", "list", "lower", "nindent",
	"quote", "repeat", "replace", "splitList", "ternary", "trimPrefix", "trimSuffix", "upper",
}

// functions are all functions that templates may call beside text/template's own.
func functions() template.FuncMap {
	all := sprig.TxtFuncMap()
	m := template.FuncMap{"ceilDiv": ceilDiv, "align": align, "log2": log2}
	for _, name := range allowed {
		m[name] = all[name]
	}
	return m
}

// ceilDiv is x / y rounded up.
func ceilDiv(x, y int) (int, error) {
	if x < 0 || y <= 0 {
		return 0, fmt.Errorf("ceilDiv %d %d: the first must not be negative, the second positive", x, y)
	}
	return (x + y - 1) / y, nil
}

// align is x rounded up to a multiple of a power of two.
func align(x, to int) (int, error) {
	if x < 0 || to <= 0 || to&(to-1) != 0 {
		return 0, fmt.Errorf("align %d %d: the first must not be negative, the second a power of two", x, to)
	}
	return (x + to - 1) &^ (to - 1), nil
}

// log2 of a power of two.
func log2(x int) (int, error) {
	if x <= 0 || x&(x-1) != 0 {
		return 0, fmt.Errorf("log2 %d: it is no power of two", x)
	}
	return bits.TrailingZeros(uint(x)), nil
}
