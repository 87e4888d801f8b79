package lower_test

import (
	"regexp"
	"slices"
	"testing"

	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/schedule/passes"
)

var divided = regexp.MustCompile(`/1\b`)

// TestNoDivisionByOne: the programs that ways write divide by no one.
func TestNoDivisionByOne(t *testing.T) {
	for _, n := range catalog.All() {
		_, err := lower.Behind(n.Name, n.Schedule, func(pass passes.Pass, p *hostir.Program) {
			if text := hostir.Print(p); pass.Name == lower.Written.Name && divided.MatchString(text) {
				t.Errorf("%s: %s", n.Name, text)
			}
		})
		if err != nil {
			t.Errorf("%s: %v", n.Name, err)
		}
	}
}

// TestPassesOfAGather: the program of AllGatherLinear is as docs/design.md says in the last step of its walk. Its
// text changes by the exchange of handles alone.
func TestPassesOfAGather(t *testing.T) {
	var changed []string
	last := ""
	_, err := lower.Behind("x", catalog.AllGatherLinear, func(pass passes.Pass, p *hostir.Program) {
		if text := hostir.Print(p); text != last {
			changed, last = append(changed, pass.Name), text
		}
	})
	if want := []string{lower.Written.Name, "handles"}; err != nil || !slices.Equal(changed, want) {
		t.Errorf("%q change the program, want %q: %v", changed, want, err)
	}
}
