// Package numbers has the numbers of Shapes beside their extents. Packages whose formulas read one import it.
package numbers
