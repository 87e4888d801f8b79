package templates

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/runtime/fewrows"
	"ovgen/verify/touch"
)

// entries are the kernels of a .cu with the first call of each.
var entries = regexp.MustCompile(`__global__ void\s(?:__launch_bounds__\([^)]*\)\s)?(\w+)` +
	`\(const __grid_constant__ [^)]*\)\s*\{\s*(\w+)`)

// TestStartEarly: in a package whose products read weights ahead, kernels whose launches start early wait for the end
// of the launch before ahead of all else, and the others do not.
func TestStartEarly(t *testing.T) {
	for _, few := range []fewrows.Family{fewrows.Kernels[:1].Early(), fewrows.Kernels[:1]} {
		c := withFewRows(t, few, every())
		waits, numbers := map[string]bool{}, map[bool]int{}
		for _, m := range entries.FindAllStringSubmatch(c.cu(t), -1) {
			waits[m[1]] = m[2] == "start_early"
		}
		for _, k := range c.device.Table.Code() {
			if waits[k.Name] != k.Early {
				t.Errorf("kernel %s starts early: %t; it waits first: %t", k.Name, k.Early, waits[k.Name])
			}
			numbers[k.Early]++
		}
		if numbers[true] > 0 != few[0].Early || numbers[false] == 0 {
			t.Errorf("%d kernels start early beside %s, and %d do not", numbers[true], few[0].Base(), numbers[false])
		}
	}
}

// readsAhead finds the names of kernels that read memory before they wait: weights, and what the decoder's attention
// reads of earlier steps, which tests of the decoder look at (TestReadsAhead, TestThreadsAhead).
var readsAhead = regexp.MustCompile(`^(fewrows|narrow|squares|decodefew)`)

// TestWaitsInPTX: in the PTX of emitted packages and of the example's kernels, each kernel that may start early waits
// ahead of all that touch.Awaits does not let it do until then.
func TestWaitsInPTX(t *testing.T) {
	files, err := filepath.Glob("../generated/*/*_sm90*.ptx")
	for _, more := range []string{"generated/*/*_sm90*.ptx", "kernels/*.ptx"} {
		list, failed := filepath.Glob("../docs/examples/llama/" + more)
		files, err = append(files, list...), errors.Join(err, failed)
	}
	seen := 0
	for _, file := range files {
		text, failed := os.ReadFile(file)
		if err = errors.Join(err, failed); err != nil {
			t.Fatal(err)
		}
		for _, body := range strings.Split(string(text), ".entry ")[1:] {
			if !strings.Contains(body, "griddepcontrol.") {
				continue
			}
			seen++
			name, _, _ := strings.Cut(body, "(")
			k := driver.Kernel{Name: name, Early: true, Ahead: readsAhead.MatchString(name)}
			if err := touch.Awaits(&driver.Code{PTX: text}, &k); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
	if seen < 150 {
		t.Errorf("%d kernels were looked at, want more", seen)
	}
}
