package kernels_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"ovgen/verify/sampling"
)

// orders are the orders that kernels keep, of which each can be missing: where it stands, and the kernel that shows it.
var orders = []struct{ kernel, file, order string }{
	{"decode", "decode.h", "    __syncthreads();\n    if (threadIdx.x == 0) {\n"},
	{"decode", "decode.h", "row.position + 1};\n  }\n  __syncthreads();\n"},
	{"decodewide", "decode.h", "blocks - 1;\n    }\n    __syncthreads();\n"},
	{"decode", "decode.h", "heads, stretches);\n      __syncthreads();\n"},
	{"decode and codes", "decode.h", "  __syncthreads();  // the block's own are\n"},
	{"decode and codes", "decode.h", "== groups - 1;\n  }\n  __syncthreads();\n"},
	{"embed and codes", "llama.cu", "  __syncthreads();  // all have read the number before\n"},
	{"decode", "decode.h", "      __syncthreads();  // all have read what the warps had before\n"},
	{"decode", "decode.h", "greatest, sum);\n      __syncthreads();\n"},
}

// TestThreads runs each kernel with a thread of the host for each of its own, under ThreadSanitizer.
func TestThreads(t *testing.T) {
	sampling.Test(t, 0, 2)
	program := onThreads(t)
	for _, name := range []string{"embed", "gate", "best", "store", "decode", "decodefew", "prefill", "decodewide",
		"prefillwide", "gatecodes", "codes", "embed and codes", "decode and codes"} {
		run := exec.Command(program, append([]string{"1"}, strings.Fields(name)...)...)
		if out, err := run.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

// TestThreadsSee takes order away, and sees that it is missed: in one place, or in all where OVGEN_SOAK is set.
func TestThreadsSee(t *testing.T) {
	sampling.Test(t, 0, 2)
	program := onThreads(t)
	for i, x := range orders {
		if i > 0 && !sampling.All() {
			break
		}
		seen, last := false, ""
		for seed := 1; seed <= 5 && !seen; seed++ { // by other delays, since other barriers may order them by chance
			run := exec.Command(program, append([]string{strconv.Itoa(seed)}, strings.Fields(x.kernel)...)...)
			run.Env = append(os.Environ(), "TSAN_OPTIONS=halt_on_error=1", "MISSING="+strconv.Itoa(i+1))
			out, err := run.CombinedOutput()
			last = string(out)
			seen = err != nil && strings.Contains(last, "WARNING: ThreadSanitizer: data race")
		}
		if !seen {
			t.Errorf("%s without %q: no race was seen\n%s", x.kernel, x.order, last)
		}
	}
}

// threads is the program of onThreads, which both tests run.
var threads struct {
	sync.Once
	program, skipped string
}

// onThreads compiles the kernels, once: each of the orders is kept where MISSING is not its number.
func onThreads(t *testing.T) (program string) {
	t.Helper()
	if testing.Short() {
		t.Skip("runs thousands of threads")
	}
	threads.Do(func() { compileThreads(t) })
	switch {
	case threads.skipped != "":
		t.Skip(threads.skipped)
	case threads.program == "":
		t.Fatal("the kernels do not compile")
	}
	return threads.program
}

func TestMain(m *testing.M) {
	status := m.Run()
	if threads.program != "" {
		os.RemoveAll(filepath.Dir(threads.program))
	}
	os.Exit(status)
}

func compileThreads(t *testing.T) {
	t.Helper()
	dir, err := os.MkdirTemp("", "kernels")
	must(t, err)
	here, err := filepath.Abs("..")
	must(t, err)
	must(t, os.Symlink(filepath.Join(here, "generated"), filepath.Join(dir, "generated")))
	must(t, os.MkdirAll(filepath.Join(dir, "kernels", "testdata"), 0o755))
	for _, name := range []string{"llama.cu", "decode.h", "prefill.h", "testdata/threads.cc"} {
		text, err := os.ReadFile(name)
		must(t, err)
		source := string(text)
		for i, x := range orders {
			if name != x.file {
				continue
			}
			if strings.Count(source, x.order) != 1 {
				t.Fatalf("%s has %q %d times", name, x.order, strings.Count(source, x.order))
			}
			source = strings.Replace(source, x.order, strings.Replace(x.order, "__syncthreads();",
				"if (missing != "+strconv.Itoa(i+1)+") __syncthreads();", 1), 1)
		}
		must(t, os.WriteFile(filepath.Join(dir, "kernels", name), []byte(source), 0o644))
	}
	program := filepath.Join(dir, "threads")
	compile := func(source ...string) ([]byte, error) {
		return exec.Command("g++", append([]string{"-std=c++17", "-Og", "-g1", "-fsanitize=thread", "-w",
			"-ffp-contract=off", "-o", program}, source...)...).CombinedOutput()
	}
	nothing := filepath.Join(dir, "nothing.cc")
	must(t, os.WriteFile(nothing, []byte("int main() {}\n"), 0o644))
	if out, err := compile(nothing); err != nil || exec.Command(program).Run() != nil {
		threads.skipped = "NOT TESTED: the order of the decoder's kernels, since g++ -fsanitize=thread does not work " +
			"here (install libtsan): " + string(out)
		return
	}
	out, err := compile(filepath.Join(dir, "kernels", "testdata", "threads.cc"))
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	threads.program = program
}
