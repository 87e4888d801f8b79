// Package sampling says which of many alike a test takes. By itself a test takes all of them. make test sets
// OVGEN_SAMPLE to the number that the commit's hash begins with, and then a test takes a part: each commit takes parts
// of its own, and the same ones whenever it is tested. make soak sets OVGEN_SOAK, which takes all and, in some tests,
// more than all.
package sampling
