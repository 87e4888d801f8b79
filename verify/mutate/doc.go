// Package mutate breaks programs on purpose. For a schedule it makes every program
// that differs from the right one by one small mistake: something left out, moved,
// doubled, pointed at the wrong rank or put on the wrong stream, in the host program
// that all ranks share or in the operations of one rank. A prover that lets a mutant
// pass which the explorer breaks has a hole; package mutate finds it.
//
// A mutant is caught when the prover refuses it and the explorer has broken it; safe
// when both find nothing, and then the path that still orders each affected pair is
// shown; warned when it is safe but lets fewer copies and products run side by side;
// and a survivor when the two disagree.
//
// The templates of device code have mutants too. One is caught when the tests of package
// templates, which run the kernels on the host, fail with it; safe when it is right by PTX's
// memory model and they pass; and a survivor otherwise. Emitted packages have mutants that the
// recorder must notice, and hand-written code, the checkers' too, has some that a named test must.
package mutate
