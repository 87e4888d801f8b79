package mutate

import "slices"

// ofFormulas lists bugs in how a formula is printed as C++, of which TestFormulas runs what is printed.
var ofFormulas = within("templates", []CodeMutant{
	{File: "templates/formula_code.go", Text: "a mean is a sum", Tests: "TestFormulas",
		Old: "Mean: n.Do == schedule.DoMean}", New: "Mean: n.Do == schedule.DoPairs}"},
	{File: "templates/formula_code.go", Text: "the greatest of numbers below 0 is 0", Tests: "TestFormulas",
		Old: `"f_greatest", "__uint_as_float(0xff800000u)"`, New: `"f_greatest", "0.0f"`},
	{File: "templates/formula_code.go", Text: "a constant of three digits", Tests: "TestFormulas",
		Old: "strconv.FormatFloat(single, 'x', -1, 32)", New: "strconv.FormatFloat(single, 'x', 2, 32)"},
	{File: "templates/formula_piece.go", Text: "a turn of quarters for one of halves", Tests: "TestFormulas",
		Old: `w.width(n.Group)+" / 2"`, New: `w.width(n.Group)+" / 4"`},
	{File: "templates/formula_piece.go", Text: "a turn with the signs of the other half", Tests: "TestFormulas",
		Old: `return first + " ? " + negative(x) + " : " + x`, New: `return first + " ? " + x + " : " + negative(x)`},
	{File: "templates/formula_piece.go", Text: "one more of the first columns", Tests: "TestFormulas",
		Old: `fmt.Sprintf("%s < %g", w.column`, New: `fmt.Sprintf("%s <= %g", w.column`},
})

// ofIntervals lists bugs in the intervals of elements.
var ofIntervals = slices.Concat(within("verify/formula", []CodeMutant{
	{File: "verify/formula/value.go", Text: "every element may be NaN", Tests: "TestNaN",
		Old: "	return v.Lo <= x && x <= v.Hi\n", New: "	return !(x < v.Lo || v.Hi < x)\n"},
	{File: "verify/formula/value.go", Text: "a number where every device has NaN", Tests: "TestNaN",
		Old: "return x != x || !v.IsNaN()", New: "return true"},
	{File: "verify/formula/value.go", Text: "zeros over zeros are numbers", Tests: "TestNaN",
		Old: "case a.hasZero() || infinite", New: "case infinite"},
	{File: "verify/formula/value.go", Text: "all devices have NaN where some may", Tests: "TestNaN",
		Old: "		return Unsure()\n", New: "		return made\n"},
	{File: "verify/formula/sum.go", Text: "infinities of two signs add up to a number", Tests: "TestNaNOfGroups",
		Old: "either == 1 && (up || down), up && down:", New: "either == 1 && (up || down):"},
}), within("verify/reference", []CodeMutant{
	{File: "verify/reference/product.go", Text: "an infinity times zero is zero", Tests: "TestNaNOfProducts",
		Old: "wild || !x.IsFinite()", New: "wild || x.MayBeNaN()"},
	{File: "verify/reference/product.go", Text: "partial sums of two infinities are a number",
		Tests: "TestNaNOfProducts", Old: "return math.NaN()", New: "return math.Inf(1)"},
	{File: "verify/reference/rows.go", Text: "what may be NaN is a number", Tests: "TestNaNOfProducts",
		Old: " || w.offs != nil && !finite(w.offs[i])", New: ""},
	{File: "verify/reference/values.go", Text: "NaN as a number of four bits, and none else", Tests: "TestNaNInTypes",
		Old: "!x.IsNaN() && !f.of.NaN()", New: "x.IsNaN() && !f.of.NaN()"},
	{File: "verify/reference/draw.go", Text: "NaN is drawn as exact", Tests: "TestNaNOfFunctions",
		Old: "exact && v.IsPoint() && v.IsFinite()", New: "exact && v.IsPoint()"},
}))
