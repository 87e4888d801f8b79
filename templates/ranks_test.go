package templates

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/verify/sampling"
)

// TestTurns runs ranks with every kernel in the simulator's engine, in many orders: the
// threads of other blocks start while the first one waits, and other ranks go on after
// every write of a word.
func TestTurns(t *testing.T) {
	sampling.Test(t, 1, 4)
	// It runs for longer than it compiles.
	if out := onEngine("-Og").build(t, ofRanks(t).checked(), "interleave"); out != "" {
		t.Errorf("the kernels do wrong:\n%s", out)
	}
}

// TestManyRanks runs five ranks with the kernels of packets, which look at those of a few peers at once.
func TestManyRanks(t *testing.T) {
	sampling.Test(t, 5, 8)
	c := ofRanks(t).checked()
	program, kernels := onEngine("-Og", "-DRANKS=5").program(t, c, "interleave")
	packets := c.using("packets.h")
	if kernels != nil {
		packets = slices.DeleteFunc(packets, func(name string) bool { return !slices.Contains(kernels, name) })
	}
	if len(packets) == 0 && kernels != nil { // a mistake in another kernel
		return
	}
	if out, err := run(t, program, packets...); err != nil || out != "" {
		t.Errorf("the kernels do wrong: %v\n%s", err, out)
	}
}

// TestThreads runs the same ranks with a thread for each of the kernels' threads, ordered by what the kernels'
// instructions say and by nothing else, under ThreadSanitizer. They say the same of each type. Kernels that can start
// early do, beside the launch before them.
func TestThreads(t *testing.T) {
	sampling.Test(t, 3, 4)
	if testing.Short() {
		t.Skip("runs thousands of threads")
	}
	needSanitizer(t)
	d := ofRanks(t).alike(t, driver.BF16)
	d.Table.Early = true
	program, kernels := onThreads.program(t, d.checked(), "threads")
	if program == "" {
		return
	}
	seeds := 1
	if everything() {
		seeds = 2
	}
	for seed := 1; seed <= seeds; seed++ {
		out, err := run(t, program, append([]string{fmt.Sprint(seed)}, kernels...)...)
		if err != nil || len(out) > 0 {
			t.Fatalf("the kernels do wrong with seed %d: %v\n%s", seed, err, out)
		}
	}
}

// onThreads makes the kernels in a folder compile for threads of the host.
func (c code) onThreads(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "device", "*.h"))
	if err != nil || len(files) == 0 {
		t.Fatalf("headers: %v, %v", files, err)
	}
	files = append(files, filepath.Join(dir, c.name, c.name+".cu"))
	blocks, warps := 0, 0
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(file) == "hopper.h" {
			continue // which loops stand for here
		}
		host, err := hostCalls(withoutTensorCores(string(source)))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		blocks += strings.Count(host, ofBlock)
		host = strings.Replace(host, ofBlock, "static type name##_of[ranks * overlapping][blocks][count]; "+
			"type *const name = name##_of[here.slot][blockIdx.x]", 1)
		warps += strings.Count(host, ofWarp)
		host = strings.Replace(host, ofWarp, "enum { warp = 2 }", 1) // of four threads
		if err := os.WriteFile(file, []byte(host), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if blocks != 1 || warps != 1 {
		t.Fatalf("%d definitions of memory of a block, and %d of a warp", blocks, warps)
	}
}

// withoutTensorCores leaves out the code that only a GPU compiles.
func withoutTensorCores(source string) string {
	before, rest, found := strings.Cut(source, "#else  // the tensor cores\n")
	if !found {
		return source
	}
	_, after, _ := strings.Cut(rest, "#endif  // the tensor cores\n")
	return before + "#endif\n" + withoutTensorCores(after)
}

// ofBlock is how device code declares memory of a block: with threads of the host each block has its own.
const ofBlock = "__shared__ type name[count]"

// ofWarp is how device code says how many threads run together.
const ofWarp = "enum { warp = 32 }"

// needSanitizer skips where the compiler has no ThreadSanitizer, or the system does not let it run.
func needSanitizer(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	source, program := filepath.Join(dir, "nothing.cc"), filepath.Join(dir, "nothing")
	if err := os.WriteFile(source, []byte("int main() {}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("g++", "-fsanitize=thread", source, "-o", program).CombinedOutput()
	if err == nil {
		out, err = exec.Command(program).CombinedOutput()
	}
	if err != nil {
		t.Skipf("NOT TESTED: the order that the kernels' instructions make, since g++ -fsanitize=thread does not "+
			"work here (install libtsan): %v\n%s", err, out)
	}
}

var (
	// One line of inline PTX: mnemonic, operands, outputs, inputs, clobbers.
	inline = regexp.MustCompile(`asm( volatile)?\("([\w.]+) ?([^";]*);" : ([^:]*?) ?: ?([^:]*?)( ?: "memory")?\);`)
	// An operand of it.
	operand = regexp.MustCompile(`"=?[a-z]"\((.*?)\)(?:, |$)`)
)

// hostCalls replaces each line of inline PTX by a call of a function of the host that is
// named by the mnemonic: ptx_ld_acquire_sys_u32(value, word).
func hostCalls(source string) (string, error) {
	var wrong error
	out := inline.ReplaceAllStringFunc(source, func(line string) string {
		m := inline.FindStringSubmatch(line)
		touches := regexp.MustCompile(`^(ld|st|atom|red|membar|fence|griddepcontrol)\.`).MatchString(m[2])
		if touches && (m[1] == "" || m[6] == "") {
			wrong = fmt.Errorf("the compiler may move %s", line)
		}
		var args []string
		for _, list := range m[4:6] {
			for _, o := range operand.FindAllStringSubmatch(list, -1) {
				args = append(args, o[1])
			}
		}
		for i := range args {
			if !strings.Contains(m[3], fmt.Sprintf("%%%d", i)) {
				wrong = fmt.Errorf("operand %d of %s is not used", i, line)
			}
		}
		return fmt.Sprintf("ptx_%s(%s);", strings.ReplaceAll(m[2], ".", "_"), strings.Join(args, ", "))
	})
	if wrong == nil && strings.Contains(out, "asm") {
		wrong = fmt.Errorf("inline PTX that is not one instruction:\n%s", out[strings.Index(out, "asm"):])
	}
	return out, wrong
}

func TestHostCalls(t *testing.T) {
	const load = `asm volatile("ld.acquire.sys.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");`
	for _, c := range []struct{ source, want, wrong string }{
		{load, "ptx_ld_acquire_sys_u32(value, word);", ""},
		{`asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"((float)x));`, "ptx_cvt_rn_f16_f32(bits, (float)x);", ""},
		{`asm volatile("st.release.sys.u32 [%0], %1;" : : "l"(word), "r"(value) : "memory");`,
			"ptx_st_release_sys_u32(word, value);", ""},
		{`asm volatile("griddepcontrol.wait;" : : : "memory");`, "ptx_griddepcontrol_wait();", ""},
		{strings.Replace(load, " volatile", "", 1), "", "may move"},
		{strings.Replace(load, ` : "memory"`, "", 1), "", "may move"},
		{strings.Replace(load, "%1", "%0", 1), "", "not used"},
		{`asm volatile("membar.sys; ld.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");`, "",
			"not one instruction"},
	} {
		got, err := hostCalls(c.source)
		if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s: error %v, want %q in it", c.source, err, c.wrong)
		} else if err == nil && got != c.want {
			t.Errorf("%s: got %s, want %s", c.source, got, c.want)
		}
	}
}
