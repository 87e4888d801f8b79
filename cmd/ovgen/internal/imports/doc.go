// Package imports has the rules of which part of the project may import which, and the test
// that keeps them.
package imports
