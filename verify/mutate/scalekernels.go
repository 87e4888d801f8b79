package mutate

// scaleKernels are mistakes in kernels that make codes or read some: in which scale a row gets, in how large it
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
	{File: "device/scale.h", Text: "an infinity that counts", Old: "? a : 0.0f", New: "? a : a"},
	{File: "device/scale.h", Text: "codes of half the size", Old: "(254u << 23)", New: "(253u << 23)"},

	{File: "device/scale.h", Text: "a scale that is rounded down", Old: "(size + dropped)", New: "size"},
	{File: "device/scale.h", Text: "a scale of one digit less", Old: "(1u << 20) - 1,", New: "(1u << 21) - 1,"},
	{File: "device/scale.h", Text: "the step above a small scale", Old: "whole < steps ?", New: "whole <= steps ?"},
	{File: "device/scale.h", Text: "no scale for a block of zeros", Old: ", 1.0f), 0x1p-9f", New: ", 0.0f), 0x1p-9f"},
	{File: "device/scale.h", Text: "a scale that does not saturate", Old: "~dropped), 448.0f)",
		New: "~dropped), 3e38f)"},
	{File: "device/scale.h", Text: "a NaN that is a scale of 448", Old: "if (size > 0x7f800000u) {",
		New: "if (false) {"},

	{File: "device/four.h", Text: "halves of a byte swapped", Old: "v.word >> 4 * k & 15u",
		New: "v.word >> 4 * (k ^ 1) & 15u"},
	{File: "device/four.h", Text: "halves stored in the other order", Old: "bits << 4 * k;",
		New: "bits << 4 * (k ^ 1);"},
	{File: "device/four.h", Text: "halves swapped where they are apart", Old: ">> at % 2 * 4",
		New: ">> (at + 1) % 2 * 4"},
	{File: "device/four.h", Text: "half a byte lost where they are apart", Old: "4 * k & 0xffu", New: "4 * k & 0xfu"},
	{File: "device/four.h", Text: "a byte for each element", Old: "(from + at / 2)", New: "(from + at)"},
	{File: "device/four.h", Text: "stored a byte for each element", Old: "(to + at / 2)", New: "(to + at)"},
	{File: "device/four.h", Text: "ties of four bits that go up", Old: "__uint_as_float(size) +",
		New: "__uint_as_float(size + 1) +"},
	{File: "device/four.h", Text: "subnormals of four bits lost", Old: "size > least ? size : least",
		New: "size > least ? size : least + (1u << 23)"},
	{File: "device/four.h", Text: "no greatest number of four bits", Old: "most = 0x40c00000u;",
		New: "most = 0x40800000u;"},
	{File: "device/four.h", Text: "a NaN with a sign", Old: "? 7u :", New: "? (all >> 28 & 8u) | 7u :"},
	{File: "device/four.h", Text: "a sign in the wrong place", Old: "(x & 8u) << 28", New: "(x & 8u) << 27"},

	{File: "device/eightunits.h", Text: "bytes in the other order", Old: "v.bytes >> 8 * k)",
		New: "v.bytes >> 8 * (7 - k))"},
	{File: "device/eightunits.h", Text: "a byte stored one place on", Old: "<< 8 * k; }", New: "<< 8 * (k ^ 1); }"},
	{File: "device/eightunits.h", Text: "a byte put in at the front", Old: "(u64)bits << 56", New: "(u64)bits"},
	{File: "device/eightunits.h", Text: "four bytes of eight", Old: "return {*(const u64 *)(from + at)};",
		New: "return {*(const unsigned *)(from + at)};"},
}
