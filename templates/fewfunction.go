package templates

import (
	"fmt"
	"slices"
	"strings"

	"ovgen/runtime/fewrows"
	"ovgen/runtime/kernels"
	"ovgen/schedule"
)

// FewFunction is a function of products of few rows with its code.
type FewFunction struct {
	*fewrows.Function
	Sum  *Code // of the epilogue; nil: there is none
	Code *Code // of the function of the rounded result; nil: there is none
}

// fewFunction is a function with the code of its formulas.
func (d Device) fewFunction(f *fewrows.Function) FewFunction {
	x := FewFunction{Function: f}
	if f.Made != nil {
		x.Code = d.Formulas[f.Made.Word]
	}
	for _, e := range schedule.Epilogues() {
		if e.Word == f.Epilogue {
			_, x.Sum, _ = Formula{Trees: []schedule.Expr{e.Is}}.Kernel() // an epilogue has no operands
		}
	}
	return x
}

// Piece is a piece with the function that has it.
func (f FewFunction) Piece(p Piece) named { return named{f.Name(), p} }

// OfSum is the function that computes the epilogue of a sum.
func (f FewFunction) OfSum() Piece {
	p := f.Sum.Made
	p.Name = f.Epilogue
	return p
}

// taken is an operand that the function reads ahead: the number of its address, and the place of its element.
type taken struct {
	Leaf
	Number int
	Place  string
}

// Taken are the operands besides the result.
func (f FewFunction) Taken() (list []taken) {
	if f.Code == nil {
		return nil
	}
	number := 0
	for _, field := range f.Code.Fields {
		if field.Type != operandField {
			continue
		}
		for _, l := range f.Code.Leaves {
			if l.Field == field.Name {
				list = append(list, taken{l, number, places[l.Lies]})
			}
		}
		number++
	}
	return list
}

// TakenNames are the names of these operands.
func (f FewFunction) TakenNames() (names []string) {
	for _, t := range f.Taken() {
		names = append(names, t.Name)
	}
	return names
}

// places are the places of operands' elements.
var places = map[schedule.Lies]string{schedule.InPlace: "at.row * p.columns + at.column",
	schedule.ByColumn: "at.column", schedule.ByRow: "at.row"}

// Args are the arguments of the function of an element: the result x, the taken operands, and numbers of the Shape.
func (f FewFunction) Args() (args []string) {
	for _, param := range f.Code.Made.Params {
		name := strings.TrimPrefix(param, "float ")
		if i := slices.Index(f.Code.Numbers, name); i >= 0 {
			name = fmt.Sprintf("(float)p.numbers[%d]", i)
		} else if slices.ContainsFunc(f.Taken(), func(t taken) bool { return t.Name == name }) {
			name = "o." + name
		}
		args = append(args, name)
	}
	return args
}

// made are the functions of all kernels of the package.
func (d Device) made() (list []kernels.Made) {
	for _, k := range d.Table.Kernels {
		list = append(list, allMade(k)...)
	}
	for _, f := range d.functions() {
		if f.Made != nil {
			list = append(list, *f.Made)
		}
	}
	return list
}
