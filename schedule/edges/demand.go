package edges

import (
	"slices"
	"strings"

	"ovgen/schedule"
)

// A declared result is wanted where it is declared. The later operations say where another result is wanted.

// wish says where the result of an operation is wanted.
func (w *Walk) wish(o schedule.Op) wish {
	if t, declared := w.Tensor(o.Out); declared {
		return wish{state: Of(t), known: true, cut: rowsCut(t)}
	}
	if w.IsTerm(o.Out) {
		return wish{state: State{Partial: true}, known: true}
	}
	if t, declared := w.Tensor(o.Added()); declared {
		return wish{whole: !rowsCut(t)}
	}
	if s, made := w.At(o.Added()); made {
		return wish{whole: !s.Rows()}
	}
	if w.wantedByRows(o) || w.weightsTravel(o) {
		return wish{state: w.rows(o.Out), known: true}
	}
	return wish{whole: w.wantedWhole(o.Out) || w.beside(o)}
}

// wantedByRows reports whether columns are copied for a product of each rank's rows by a weight that every rank has.
func (w *Walk) wantedByRows(o schedule.Op) bool {
	x, _ := w.At(o.In[0])
	return o.Copies() && x.Columns() && slices.ContainsFunc(w.Ops, func(p schedule.Op) bool {
		t, declared := w.Tensor(p.Out)
		return len(p.In) == 2 && p.In[0] == o.Out && w.keepsRows(p) && declared && Of(t) == w.rows(p.Out)
	})
}

// weightsTravel reports whether a product makes rows of rows, and its weight travels to them.
func (w *Walk) weightsTravel(o schedule.Op) bool {
	x, known := w.At(o.In[0])
	return known && x.Rows() && w.ofColumns(o) && w.takenByRows(o.Out)
}

// takenByRows reports whether all operations that read a tensor, or a tensor made of it, end with products by columns
// of weights that are declared as rows.
func (w *Walk) takenByRows(tensor string) bool {
	read := false
	for _, o := range w.Ops {
		if !o.Reads(tensor) {
			continue
		}
		t, declared := w.Tensor(o.Out)
		operand := slices.Contains(o.In, tensor) // of the product, and not of functions behind it
		switch read = true; {
		case o.Call != "", operand && len(o.In) == 1 && declared: // columns that are exchanged for rows
			return false
		case operand && len(o.In) > 1 && (o.In[0] != tensor || !w.ofColumns(o)):
			return false
		case declared && Of(t) != w.rows(o.Out), !declared && !w.takenByRows(o.Out):
			return false
		}
	}
	return read
}

// beside reports whether an operation works on rows alone while other operations need all rows of its result, and all
// rows of its operand travel for another operation anyway. Then every rank makes all rows of the result, and only the
// operand travels. An example is the first product of a LoRA, beside a weight that is spread by columns.
func (w *Walk) beside(o schedule.Op) bool {
	if o.Call != "" || len(o.In) != 2 || !w.keepsRows(o) {
		return false
	}
	x, known := w.At(o.In[0])
	reads := func(name string) (list []schedule.Op) {
		for _, p := range w.Ops {
			if p.Out != o.Out && slices.Contains(append(slices.Clone(p.In), p.Added()), name) {
				list = append(list, p)
			}
		}
		return list
	}
	of := reads(o.Out)
	return known && x.Rows() && len(of) > 0 && slices.ContainsFunc(reads(o.In[0]), w.ofColumns) &&
		!slices.ContainsFunc(of, func(p schedule.Op) bool { return !w.ofColumns(p) })
}

// ofColumns reports whether an operation multiplies all rows of its operand by the columns of a weight that a rank has.
func (w *Walk) ofColumns(o schedule.Op) bool {
	c, err := w.Contraction(o)
	if err != nil || o.Call != "" || len(o.In) != 2 {
		return false
	}
	weight, known := w.At(o.In[1])
	return known && weight.Spread() && strings.IndexByte(c.Out, c.In[1][weight.Axis-1]) > 0
}

// rowsCut reports whether a tensor's rows are in parts, spread over the ranks or made one after another.
func rowsCut(t schedule.Tensor) bool { return len(t.Axes) > 0 && len(t.Axes[0].Outer) > 0 }

// wantedWhole reports whether every rank needs all rows of a tensor that is not declared: a call takes the tensor, or
// an operation that keeps its rows has a result that is declared whole or is itself needed whole.
func (w *Walk) wantedWhole(tensor string) bool {
	return slices.ContainsFunc(w.Ops, func(o schedule.Op) bool {
		reads := slices.Contains(o.In, tensor)
		switch {
		case o.Call != "" && w.OfOwnRows(o):
			return reads && !w.hasRows(o, tensor)
		case o.Call != "":
			return reads
		case o.Added() == tensor:
			return w.wholeRows(o.Out)
		case !reads || !w.keepsRows(o):
			return false
		}
		return w.wholeRows(o.Out)
	})
}

// hasRows reports whether the first axis of an operand is the rows of the result.
func (w *Walk) hasRows(o schedule.Op, operand string) bool {
	c, _ := w.Contraction(o) // Validate has read it
	for k, name := range o.In {
		if name == operand && len(c.In[k]) > 0 && c.In[k][0] == c.Rows() {
			return true
		}
	}
	return false
}

// wholeRows reports whether every rank has all rows of a tensor, if it is declared, or else needs them.
func (w *Walk) wholeRows(tensor string) bool {
	if t, declared := w.Tensor(tensor); declared {
		return Of(t) == State{}
	}
	return w.wantedWhole(tensor)
}

// keepsRows reports whether an operation makes each row of its result from the same row of its operand, on the rank
// that has the row: by functions, or by a product with a weight that every rank has.
func (w *Walk) keepsRows(o schedule.Op) bool {
	if len(o.In) == 1 {
		return true
	}
	weight, given := w.At(o.In[1])
	return given && weight == State{}
}
