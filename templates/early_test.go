package templates

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ovgen/runtime/fewrows"
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

// global finds instructions that read or write memory that other launches see.
var global = regexp.MustCompile(`(?m)^\s*(@!?%p\d+ )?(ld|st|atom|red|cp)\.(?:[\w:]+\.)*?` +
	`(global|relaxed|acquire|release|volatile|async|bulk)`)

// stores finds instructions that write such memory.
var stores = regexp.MustCompile(`(?m)^\s*(@!?%p\d+ )?(st|atom|red)\.(?:[\w:]+\.)*?(global|relaxed|release|volatile)`)

// readsFirst finds kernels of the example that let the next launch start, and do not wait first.
var readsFirst = regexp.MustCompile(`X\((\w+), \d+, \d+, next_may_start\)`)

// TestWaitsInPTX: in the PTX of emitted packages and of the example's kernels, a kernel that waits first does so ahead
// of every instruction that reads or writes memory.
func TestWaitsInPTX(t *testing.T) {
	files, err := filepath.Glob("../generated/*/*_sm90*.ptx")
	for _, more := range []string{"generated/*/*_sm90*.ptx", "kernels/*.ptx"} {
		list, failed := filepath.Glob("../docs/examples/llama/" + more)
		files, err = append(files, list...), errors.Join(err, failed)
	}
	seen := 0
	for _, file := range files {
		text, failed := os.ReadFile(file)
		source, also := os.ReadFile(file[:strings.LastIndex(file, "_sm90")] + ".cu")
		if err = errors.Join(err, failed, also); err != nil {
			t.Fatal(err)
		}
		early := startEarly(string(source))
		for _, m := range readsFirst.FindAllStringSubmatch(string(source), -1) {
			if m[1] != "decodefew" {
				t.Errorf("%s: kernel %s does not begin with start_early", file, m[1])
			}
		}
		for _, body := range strings.Split(string(text), ".entry ")[1:] {
			name, _, _ := strings.Cut(body, "(")
			if early[name] {
				seen++
				if wait := strings.Index(body, "griddepcontrol.wait"); wait < 0 || global.MatchString(body[:wait]) {
					t.Errorf("%s: kernel %s does not wait ahead of all else", file, name)
				}
			}
			if strings.HasPrefix(name, "decodefew_") { // the one that reads first
				seen++
				if wait := strings.Index(body, "griddepcontrol.wait"); wait < 0 || stores.MatchString(body[:wait]) {
					t.Errorf("%s: kernel %s does not wait before it writes", file, name)
				}
			}
		}
	}
	if seen < 50 {
		t.Errorf("%d kernels were looked at, want more", seen)
	}
}

// startEarly are the kernels of a source that begin with start_early: as they stand there, or in the list of KERNELS.
func startEarly(source string) map[string]bool {
	list := map[string]bool{}
	for _, m := range entries.FindAllStringSubmatch(source, -1) {
		list[m[1]] = m[2] == "start_early"
	}
	for _, m := range regexp.MustCompile(`X\((\w+), \d+, \d+, start_early\)`).FindAllStringSubmatch(source, -1) {
		list[m[1]+"_bf16"], list[m[1]+"_fp32"] = true, true
	}
	return list
}
