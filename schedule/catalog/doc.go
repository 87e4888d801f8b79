// Package catalog declares the schedules that ovgen ships, one file a family, as
// plain data. Each exported variable becomes a package below generated/. What another
// schedule computes under another name is listed by Aliases and has none.
package catalog

//go:generate go run ovgen/cmd/ovgen gen -o ../../generated .
