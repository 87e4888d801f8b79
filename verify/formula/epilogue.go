package formula

import "ovgen/schedule"

// Epilogue is a function that the library of products applies, evaluated on single numbers and without rounding.
type Epilogue struct{ nodes []schedule.Node }

// FindEpilogue finds the epilogue with a word, by its formula.
func FindEpilogue(word string) (e Epilogue, ok bool) {
	for _, f := range schedule.Epilogues() {
		if f.Word == word {
			return Epilogue{schedule.Nodes(f.Is)}, true
		}
	}
	return e, false
}

// Of applies the function to each number.
func (e Epilogue) Of(list ...float64) []float64 {
	row := Row{}
	for _, x := range list {
		row.X = append(row.X, Point(x))
	}
	made := make([]float64, len(list))
	for i, v := range row.Of(e.nodes) {
		made[i] = v.Want
	}
	return made
}
