package schedule

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Func is a function that is applied to a result, element by element or row by row; it may take further operands. Its
// tree alone defines it.
type Func struct {
	Word string `json:",omitempty"` // for texts: "rmsnorm"
	Is   Expr   `json:",omitzero"`
	// Epsilon is the number that a norm adds to the mean of squares; 0 means the Shape's.
	Epsilon float64 `json:",omitempty"`
	// Joins says that the function adds partial results to the operation's partial results, before these meet. Joined
	// sets it.
	Joins bool `json:"-"`
}

// Tree is the function's tree over X, with the function's epsilon.
func (f Func) Tree() Expr {
	if f.Epsilon == 0 {
		return f.Is
	}
	return f.Is.replaced(Param(Epsilon), Num(f.Epsilon))
}

// Operands are the tensors that the function reads beside X, and how they lie.
func (f Func) Operands() []Operand { return f.Is.operands(nil) }

// Reads are the tensors that the function reads beside X.
func (f Func) Reads() (names []string) {
	for _, o := range f.Operands() {
		names = append(names, o.Tensor)
	}
	return names
}

// PathOf is the path of the first leaf that reads a tensor, of a function at a path: "Ops[0].Then[0].Is.Of[1].Tensor".
func (f Func) PathOf(path, tensor string) string {
	found := ""
	f.Is.walk(path+".Is", func(at string, e Expr) {
		if found == "" && does[e.Do].lies != "" && e.Tensor == tensor {
			found = at + ".Tensor"
		}
	})
	return cmp.Or(found, path)
}

// Name is the function's word, "a formula" where it has none.
func (f Func) Name() string { return cmp.Or(f.Word, "a formula") }

// String is "bias(Bias)", "gelu", "rmsnorm(Norm, epsilon 1e-06)" or, where its word does not say all, the word and the
// formula: "softcap(30*tanh(x/30))".
func (f Func) String() string {
	name, more := f.Tree().InLibrary()
	if name == "" || name != f.Word {
		return f.Word + "(" + f.Tree().String() + ")"
	}
	if list := append(f.Reads(), more...); len(list) > 0 {
		return name + "(" + strings.Join(list, ", ") + ")"
	}
	return name
}

// UnmarshalJSON also reads files that give a function by its name: {"Do": "rmsnorm", "In": ["Norm"]}.
func (f *Func) UnmarshalJSON(b []byte) error {
	type plain Func
	var x struct {
		plain
		Do string
		In []string
	}
	if err := json.Unmarshal(b, &x); err != nil {
		return err
	}
	if *f = Func(x.plain); x.Do == "" {
		return nil
	}
	if x.Do == "fromfp32" || x.Do == "tofp32" {
		x.Do = Rounded().Word
	}
	i := slices.IndexFunc(library, func(c Constructor) bool { return c.Word() == x.Do })
	if i < 0 {
		return fmt.Errorf("unknown function %q: write its formula in Is", x.Do)
	}
	if c := library[i]; len(x.In) != c.Operands {
		return fmt.Errorf("tensors of %s: want %d, got %d", x.Do, c.Operands, len(x.In))
	}
	*f = library[i].Of(x.In...)
	f.Epsilon = x.Epsilon
	return nil
}
