package mutate

// Prover is the opinion that mutants are judged by.
var Prover Checker = Explore
