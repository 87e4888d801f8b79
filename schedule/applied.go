package schedule

import (
	"slices"
	"sync"
)

// What makes a result applies a few trees to it before it is rounded: the library of products a row and an epilogue,
// the kernel that adds up partial results a row and a tensor. A kernel of its own makes any other function.

// adds is the tensor of x + tensor, which lies as a leaf says; empty: it is another tree.
func (f Func) adds(leaf Do) string {
	if e := f.Is; e.Do == DoPlus && len(e.Of) == 2 && e.Of[0].isX() && e.Of[1].Do == leaf {
		return e.Of[1].Tensor
	}
	return ""
}

// AddsRow is the tensor that the function adds to each row, and does nothing else; empty: it is another function.
func (f Func) AddsRow() string { return f.adds(DoRow) }

// Adds is the tensor that the function adds at the same place, and does nothing else; empty: it is another function.
func (f Func) Adds() string { return f.adds(DoOf) }

// epilogues are the functions that the library of products applies, which knows them by their words.
var epilogues = []Func{ReLU(), GELU()}

// Epilogues are the functions that the library of products applies, which knows them by their words.
func Epilogues() []Func { return slices.Clone(epilogues) }

// Epilogue is the word of the function of the library of products that has the tree; empty: it has none.
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

// first is the tensor of the first function that adds one so, behind those that join.
func (o Op) first(adds func(Func) string) string {
	for _, f := range o.Then {
		if tensor := adds(f); tensor != "" && !f.Joins {
			return tensor
		}
	}
	return ""
}
