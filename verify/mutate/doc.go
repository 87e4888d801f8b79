// Package mutate breaks programs on purpose. For a schedule it makes every program that differs from the right one by
// one small mistake: a part left out, moved, doubled, pointed at the wrong rank or put on the wrong stream, in the host
// program that all ranks share or in the operations of one rank. If the prover passes a mutant that the explorer
// breaks, the prover has a hole; package mutate finds it.
//
// A mutant is caught if the prover refuses it and the explorer has broken it. It is safe if both find nothing; then the
// path that still orders each affected pair is shown. It is warned if it is safe but lets fewer copies and products run
// side by side, and a survivor if the two disagree.
//
// The templates of device code have mutants too. The tests of package templates run the kernels on the host. Such a
// mutant is caught if they fail with it; safe if it is right by PTX's memory model and they pass; and a survivor
// otherwise. Emitted packages have mutants that the recorder must notice. Hand-written code, with the checkers, has
// mutants that a named test must notice.
package mutate
