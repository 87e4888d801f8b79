package templates

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

// recipe is how a program is compiled in parts, each once for all programs that have it.
type recipe struct {
	flags   []string                               // of all parts, besides those of all programs
	driver  []string                               // of what drives the kernels, testdata/NAME.cc
	table   string                                 // of the same, with a mutant: the table of its kernels
	kernels []string                               // of the kernels, with their source
	mutant  []string                               // of a mutant's kernels: that table again
	engine  bool                                   // the kernels run on it; else their driver has the right ones
	change  func(c code, t *testing.T, dir string) // of the code, once it is written; nil: none
}

// onEngine is the recipe of programs on the simulator's engine. Compiling most kernels takes longer than running them:
// they are not optimised unless flags say so. What drives them is, so that nothing is made of functions that nobody
// calls.
func onEngine(flags ...string) recipe {
	return recipe{flags: ofEngine, driver: append([]string{"-Og"}, flags...), table: "-DTABLE=mutant_kernels",
		kernels: slices.Concat([]string{"testdata/engine.cc"}, aligned, flags),
		mutant:  []string{"-O0", "-Dcheck_kernels=mutant_kernels"}, engine: true}
}

// onThreads is the recipe of programs with a thread for each of a kernel's threads.
var onThreads = recipe{
	flags:   []string{"-g1", "-fsanitize=thread", "-DOVGEN_LOOPS"},
	table:   "-DTABLE=mutant",
	kernels: []string{"testdata/kernels.cc", "-include", "ptx.h"},
	mutant:  []string{"-DSPACE=mutant"},
	change:  code.onThreads,
}

// program makes the program NAME with device code. A mutant's kernels, which are named then, are linked to what drives
// them and the right ones; where it has none here, there is no program to run.
func (r recipe) program(t *testing.T, c code, main string) (program string, kernels []string) {
	t.Helper()
	readSources(t)
	m, dir, hash, ok := judged(t, c)
	if ok && len(m.kernels) == 0 {
		return "", []string{}
	}
	if r.change != nil {
		r.change(c, t, dir)
	}
	driver := append([]string{filepath.Join("testdata", main+".cc")}, r.driver...)
	if ok {
		driver = append(driver, r.table)
	}
	parts := []string{r.object(t, dir, hash, driver)}
	if r.engine {
		parts = append(parts, r.object(t, dir, hash, r.kernels), compiledEngine(t))
	}
	if ok {
		if r.change != nil {
			r.change(c, t, m.dir)
		}
		parts = append(parts, r.object(t, m.dir, m.hash, slices.Concat(r.kernels, r.mutant)))
	}
	program = filepath.Join(dir, main)
	gcc(t, program, append(parts, r.flags...))
	return program, m.kernels
}

// object is a part with device code of that hash.
func (r recipe) object(t *testing.T, dir, hash string, flags []string) (object string) {
	t.Helper()
	flags = slices.Concat(flags, ofAll, r.flags)
	object = filepath.Join(objects, hashOf(hash, flags)+".o")
	once(t, object, append(flags, "-I", filepath.Join(dir, hostDir), "-c"))
	return object
}

func hashOf(list ...any) string {
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%q", list)))
}

// once compiles an object that is not there yet; another test may be about to.
func once(t *testing.T, object string, args []string) {
	t.Helper()
	lock, err := os.Create(object + ".lock")
	if err == nil {
		defer lock.Close()
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(object); err == nil {
		return
	}
	temp := filepath.Join(t.TempDir(), "part.o")
	gcc(t, temp, args)
	if err := os.Rename(temp, object); err != nil {
		t.Fatal(err)
	}
}

// Flags of all programs, and of programs that run on the engine. A fence of a smaller scope compiles too: running it
// shows its fault.
var (
	ofAll = []string{"-std=c++17", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas",
		"-fno-strict-aliasing",
		"-I", "testdata"}
	ofEngine = []string{"-I", engine, "-D__threadfence()=__threadfence_system()",
		"-D__threadfence_block()=__threadfence_system()"}
)

// A unit of 16 bytes that is not aligned would be read all the same on a host: the program is made to end there.
var aligned = []string{"-fsanitize=alignment", "-fsanitize-undefined-trap-on-error"}

// engine is the folder of the engine that runs kernels in the simulator.
const engine = "../verify/sim"

// compiledEngine is the object of the engine, which all programs share.
func compiledEngine(t *testing.T) (object string) {
	t.Helper()
	object = filepath.Join(objects, "engine.o")
	once(t, object, slices.Concat(ofAll, ofEngine, aligned,
		[]string{"-O2", "-c", filepath.Join(engine, "engine_linux.cc")}))
	return object
}

// objects is a folder for what tests compile once; TestMain removes it.
var objects string

// gcc runs the compiler, which writes a file.
func gcc(t *testing.T, to string, args []string) {
	t.Helper()
	if out, err := exec.Command("g++", append(args, "-o", to)...).CombinedOutput(); err != nil {
		t.Fatalf("compile: %v\n%s", err, out)
	}
}

// build makes a program with device code, runs it, and returns what it printed.
func (r recipe) build(t *testing.T, c code, main string) string {
	t.Helper()
	program, kernels := r.program(t, c, main)
	if program == "" {
		return ""
	}
	out, err := run(t, program, kernels...)
	if err != nil {
		t.Fatalf("run: %v\n%s", err, out)
	}
	return out
}

// compile compiles testdata/NAME.cc with the device code in a folder that it includes, and returns the program.
func compile(t *testing.T, dir, main string, flags ...string) (program string) {
	t.Helper()
	readSources(t)
	program = filepath.Join(dir, main)
	gcc(t, program, slices.Concat(flags, []string{"-I", filepath.Join(dir, hostDir),
		filepath.Join("testdata", main+".cc")}, ofAll, ofEngine, []string{compiledEngine(t)}))
	return program
}

// run runs a program, which a mistake in a kernel may keep from ending.
func run(t *testing.T, program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(t.Context(), 5*time.Minute, errors.New("it does not end"))
	defer cancel()
	cmd := command(ctx, 30, program, args...)
	cmd.Env = append(os.Environ(), "TSAN_OPTIONS=halt_on_error=1 exitcode=1")
	out, err := cmd.CombinedOutput()
	return string(out), errors.Join(err, context.Cause(ctx))
}

// command runs a program. One with a mutant ends after so many seconds of CPU time: without a mistake it takes a few.
func command(ctx context.Context, seconds int, program string, args ...string) *exec.Cmd {
	if os.Getenv(mutantObjects) == "" {
		return exec.CommandContext(ctx, program, args...)
	}
	limited := []string{"-c", fmt.Sprintf(`ulimit -St %d && exec "$0" "$@"`, seconds), program}
	return exec.CommandContext(ctx, "sh", append(limited, args...)...)
}

// readSources reads the files that the compiler opens: the results of tests are cached by the files that they read.
func readSources(t *testing.T) {
	t.Helper()
	for _, pattern := range []string{"testdata/*", engine + "/*.cc", engine + "/*.h"} {
		files, err := filepath.Glob(pattern)
		for _, file := range files {
			_, wrong := os.ReadFile(file)
			err = errors.Join(err, wrong)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
