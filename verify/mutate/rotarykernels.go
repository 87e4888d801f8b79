package mutate

// rotaryKernels are mistakes in the rotary embedding.
var rotaryKernels = []KernelMutant{
	{File: "device/rotary.h", Text: "turned the other way", Old: "x * cosine - y * sine", New: "x * cosine + y * sine"},
	{File: "device/rotary.h", Text: "a partner that is not turned back", Old: "y * cosine + x * sine",
		New: "y * cosine - x * sine"},
	{File: "device/rotary.h", Text: "the sine for the cosine", Old: "cosine = E::widen(angle[0])",
		New: "cosine = E::widen(angle[half])"},
	{File: "device/rotary.h", Text: "the angles of the first row", Old: "(const bits *)table + row * width + j",
		New: "(const bits *)table + j"},
	{File: "device/rotary.h", Text: "the next column for the partner",
		Old: "y = E::widen(((const bits *)src)[first + half])", New: "y = E::widen(((const bits *)src)[first + 1])"},
	{File: "device/rotary.h", Text: "one head alone", Old: "pair / half * width + j", New: "j"},
	{File: "device/rotary.h", Text: "pairs beyond the head", Old: "j = pair % half", New: "j = pair"},
	{File: "device/rotary.h", Text: "not the last row", Old: "i < rows * pairs", New: "i + pairs < rows * pairs"},
	{File: "rotary.cu.tmpl", Text: "operand and table swapped", Old: "p.operand, p.count, p.table",
		New: "p.table, p.count, p.operand"},
}
