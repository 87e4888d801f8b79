package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"ovgen/verify/sampling"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"ovgen": main})
}

// The scripts run ovgen as a user does, each in an empty folder of its own: all or, as a sample, one in four.
func TestScripts(t *testing.T) {
	repo, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	vars := goVars(t)
	readSources(t, repo)
	// The scripts have no proxy: what go reads of all modules, to say that a go.mod has to be tidied, is fetched here.
	graph := exec.Command("go", "mod", "graph")
	graph.Dir = repo
	if out, err := graph.CombinedOutput(); err != nil {
		t.Logf("go mod graph: %v\n%s", err, out)
	}
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var taken []string
	for i, file := range files {
		if sampling.Takes(i, 4) {
			taken = append(taken, file)
		}
	}
	testscript.Run(t, testscript.Params{
		Files:               taken,
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Vars = append(e.Vars, vars...)
			e.Vars = append(e.Vars, "REPO="+repo, "GOPROXY=off", "OVGEN_NVRTC=", "OVGEN_DRIVER=sim")
			return nil
		},
		Condition: func(cond string) (bool, error) {
			if cond == "soak" {
				return sampling.All(), nil
			}
			_, err := os.Stat(filepath.Join(repo, ".toolchain/nvidia/cuda_nvrtc/lib/libnvrtc.so.12"))
			return cond == "nvrtc" && err == nil, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"module": func(ts *testscript.TestScript, neg bool, args []string) { userModule(ts, repo, args) },
		},
	})
}

// readSources looks at the sources that the scripts' own go commands build, which the
// go command knows nothing of: without it a test's result would be kept when they change.
func readSources(t *testing.T, repo string) {
	t.Helper()
	for _, part := range []string{"runtime", "schedule", "verify", "generated", "docs/examples", "docs/adding.md"} {
		err := filepath.WalkDir(filepath.Join(repo, part), func(name string, e os.DirEntry, err error) error {
			if err == nil {
				_, err = os.Stat(name)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// goVars are the caches, the flags and the limits of garbage of the test's own go command: the scripts have another
// HOME, and with other flags they would compile everything once more.
func goVars(t *testing.T) []string {
	t.Helper()
	var vars []string
	for _, name := range []string{"GOCACHE", "GOMODCACHE"} {
		out, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		vars = append(vars, name+"="+strings.TrimSpace(string(out)))
	}
	for _, name := range []string{"GOGC", "GOMEMLIMIT", "CGO_CFLAGS", "CGO_CXXFLAGS"} {
		if limit, set := os.LookupEnv(name); set {
			vars = append(vars, name+"="+limit)
		}
	}
	return append(vars, "GOFLAGS="+os.Getenv("GOFLAGS")+" -buildvcs=false")
}

// userModule makes a module that requires ovgen: module FOLDER PATH. Its other requirements
// are ovgen's requirements, as go mod tidy would find them.
func userModule(ts *testscript.TestScript, repo string, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: module FOLDER PATH")
	}
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o755))
	mod, err := os.ReadFile(filepath.Join(repo, "go.mod"))
	ts.Check(err)
	mod = bytes.Replace(mod, []byte("module ovgen\n"),
		[]byte("module "+args[1]+"\n\nrequire ovgen v0.0.0\n\nreplace ovgen => "+repo+"\n"), 1)
	ts.Check(os.WriteFile(filepath.Join(dir, "go.mod"), mod, 0o644))
	sum, err := os.ReadFile(filepath.Join(repo, "go.sum"))
	ts.Check(err)
	ts.Check(os.WriteFile(filepath.Join(dir, "go.sum"), sum, 0o644))
}
