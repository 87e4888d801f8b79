// Package old is a frozen lowering: verify/same holds the programs of package lower against its programs. It is
// changed only so that it compiles.
package old
