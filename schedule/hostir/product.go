package hostir

import (
	"fmt"
	"strings"
)

// Products by their indices: the operands' and the result's, in the order of their axes.
// Indices that the result lacks are summed over.
const (
	Matmul   = "mk,kn->mn"
	Linear   = "mk,nk->mn"
	Gradient = "km,kn->mn"
)

// Form is how a product reads its operands, each a matrix in row-major order.
type Form struct {
	Name string
	// TransposedA and TransposedB say which operands have the index that is summed over
	// where a plain matrix product has that of the result.
	TransposedA, TransposedB bool
}

// ParseProduct reads the indices of a product of two matrices.
func ParseProduct(index string) (Form, error) {
	wrong := func(what string) (Form, error) {
		return Form{}, fmt.Errorf("product %q: %s (write it like %q)", index, what, Linear)
	}
	operands, result, ok := strings.Cut(index, "->")
	a, b, two := strings.Cut(operands, ",")
	if !ok || !two {
		return wrong("it has no two operands and a result")
	}
	if len(a) != 2 || len(b) != 2 || len(result) != 2 {
		return wrong("it is not of matrices")
	}
	m, n := result[0], result[1]
	f := Form{TransposedA: a[0] != m, TransposedB: b[1] != n}
	inA, inB := a[1], b[0]
	if f.TransposedA {
		inA = a[0]
	}
	if f.TransposedB {
		inB = b[1]
	}
	if inA != inB || m == n || !strings.ContainsRune(a, rune(m)) || !strings.ContainsRune(b,
		rune(n)) || inA == m || inA == n {
		return wrong("the operands must share the index that the result lacks, and have one of its own each")
	}
	switch {
	case !f.TransposedA && !f.TransposedB:
		f.Name = "Matmul"
	case !f.TransposedA:
		f.Name = "Linear"
	case !f.TransposedB:
		f.Name = "Gradient"
	default:
		return wrong("both operands are transposed")
	}
	return f, nil
}
