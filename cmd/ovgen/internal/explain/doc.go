// Package explain describes a host program in words: which products run beside each of its communications, and the
// steps of one rank in one run. These are the operations of the rank's list (verify/ops) by stream, with their bytes
// and, for each wait, the step that posts.
package explain
