// Package opstest spoils lists of operations for the tests of their readers.
package opstest
