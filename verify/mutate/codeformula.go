package mutate

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
