package kernels_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"ovgen/verify/sampling"
)

// orders are barriers and waits of the kernels: a test takes each away, and the named kernel shows a race. It shows
// none without two other barriers. In decode.h a warp meets when it has read the exponentials: GPUs need that, and the
// host's mma and shuffle (multiply, across) make the warp meet as well. And an item of prefill begins with a barrier,
// though others stand between it and the last read ahead of it.
var orders = []struct{ kernel, file, order string }{
	{"decode", "kernels/decode.h", "    __syncthreads();\n    if (threadIdx.x == 0) {\n"},
	{"decode", "kernels/decode.h", "row.position + 1};\n  }\n  __syncthreads();\n"},
	{"decodewide", "kernels/decode.h", "blocks - 1;\n    }\n    __syncthreads();\n"},
	{"decode", "kernels/decode.h", "heads, stretches);\n      __syncthreads();\n"},
	{"decode codes", "kernels/decode.h", "  __syncthreads();  // the block's own are\n"},
	{"decode codes", "kernels/decode.h", "== groups - 1;\n  }\n  __syncthreads();\n"},
	{"embed codes", "kernels/llama.cu", "  __syncthreads();  // all have read the number before\n"},
	{"decode", "kernels/decode.h", "      __syncthreads();  // all have read what the warps had before\n"},
	{"decode", "kernels/decode.h", "greatest, sum);\n      __syncthreads();\n"},
	{"embed codes", "kernels/llama.cu", "blockDim.x / 2; half > 0; half /= 2) {\n    __syncthreads();\n"},
	{"embed codes", "kernels/llama.cu", "  __syncthreads();\n  return numbers[0];\n"},
	{"best", "kernels/llama.cu", "    __syncthreads();\n    found[threadIdx.x] = mine;\n"},
	{"best", "kernels/llama.cu", "threads / 2; half > 0; half /= 2) {\n      __syncthreads();\n"},
	{"best", "kernels/llama.cu", "== pieces - 1;\n    }\n    __syncthreads();\n"},
	{"best", "kernels/llama.cu", "pieces + threadIdx.x];\n    }\n    __syncthreads();\n"},
	{"decode", "kernels/decode.h", "  __syncwarp();  // all have read the operands before\n"},
	{"decode", "kernels/decode.h", "  __syncwarp();\n  for (unsigned i = 0; i < 4; i++) {\n#pragma unroll 1\n"},
	{"decode", "kernels/decode.h", "    __syncwarp();\n    if (!tile<E>::ahead) {\n      load_values"},
	{"prefill", "kernels/prefill.h", "    __syncthreads();\n    int last = 0;\n"},
	{"prefill", "kernels/prefill.h", "      __syncthreads();\n      for (unsigned e = thread; e < tile * units"},
	{"prefill", "kernels/prefill.h", "      __syncthreads();\n      for (unsigned n = 0; n < tile; n += 8) {\n"},
	{"prefill", "kernels/prefill.h", "      __syncthreads();\n      if (thread < R) {\n        float x[tile]"},
	{"prefill", "kernels/prefill.h", "      __syncthreads();\n#pragma unroll\n"},
	{"prefill", "kernels/prefill.h", "    __syncthreads();\n    if (thread < R) {\n      shrink[thread] = sum"},
	{"prefill", "kernels/prefill.h", "\n    __syncthreads();\n#pragma unroll\n"},
	{"decodefew", "kernels/decode.h", "    last_has_ended();\n    load_row("},
	{"decode", "generated/device/early.h", "  next_may_start();\n  last_has_ended();\n"},
}

// barrier is what an order goes by.
var barrier = regexp.MustCompile(`(__syncthreads|__syncwarp|last_has_ended)\(\);`)

// TestThreads runs each kernel with a thread of the host for each of its own, under ThreadSanitizer, beside the launch
// before. Where that writes the rows and the cache too, all kernels but decodefew have waited for it.
func TestThreads(t *testing.T) {
	sampling.Test(t, 0, 2)
	program := onThreads(t)
	for _, name := range []string{"embed", "gate", "best", "store", "decode", "decodefew", "prefill", "decodewide",
		"prefillwide", "gatecodes", "codes", "embed codes", "decode codes", "decode rows cache"} {
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
		if seen, out := races(program, i+1, x.kernel); !seen {
			t.Errorf("%s without %q: no race was seen\n%s", x.kernel, x.order, out)
		}
	}
}

// TestThreadsAhead lets the launch before write what decodefew reads ahead of its end, and sees the race. In
// TestThreads that launch writes all else that launches of a step write.
func TestThreadsAhead(t *testing.T) {
	sampling.Test(t, 0, 2)
	program := onThreads(t)
	for _, kernel := range []string{"decodefew rows", "decodefew cache"} {
		if seen, out := races(program, 0, kernel); !seen {
			t.Errorf("%s: no race was seen\n%s", kernel, out)
		}
	}
}

// races runs a kernel without an order, and reports whether a race is seen.
func races(program string, missing int, kernel string) (seen bool, last string) {
	for seed := 1; seed <= 5 && !seen; seed++ { // by other delays, since other barriers may order them by chance
		run := exec.Command(program, append([]string{strconv.Itoa(seed)}, strings.Fields(kernel)...)...)
		run.Env = append(os.Environ(), "TSAN_OPTIONS=halt_on_error=1", "MISSING="+strconv.Itoa(missing))
		out, err := run.CombinedOutput()
		last = string(out)
		seen = err != nil && strings.Contains(last, "WARNING: ThreadSanitizer: data race")
	}
	return seen, last
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
	must(t, os.CopyFS(filepath.Join(dir, "generated", "device"), os.DirFS("../generated/device")))
	must(t, os.MkdirAll(filepath.Join(dir, "kernels", "testdata"), 0o755))
	for _, name := range []string{"generated/device/early.h", "kernels/llama.cu", "kernels/decode.h",
		"kernels/prefill.h", "kernels/testdata/threads.cc"} {
		text, err := os.ReadFile(filepath.Join("..", name))
		must(t, err)
		source := strings.Replace(string(text), "last_has_ended() {}", "last_has_ended() { await_before(); }", 1)
		for i, x := range orders {
			if name != x.file {
				continue
			}
			if strings.Count(source, x.order) != 1 {
				t.Fatalf("%s has %q %d times", name, x.order, strings.Count(source, x.order))
			}
			at := barrier.FindStringIndex(x.order)
			without := x.order[:at[0]] + "if (missing != " + strconv.Itoa(i+1) + ") " + x.order[at[0]:]
			source = strings.Replace(source, x.order, without, 1)
		}
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(source), 0o644))
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
