package schedule

import (
	"slices"
	"sync"
)

// The maker of a result applies trees to the result before it is rounded. The library of products applies a row
// and an epilogue; the kernel that adds up partial results applies trees of each element. A separate kernel makes any
// other function.

// adds is the tensor of a function x + tensor, where the tensor lies as leaf says; empty for another tree.
func (f Func) adds(leaf Do) string {
	if e := f.Is; e.Do == DoPlus && len(e.Of) == 2 && e.Of[0].isX() && e.Of[1].Do == leaf {
		return e.Of[1].Tensor
	}
	return ""
}

// AddsRow is the tensor that the function adds to each row, if it does nothing else; empty for another function.
func (f Func) AddsRow() string { return f.adds(DoRow) }

// Adds is the tensor that the function adds at the same place, if it does nothing else; empty for another function.
func (f Func) Adds() string { return f.adds(DoOf) }

// epilogues are the functions that the library of products applies. The library knows them by their words.
var epilogues = []Func{ReLU(), GELU()}

// Epilogues are the functions that the library of products applies. The library knows them by their words.
func Epilogues() []Func { return slices.Clone(epilogues) }

// Epilogue is the word of the library's function with the same tree; empty where the library of products has none.
func (f Func) Epilogue() string { return epilogueWords()[Key(Nodes(f.Is))] }

// epilogueWords are the words of epilogues by the texts of their trees.
var epilogueWords = sync.OnceValue(func() map[string]string {
	words := map[string]string{}
	for _, e := range epilogues {
		words[Key(Nodes(e.Is))] = e.Word
	}
	return words
})

// Bias is the tensor that the operation adds to each row, empty where there is none.
func (o Op) Bias() string { return o.first(Func.AddsRow) }

// Added is the tensor that the operation adds to its result, or to the sum, empty where there is none.
func (o Op) Added() string { return o.first(Func.Adds) }

// first is the tensor of the first function that adds one in this way and does not join.
func (o Op) first(adds func(Func) string) string {
	for _, f := range o.Then {
		if tensor := adds(f); tensor != "" && !f.Joins {
			return tensor
		}
	}
	return ""
}
