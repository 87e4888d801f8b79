// Package opstest spoils lists of operations for the tests of what reads them.
package opstest
