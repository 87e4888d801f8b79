//go:build cgo && linux

package imports_test

import (
	"debug/elf"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ovgen/cmd/ovgen/internal/module"
)

// inSimulator are prefixes of names that only a binary with the simulator has: packages, functions of Go and of the
// engine, which is C++, and kernels that are compiled for the host.
var inSimulator = []string{module.Package("verify/"), "gonum.org/", "engine_", "allreduceoneshot_kernels"}

// onlySimulated are the names with such a prefix.
func onlySimulated(names []string) (found []string) {
	for _, name := range names {
		if slices.ContainsFunc(inSimulator, func(begin string) bool { return strings.HasPrefix(name, begin) }) {
			found = append(found, name)
		}
	}
	return found
}

func dependencies(t *testing.T, path string) []string {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", path).Output()
	if err != nil {
		t.Fatalf("list what %s imports: %v", path, err)
	}
	return strings.Fields(string(out))
}

// symbols builds a command and names the symbols that are linked into it.
func symbols(t *testing.T, path string) (names []string) {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "binary")
	if out, err := exec.Command("go", "build", "-o", binary, path).CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", path, err, out)
	}
	file, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	all, err := file.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		names = append(names, s.Name)
	}
	return names
}

// TestLinked: a program that imports a generated package with kernels has the simulator
// only where it imports that, and package testing nowhere.
func TestLinked(t *testing.T) {
	for _, x := range []struct {
		path      string
		simulator bool
	}{{"./testdata/layer", false}, {"./testdata/simulated", true}} {
		t.Run(filepath.Base(x.path), func(t *testing.T) {
			all := dependencies(t, x.path)
			if slices.Contains(all, "testing") || slices.Contains(all, module.Package("schedule")) ||
				!slices.Contains(all, module.Package("runtime/group")) {
				t.Errorf("imports %v", all)
			}
			if found := onlySimulated(all); (len(found) > 0) != x.simulator {
				t.Errorf("imports %v of the simulator", found)
			}
			linked := symbols(t, x.path)
			if slices.ContainsFunc(linked, func(name string) bool { return strings.HasPrefix(name, "ovgen_nccl") }) {
				t.Error("NCCL's calls are linked, which no schedule here names")
			}
			found := onlySimulated(linked)
			if (len(found) > 0) != x.simulator {
				t.Errorf("linked are %v of the simulator", found)
			}
			for _, begin := range inSimulator { // each is looked for rightly
				if x.simulator && !slices.ContainsFunc(found,
					func(name string) bool { return strings.HasPrefix(name, begin) }) {
					t.Errorf("nothing that begins with %q is linked with the simulator", begin)
				}
			}
		})
	}
}

// TestTunedLinks: a program that makes plans of one operation by package tuned links each of its schedules, and
// of the other operations no plan.
func TestTunedLinks(t *testing.T) {
	made := regexp.MustCompile(`^go:itab\.\*` + module.Package("generated") + `/(\w+)\.Plan,`)
	var found []string
	for _, name := range symbols(t, "./testdata/tuned") {
		if m := made.FindStringSubmatch(name); m != nil && !slices.Contains(found, m[1]) {
			found = append(found, m[1])
		}
	}
	slices.Sort(found)
	if want := []string{"reducescatter", "reducescatteroneshot", "reducescatterpackets"}; !slices.Equal(found, want) {
		t.Errorf("linked are %v, want %v", found, want)
	}
}

// TestCommands: the command that verifies and measures has the simulator but nothing for
// tests, and ovgen has neither.
func TestCommands(t *testing.T) {
	simulator := module.Package("verify/sim")
	tests := []string{module.Package("verify/simtest"), module.Package("verify/programtest")}
	for path, absent := range map[string][]string{
		"generated/run": slices.Concat(tests, []string{"testing"}),
		"cmd/ovgen":     slices.Concat(tests, []string{simulator}),
	} {
		all := dependencies(t, module.Package(path))
		for _, name := range absent {
			if slices.Contains(all, name) {
				t.Errorf("%s imports %s", path, name)
			}
		}
		if !slices.Contains(absent, simulator) && !slices.Contains(all, simulator) {
			t.Errorf("%s does not import the simulator", path)
		}
	}
}
