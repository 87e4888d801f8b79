package hostir_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
)

// Each function of the catalogue is applied by something, and here by what.
func TestFunctions(t *testing.T) {
	want := map[string]string{
		"AllGatherLinear":      "bias(Bias) of C by the library of products",
		"AllGatherLinearTiles": "bias(Bias) of C by the kernel that multiplies",
		"BlockBehindAttention": "add(Residual) of R, add(R) of C by the kernel that sums; " +
			"rmsnorm(Norm) of X, swiglu(U) of G by a kernel of its own",
		"LayerNormLinear": "layernorm(Norm, Offset, epsilon 1e-06) of X by a kernel of its own; " +
			"bias(Bias) of C by the library of products",
		"MixedMLP": "rounded of X by a kernel of its own; gelu of H by the library of products; " +
			"bias(Bias2) of C by the kernel that sums",
		"RotaryAttention": "rmsnorm(Norm) of X, rotary(Angles) of Query, rotary(Angles) of Key by a kernel " +
			"of its own; add(A) of C by the kernel that sums",
	}
	for _, d := range catalog.All() {
		p, err := lower.Lower(d.Name, d.Schedule)
		if err != nil {
			t.Fatal(err)
		}
		list := p.FunctionsBy()
		for _, a := range list {
			if strings.HasSuffix(a.String(), " by ") {
				t.Errorf("%s: nothing applies %s of %s", d.Name, a.Function, a.Of)
			}
		}
		if text, named := want[d.Name]; named {
			if diff := cmp.Diff(text, hostir.Sentences(list)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", d.Name, diff)
			}
		}
	}
}

// TestResultsAreWritten: each step with work writes its result.
func TestResultsAreWritten(t *testing.T) {
	for _, d := range catalog.All() {
		p, err := lower.Lower(d.Name, d.Schedule)
		if err != nil {
			t.Fatal(err)
		}
		hostir.Steps(p.Body, func(s hostir.Step) {
			_, writes := s.Views()
			same := func(v hostir.View) bool { return v.String() == s.Result().String() }
			if s.Do != nil && !slices.ContainsFunc(writes, same) {
				t.Errorf("%s: a %s makes %s, and does not write it", d.Name, s.Kind(), s.Result())
			}
		})
	}
}
