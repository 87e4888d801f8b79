package mutate

// fp32Kernels are mistakes in sums that are kept in fp32, whose kernel is one of its own: its result has another size
// than its terms.
var fp32Kernels = []KernelMutant{
	{File: "device/widen.h", Text: "terms that are aligned otherwise", Old: "head < count && apart % 16 == 0 &&",
		New: "head < count &&"},
	{File: "device/widen.h", Text: "units of a result that is not aligned",
		Old: " && ((u64)dst + head * 4) % 16 == 0 ? head", New: " ? head"},
	{File: "device/widen.h", Text: "a unit without its last term",
		Old: "for (unsigned t = 0; t < n; t++) {\n      add<E>",
		New: "for (unsigned t = 0; t + 1 < n; t++) {\n      add<E>"},
	{File: "device/widen.h", Text: "one by one without the last term",
		Old: "for (unsigned t = 1; t < n; t++) {\n      x +=",
		New: "for (unsigned t = 1; t + 1 < n; t++) {\n      x +="},
	{File: "device/widen.h", Text: "a unit without the row", Old: "    row.add(x, at, unit);\n", New: ""},
	{File: "device/widen.h", Text: "one by one without the row", Old: "    row.add(&x, at, 1);\n", New: ""},
	{File: "device/widen.h", Text: "the row of the first unit", Old: "row.add(x, at, unit)",
		New: "row.add(x, 0, unit)"},
	{File: "device/widen.h", Text: "a sum that is rounded", Old: "((float *)dst)[at] = x;",
		New: "((float *)dst)[at] = E::widen(E::narrow(x));"},
	{File: "device/widen.h", Text: "a unit that is rounded", Old: "v.x = __float_as_uint(x[k]);",
		New: "v.x = __float_as_uint(E::widen(E::narrow(x[k])));"},
}
