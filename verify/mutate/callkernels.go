package mutate

// callKernels are mistakes in the code that stands between a kernel of the caller's and its tensors.
var callKernels = []KernelMutant{
	{File: "device/call.h", Text: "any place behind the end", Old: "first > s.of.bytes / size || ", New: ""},
	{File: "device/call.h", Text: "a unit that begins in its tensor", Old: " || count > s.of.bytes / size - first",
		New: " || (count == 0)"},
	{File: "device/call.h", Text: "no check at all",
		Old: "engine->outside(s.call, s.name, writes, (i64)(first * size), s.of.bytes);", New: "(void)writes;"},
	{File: "device/call.h", Text: "an element named, not its byte", Old: "(i64)(first * size), s",
		New: "(i64)first, s"},
	{File: "device/call.h", Text: "elements added to what was there", Old: "      x[k] = -0.0f;  // whatever",
		New: "      x[k] += 1.0f;  // whatever"},
	{File: "device/call.h", Text: "the bits in place of the element",
		Old: "float widen(bits x) { return E::widen(x); }", New: "float widen(bits x) { return x; }"},
	{File: "device/call.h", Text: "a unit stored an element further on",
		Old: "inside(span, i, unit, sizeof(bits), 1) =", New: "inside(span, i + 1, unit, sizeof(bits), 1) ="},
	{File: "call.cu.tmpl", Text: "the first operand for all", Old: "SPAN(p.in[{{$i}}]", New: "SPAN(p.in[0 * {{$i}}]"},
	{File: "call.cu.tmpl", Text: "the first number for all", Old: "p.args[{{$i}}]", New: "p.args[0 * {{$i}}]"},
	{File: "call.cu.tmpl", Text: "the result's name for an operand's", Old: `"{{$name}}"`, New: `"{{$.Out}}"`},
	{File: "call.cu.tmpl", Text: "a first launch that does something", Old: "p.out.bytes == 0", New: "false"},
}
