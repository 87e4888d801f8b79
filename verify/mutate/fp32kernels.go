package mutate

// fp32Kernels are mistakes in sums that are kept in fp32, whose result has larger elements than their terms.
var fp32Kernels = []KernelMutant{
	{File: "device/sum.h", Text: "terms that are aligned otherwise", Old: "apart % 16 == 0 && head < count",
		New: "head < count"},
	{File: "device/sum.h", Text: "units of a result that is not aligned",
		Old: " && ((u64)dst + (from + head) * sizeof(typename To::bits)) % 16 == 0) {", New: ") {"},
	{File: "device/sum.h", Text: "a unit without its last term", Old: "if (t + j < n) {", New: "if (t + j + 1 < n) {"},
	{File: "device/sum.h", Text: "a unit without the function",
		Old: "        finish(x[u], start + (i + u * stride) * unit, unit);\n", New: ""},
	{File: "device/sum.h", Text: "the function of the first unit",
		Old: "finish(x[u], start + (i + u * stride) * unit, unit)", New: "finish(x[u], start, unit)"},
	{File: "device/sum.h", Text: "a sum that is rounded", Old: "To::narrow(x[0]);",
		New: "To::narrow(E::widen(E::narrow(x[0])));"},
	{File: "device/sum.h", Text: "the first part of a unit stored twice", Old: "rounded<To>(x[u] + k)",
		New: "rounded<To>(x[u])"},
	{File: "device/sum.h", Text: "units as far apart as those of the terms",
		Old: "dst + at * sizeof(typename To::bits)", New: "dst + at * sizeof(bits)"},
	{File: "sums.cu.tmpl", Text: "a sum that is kept in the plan's type", Old: "sum<{{.SumOf}}>", New: "sum<E>"},
}
