// Package catalog declares the schedules that ovgen ships, one file a family, as plain
// data. Each exported variable becomes a package below generated/. Aliases lists further
// names of operations that one of the schedules computes; an alias has no package.
package catalog

//go:generate go run ovgen/cmd/ovgen gen -o ../../generated .
