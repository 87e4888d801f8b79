// Package turn says which of many alike a test takes. By itself a test takes all of them. make test sets OVGEN_TURN to
// the number of commits, and then a test takes a part: the next commit's takes the next part, and after so many commits
// as there are parts each was taken. make soak sets OVGEN_SOAK, which takes all and, in some tests, more than all.
package turn
