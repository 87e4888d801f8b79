// Package same holds the host program that package lower makes of a schedule against the one that a frozen copy of it
// made (package old). Programs are compared by the operations of every rank, as a partial order: names of the plan's
// memory, words, streams and events may differ. Package tests alone use it.
package same
