package kernels_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestThreads runs each kernel with a thread of the host for each of its own, under ThreadSanitizer.
func TestThreads(t *testing.T) {
	program := onThreads(t, "", "", "")
	for _, name := range []string{"embed", "gate", "best", "store", "decode", "prefill", "decodewide", "prefillwide",
		"gatecodes", "codes", "embed and codes", "decode and codes"} {
		run := exec.Command(program, append([]string{"1"}, strings.Fields(name)...)...)
		if out, err := run.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

// TestThreadsSee takes order away, and sees that it is missed: in one place, or in all where OVGEN_SOAK is set.
func TestThreadsSee(t *testing.T) {
	for i, x := range []struct{ kernel, file, order, without string }{
		{"decode", "decode.h", "    __syncthreads();\n    if (threadIdx.x == 0) {\n", "    if (threadIdx.x == 0) {\n"},
		{"decodewide", "decode.h", "blocks - 1;\n    }\n    __syncthreads();\n", "blocks - 1;\n    }\n"},
		{"decode and codes", "decode.h", "  __syncthreads();  // the block's own are\n", ""},
		{"decode and codes", "decode.h", "== groups - 1;\n  }\n  __syncthreads();\n", "== groups - 1;\n  }\n"},
		{"embed and codes", "llama.cu", "  __syncthreads();  // all have read the number before\n", ""},
		{"decode", "decode.h", "      __syncthreads();  // all have read what the warps had before\n", ""},
		{"decode", "decode.h", "greatest, sum);\n      __syncthreads();\n", "greatest, sum);\n"},
	} {
		if i > 0 && os.Getenv("OVGEN_SOAK") == "" {
			continue // each is compiled by itself
		}
		program, seen, last := onThreads(t, x.file, x.order, x.without), false, ""
		for seed := 1; seed <= 5 && !seen; seed++ { // by other delays, since other barriers may order them by chance
			run := exec.Command(program, append([]string{strconv.Itoa(seed)}, strings.Fields(x.kernel)...)...)
			run.Env = append(os.Environ(), "TSAN_OPTIONS=halt_on_error=1")
			out, err := run.CombinedOutput()
			last = string(out)
			seen = err != nil && strings.Contains(last, "WARNING: ThreadSanitizer: data race")
		}
		if !seen {
			t.Errorf("%s without %q: no race was seen\n%s", x.kernel, x.order, last)
		}
	}
}

// onThreads compiles the kernels with other words in a file.
func onThreads(t *testing.T, file, before, after string) (program string) {
	t.Helper()
	if testing.Short() {
		t.Skip("runs thousands of threads")
	}
	dir := t.TempDir()
	here, err := filepath.Abs("..")
	must(t, err)
	must(t, os.Symlink(filepath.Join(here, "generated"), filepath.Join(dir, "generated")))
	must(t, os.MkdirAll(filepath.Join(dir, "kernels", "testdata"), 0o755))
	for _, name := range []string{"llama.cu", "decode.h", "prefill.h", "testdata/threads.cc"} {
		text, err := os.ReadFile(name)
		must(t, err)
		source := string(text)
		if name == file {
			if strings.Count(source, before) != 1 {
				t.Fatalf("%s has %q %d times", name, before, strings.Count(source, before))
			}
			source = strings.Replace(source, before, after, 1)
		}
		must(t, os.WriteFile(filepath.Join(dir, "kernels", name), []byte(source), 0o644))
	}
	program = filepath.Join(dir, "threads")
	compile := func(source ...string) error {
		out, err := exec.Command("g++", append([]string{"-std=c++17", "-Og", "-g1", "-fsanitize=thread", "-w",
			"-ffp-contract=off", "-o", program}, source...)...).CombinedOutput()
		if err != nil {
			t.Logf("%s", out)
		}
		return err
	}
	nothing := filepath.Join(dir, "nothing.cc")
	must(t, os.WriteFile(nothing, []byte("int main() {}\n"), 0o644))
	if err := compile(nothing); err != nil || exec.Command(program).Run() != nil {
		t.Skipf("NOT TESTED: the order of the decoder's kernels, since g++ -fsanitize=thread does not work here "+
			"(install libtsan): %v", err)
	}
	must(t, compile(filepath.Join(dir, "kernels", "testdata", "threads.cc")))
	return program
}
