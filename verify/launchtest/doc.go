// Package launchtest follows, for tests, the processes of ranks: each leaves a note in
// a folder that its test made.
package launchtest
