package reading

import "hash/fnv"

// Number is the value that tests use for a number of the Shape other than its epsilon. Different names mostly have
// different numbers. A number with few digits is exact in all types.
func Number(name string) float64 {
	h := fnv.New32()
	h.Write([]byte(name)) // never an error
	return .5 + float64(h.Sum32()>>8%64)/128
}
