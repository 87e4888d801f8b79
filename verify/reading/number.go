package reading

import "hash/fnv"

// Number is what tests take for a number of the Shape, other than its epsilon. Another name most often has another
// number. Few digits are exact in all types.
func Number(name string) float64 {
	h := fnv.New32()
	h.Write([]byte(name)) // never an error
	return .5 + float64(h.Sum32()>>8%64)/128
}
