package templates

import (
	"fmt"
	"slices"
	"strings"

	"ovgen/runtime/kernels"
	"ovgen/schedule"
)

// Finish is the formula as the function of each element of a sum, with its code. It returns an error where an element
// needs others.
func (f Formula) Finish() (kernels.Made, *Code, error) {
	w, err := f.write()
	if err == nil && (w.groups || len(f.Then) > 0 || f.Scales != 0) {
		err = fmt.Errorf("write %s: a sum makes each element of the one at its place", w)
	}
	if n := len(w.operands); err == nil && n > kernels.MostBeside {
		err = fmt.Errorf("write %s: it reads %d tensors, and behind a sum a function reads %d", w, n,
			kernels.MostBeside)
	}
	if err != nil {
		return kernels.Made{}, nil, err
	}
	code := w.code()
	code.Made.Name = "finished"
	return w.made(), code, nil
}

// Finishes reports whether the kernel applies a function to each element of its sum.
func (k Kernel) Finishes() bool { return k.Finish != nil }

// beside are the leaves besides x.
func (c *Code) beside() []Leaf {
	return slices.DeleteFunc(slices.Clone(c.Leaves), func(l Leaf) bool { return l.Field == "x" })
}

// Operands are the leaves of a sum's function with the code that loads n elements of each, from one on.
func (k Kernel) Operands() (lines []string) {
	for _, l := range k.Finished.beside() {
		call := map[schedule.Lies]string{schedule.InPlace: "in_place<%s>(%s, p.%s, first, n);",
			schedule.ByColumn: "by_column<%s>(%s, p.%s, cell, p.columns, n);",
			schedule.ByRow:    "by_row<%s>(%s, p.%s, cell, p.columns, n);"}[l.Lies]
		lines = append(lines, fmt.Sprintf("float %s[unit];", l.Name), fmt.Sprintf(call, l.Type, l.Name, l.Field))
	}
	return lines
}

// FinishArgs are the arguments of a sum's function for element k of the loaded ones.
func (k Kernel) FinishArgs() string {
	return k.finishArgs(func(l Leaf) string { return l.Name + "[k]" })
}

// FinishAlone are the arguments of a sum's function for the element x of a cell.
func (k Kernel) FinishAlone(x string) string {
	return k.finishArgs(func(l Leaf) string {
		index := map[schedule.Lies]string{schedule.InPlace: "(u64)cell.row * p.columns + cell.column",
			schedule.ByColumn: "cell.column", schedule.ByRow: "cell.row"}[l.Lies]
		if l.Field == "x" {
			return x
		}
		return fmt.Sprintf("element_at<%s>(p.finish.%s, %s)", l.Type, l.Field, index)
	})
}

// finishArgs are the arguments of a sum's function, given that of each leaf.
func (k Kernel) finishArgs(of func(Leaf) string) string {
	var args []string
	for _, param := range k.Finished.Made.Params {
		name := param[strings.LastIndex(param, " ")+1:]
		i := slices.IndexFunc(k.Finished.Leaves, func(l Leaf) bool { return l.Name == name })
		if i >= 0 {
			name = of(k.Finished.Leaves[i])
		}
		args = append(args, name)
	}
	return strings.Join(args, ", ")
}

// FinishNumbers are lines with the numbers of the Shape that a sum's function of single elements takes.
func (k Kernel) FinishNumbers() (lines []string) {
	if k.Finished != nil {
		for _, n := range k.Finished.Numbers {
			lines = append(lines, fmt.Sprintf("const float %s = (float)p.finish.%s;", n, n))
		}
	}
	return lines
}
