package run

import (
	"encoding/json"
	"strings"
	"testing"

	"ovgen/generated/allgatherlinear"
	"ovgen/generated/programs"
	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/verify/harness"
)

// listOf is what "run list FLAGS" prints of some programs.
func listOf(t *testing.T, list []harness.Program, flags ...string) string {
	t.Helper()
	c, err := parse(append([]string{"list"}, flags...), list)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	c.(*listCommand).list(&b)
	return b.String()
}

// list prints the memory that Shape.Memory computes.
func TestListedMemory(t *testing.T) {
	p := generated(t, "allgatherlinear")
	want, err := allgatherlinear.Shape{M: 96, K: 40, N: 56, Type: device.FP32}.Memory(3)
	if err != nil {
		t.Fatal(err)
	}
	amounts, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	out := listOf(t, []harness.Program{p}, "-json", "-ranks", "3", "-m", "96", "-k", "40", "-n", "56", "-type", "fp32")
	if text := `"size":3,"shape":"96,40,56","type":"fp32","memory":` + string(amounts); !strings.Contains(out, text) {
		t.Errorf("no %s in\n%s", text, out)
	}
	out = listOf(t, []harness.Program{p}, "-ranks", "3", "-m", "96", "-k", "40", "-n", "56", "-type", "fp32")
	text := "96,40,56 fp32  " + mebibytes(want.Arena()) + "  " + mebibytes(3*driver.WorkspaceBytes)
	if !strings.Contains(out, text) || !strings.Contains(out, "on each of 3 ranks") {
		t.Errorf("no %q in\n%s", text, out)
	}
}

// list reports a shape that a program does not take, and still lists the other programs.
func TestListedRefusal(t *testing.T) {
	p, q := generated(t, "allgatherlinear"), generated(t, "allgatherlinear")
	q.Name, q.Checks = "even", []harness.Divide{{Extent: "M", By: "8"}}
	out := listOf(t, []harness.Program{p, q}, "-m", "12", "-k", "8", "-n", "8")
	if n := strings.Count(out, "96.0 MiB") + strings.Count(out, "128.0 MiB"); n != 1 {
		t.Errorf("%d programs with workspaces, want 1, in\n%s", n, out)
	}
	want := "even: shape 12,8,8: M is 12, and must be a multiple of 8 for even on 4 ranks"
	if !strings.Contains(out, want) {
		t.Errorf("no %q in\n%s", want, out)
	}
	out = listOf(t, []harness.Program{q}, "-json", "-m", "12", "-k", "8", "-n", "8")
	if !strings.Contains(out, `"refused":"shape 12,8,8: M is 12`) || strings.Contains(out, `"memory"`) {
		t.Errorf("memory of a shape that is refused: %s", out)
	}
}

// Every program's usual shape is one that it takes, for each number of ranks.
func TestListedShapes(t *testing.T) {
	for _, ranks := range []string{"1", "2", "3", "8"} {
		out := listOf(t, programs.All, "-json", "-ranks", ranks)
		if strings.Contains(out, `"refused"`) || strings.Count(out, `"memory"`) != len(programs.All) {
			t.Errorf("%s ranks: a usual shape is refused in\n%s", ranks, out)
		}
	}
}
