// Package prove shows that a schedule is safe.
package prove
