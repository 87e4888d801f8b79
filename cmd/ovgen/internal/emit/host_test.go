package emit

import (
	"strings"
	"testing"
)

// TestHost: packages with the same kernels share their C++, and a file tells the simulator of each.
func TestHost(t *testing.T) {
	files := packages(t, program(t, "InTurn", inTurn()), program(t, "Other", inTurn()), wholesale())
	for name, want := range map[string]bool{"host/inturn_host.cc": true, "host/other_host.cc": false,
		"host/wholesale_host.cc": true, "host/run_host.cc": true} {
		if _, has := files[name]; has != want {
			t.Errorf("%s is there: %v, want %v", name, has, want)
		}
	}
	text := string(files["host/kernels.go"])
	for _, want := range []string{`sim.Compiled("inturn"`, `sim.Compiled("other"`, `sim.Compiled("wholesale"`,
		`sim.Compiled("run"`} {
		if strings.Count(text, want) != 1 {
			t.Errorf("%q is not there once:\n%s", want, text)
		}
	}
	if n := strings.Count(text, "unsafe.Pointer(C.inturn_kernels)"); n != 2 {
		t.Errorf("%d packages use the kernels of inturn, want 2:\n%s", n, text)
	}
	vendor := string(files["host/vendor.go"])
	if !strings.Contains(vendor, "made/inturn\"") || strings.Contains(vendor, "made/other\"") {
		t.Errorf("go mod vendor copies the wrong packages:\n%s", vendor)
	}
}
