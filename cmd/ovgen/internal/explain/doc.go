// Package explain describes in words the steps of one rank in one run of a host program: the operations of the rank's
// list (verify/ops) by stream, with their bytes and, for each wait, the step that posts.
package explain
