// Package numbers has the numbers of Shapes besides their extents. Packages whose formulas read one import it.
package numbers
