package mutate

import "slices"

// ofAlike lists bugs in the comparison of operands that all ranks must hold alike.
var ofAlike = within("runtime/alike", []CodeMutant{
	{File: "runtime/alike/alike.go", Text: "the first operand stands for all", Tests: "TestDifference$",
		Old: "at := sumBytes * i;", New: "at := 0 * i;"},
	{File: "runtime/alike/alike.go", Text: "ranks compare before their stream has ended", Tests: "TestDifference$",
		Old: "err := d.StreamSynchronize(on); err != nil", New: "err := error(nil); err != nil"},
	{File: "runtime/alike/alike.go", Text: "operands of which each rank has its own are compared",
		Tests: "TestDifference$", Old: "if b.Alike {", New: "if b.Alike || b.Name == \"A\" {"},
	{File: "runtime/group/run.go", Text: "nothing is compared", Tests: "TestDifference$",
		Old: "g.config.Check && ", New: "false && "},
	{File: "runtime/group/run.go", Text: "runs that are captured are compared", Tests: "TestDifferenceCaptured",
		Old: "g.config.Check && !r.capturing", New: "g.config.Check"},
	{File: "runtime/group/checks.go", Text: "one rank compares alone", Tests: "TestOneCompares",
		Old: `, {"operands", "Check", first.Check, id.Check}`, New: ""},
	{File: "runtime/alike/alike.go", Text: "the others wait for a rank that can't read", Tests: "TestUnread",
		Old: "operands, g.Rank(), on)\n",
		New: "operands, g.Rank(), on)\n	if failed != nil {\n		return failed\n	}\n"},
	{File: "runtime/alike/alike.go", Text: "the first piece of an operand alone", Tests: "TestSums",
		Old: "at += piece {", New: "at += b.Bytes {"},
	{File: "runtime/alike/alike.go", Text: "each piece is the first one", Tests: "TestSums",
		Old: "b.At[rank]+driver.Ptr(at)", New: "b.At[rank]"},
})

// ofInvariant lists bugs by which a row gets other bits with the rows beside it.
var ofInvariant = slices.Concat(within("runtime/driver/cuda", []CodeMutant{
	{File: "runtime/driver/cuda/tune.go", Text: "algorithms in any order", Tests: "TestFakeInOrder",
		Old: "if desc.InOrder {\n		of, err", New: "if false {\n		of, err"},
	{File: "runtime/driver/cuda/order.go", Text: "no bits are compared", Tests: "TestFakeInOrder",
		Old: "err == nil && bytes.Equal(got, want[j])", New: "err == nil && (bytes.Equal(got, want[j]) || j >= 0)"},
	{File: "runtime/driver/cuda/order.go", Text: "of few rows the first product alone is compared",
		Tests: "TestFakeInOrder", Old: "from < orderRows; from +=", New: "from < 1; from +="},
	{File: "runtime/driver/cuda/order.go", Text: "of many rows the first ones alone are compared",
		Tests: "TestFakeInOrder", Old: "for i := range n {", New: "for i := range 1 {"},
	{File: "runtime/driver/cuda/product.c", Text: "algorithms that cut K", Tests: "TestFakeInOrder",
		Old: "p->shape.in_order ? ask_in_order(p, pref, choices) : ask(", New: "ask("},
}), within("verify/sim", []CodeMutant{
	{File: "runtime/driver/func.go", Text: "rows in order of an operand that has none",
		Tests: "TestConformProcess/bad_products", Old: "case d.InOrder && d.TransposedA:", New: "case false:"},
}), within("schedule", []CodeMutant{
	{File: "schedule/way_ringsum.go", Text: "a ring of products has the order of ranks", Tests: "TestInvariant",
		Old: "func (RingAccumulate) way() Facts { return Facts{Sums: true, Unordered: true}",
		New: "func (RingAccumulate) way() Facts { return Facts{Sums: true}"},
	{File: "schedule/invariant.go", Text: "tiles of a gather have the order of rows", Tests: "TestInvariant",
		Old: "case way.Multiplies && !sums:", New: "case way.Multiplies && !sums && false:"},
	{File: "schedule/invariant.go", Text: "tiles of a sum have the library's order", Tests: "TestInvariant",
		Old: "case way.Multiplies:", New: "case way.Multiplies && false:"},
	{File: "schedule/invariant.go", Text: "partial results that meet apart are rounded once", Tests: "TestInvariant",
		Old: "	s.checkOneSum(v)\n", New: ""},
	{File: "schedule/invariant.go", Text: "sums over hosts have the order of ranks", Tests: "TestInvariant",
		Old: "if len(s.Mesh) > 0 {", New: "if false {"},
	{File: "schedule/invariant.go", Text: "a call of which its author says nothing", Tests: "TestInvariant",
		Old: "o.Call != \"\" && !o.Invariant", New: "false"},
	{File: "schedule/op_call.go", Text: "the word of an author for which nothing asks", Tests: "TestInvariant",
		Old: "if o.Invariant && (o.Call == \"\" || !s.Invariant) {", New: "if false {"},
	{File: "schedule/invariant.go", Text: "sums over rows", Tests: "TestInvariant",
		Old: "strings.Contains(c.Summed(), c.In[0][:1])",
		New: "strings.Contains(c.Summed(), \"?\")"},
	{File: "schedule/signature.go", Text: "tuned takes a schedule without equal bits for one with",
		Tests: "TestSignature", Old: "case s.Invariant:", New: "case false:"},
	{File: "schedule/signature.go", Text: "tuned takes the kernels of few rows for the library",
		Tests: "TestSignature", Old: "case s.Invariant && s.FewRows > 0:", New: "case false:"},
}), within("runtime/fewrows", []CodeMutant{
	{File: "runtime/fewrows/fewrows.go", Text: "the library makes more rows than few in order", Tests: "TestMakes",
		Old: " || d.InOrder && !last.Boxes", New: ""},
	{File: "runtime/fewrows/fewrows.go", Text: "kernels by boxes make more rows than a tile has", Tests: "TestMakes",
		Old: " && !last.Boxes", New: ""},
}), within("generated/gatedmlpfewrows", []CodeMutant{
	{File: "schedule/hostir/product.go", Text: "a kernel of few rows always makes its functions", Tests: "TestRecorded",
		Old: "return rows <= 8 || columns <= oneTile ||", New: "return true ||"},
}), within("schedule/passes", []CodeMutant{
	{File: "schedule/passes/products.go", Text: "the library makes more rows than few", Tests: "TestEqualBits",
		Old: "s.By == \"\" || s.By == hostir.FewRowsKernel", New: "s.By == \"\""},
	{File: "schedule/passes/products.go", Text: "the library adds in any order", Tests: "TestEqualBits",
		Old: "x.InOrder = true", New: "x.InOrder = false"},
}))
