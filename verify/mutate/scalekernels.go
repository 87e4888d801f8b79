package mutate

// scaleKernels are mistakes in kernels that make eight bits or read some: in which scale a row gets, in how large it
// is, and in which byte an element lies.
var scaleKernels = []KernelMutant{
	{File: "pieces.tmpl", Text: "the scale of the row before", Old: "p.scales)[group] =",
		New: "p.scales)[group - (group > 0)] ="},
	{File: "pieces.tmpl", Text: "one scale for the rows of a block", Old: "lane == 0 && units > 0",
		New: "threadIdx.x == 0 && units > 0"},
	{File: "pieces.tmpl", Text: "scales of rows that are not there", Old: "lane == 0 && units > 0", New: "lane == 0"},

	{File: "device/scale.h", Text: "a power that is too small", Old: " + 0x7fffffu", New: ""},
	{File: "device/scale.h", Text: "twice the power", Old: " + 0x7fffffu", New: " + 0x800000u"},
	{File: "device/scale.h", Text: "no scale for a row of zeros", Old: "exponent < 1 ? 1 :", New: "exponent < 1 ? 0 :"},
	{File: "device/scale.h", Text: "a power that has no opposite", Old: "exponent > 253 ? 253",
		New: "exponent > 254 ? 254"},
	{File: "device/scale.h", Text: "an infinity that counts", Old: "? 0.0f : a", New: "? a : a"},
	{File: "device/scale.h", Text: "codes of half the size", Old: "(254u << 23)", New: "(253u << 23)"},

	{File: "device/eightunits.h", Text: "bytes in the other order", Old: "v.bytes >> 8 * k)",
		New: "v.bytes >> 8 * (7 - k))"},
	{File: "device/eightunits.h", Text: "a byte stored one place on", Old: "<< 8 * k; }", New: "<< 8 * (k ^ 1); }"},
	{File: "device/eightunits.h", Text: "a byte put in at the front", Old: "(u64)bits << 56", New: "(u64)bits"},
	{File: "device/eightunits.h", Text: "four bytes of eight", Old: "return {*(const u64 *)(from + at)};",
		New: "return {*(const unsigned *)(from + at)};"},
}
