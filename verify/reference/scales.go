package reference

// largestScale is that of inputs: scales are 1 or 2.
const largestScale = 2

// times are elements of rows with their scales, or with the one that all have. Scales are powers of two: the product is
// exact.
func (v Values) times(scales Values) Values {
	made, row := newValues(len(v.Want)), len(v.Want)/len(scales.Want)
	for i := range made.Want {
		x := v.Want[i] * scales.Want[i/row]
		made.Want[i], made.Lo[i], made.Hi[i] = x, x, x
	}
	return made
}
