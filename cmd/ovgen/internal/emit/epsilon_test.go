package emit

import (
	"slices"
	"strings"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
)

// The shape of a package whose formulas read it has an epsilon, in C behind all else, and no other shape has one.
func TestEpsilon(t *testing.T) {
	files, err := Packages([]Input{program(t, "Heads", catalog.NormedHeads), program(t, "Plain", matmul())},
		Options{ImportPath: "example.com/user/made", Compiler: fake{}, Library: "../c"})
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string][]string{
		"heads/program.go": {"Epsilon ", "numbers.Epsilon(s.Epsilon).Check()", "+ numbers.Epsilon(s.Epsilon).String()",
			"p.epsilon = numbers.Epsilon(s.Epsilon).Value()", ".Number(p.epsilon).Make("},
		"../c/heads_c.go": {"float32(s.Epsilon)"},
		"../c/ovgen.h":    {"int element; // OVGEN_BF16, OVGEN_FP16, OVGEN_FP32\n  double Epsilon; // "},
	} {
		for _, text := range want {
			if !strings.Contains(string(files[file]), text) {
				t.Errorf("%s has no %q", file, text)
			}
		}
	}
	for _, file := range []string{"plain/program.go", "../c/plain_c.go"} {
		if strings.Contains(strings.ToLower(string(files[file])), "epsilon") {
			t.Errorf("%s has an epsilon", file)
		}
	}
	s := catalog.NormedHeads
	s.Ops = slices.Clone(s.Ops)
	s.Ops[0].Then = append(slices.Clone(s.Ops[0].Then),
		schedule.Func{Is: schedule.Times(schedule.X, schedule.Param("Agathered"))})
	const want = "buffer Agathered and number Agathered of its shape would both be field agathered of its Plan"
	if err := CheckNames(program(t, "Heads", s)); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
}
