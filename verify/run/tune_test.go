package run

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ovgen/runtime/tuning"
	"ovgen/verify/sampling"
)

// ran runs a command in a process, in a folder.
func ran(t *testing.T, dir, args string) ([]byte, error) {
	t.Helper()
	run, err := built()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(run, strings.Fields(args)...)
	c.Dir = dir
	return c.CombinedOutput()
}

// succeed runs a command that has no error and returns its output.
func succeed(t *testing.T, dir, args string) string {
	t.Helper()
	out, err := ran(t, dir, args)
	if err != nil {
		t.Fatalf("run %s: %v\n%s", args, err, out)
	}
	return string(out)
}

func TestTuneCommand(t *testing.T) {
	sampling.Test(t, 1, 3)
	dir := t.TempDir()
	for _, more := range []string{"", " allgatherlinearput"} { // the second finds the file of the first
		out := succeed(t, dir, "tune allgatherlinear linearreducescatter -driver sim -ranks 2 -iters 1 -type bf16 "+
			"-shapes 8,8,8"+more)
		table, err := tuning.Read(filepath.Join(dir, "tuning.json"))
		if err != nil || len(table.Entries) != 2 || table.Entries[0].Operation == table.Entries[1].Operation {
			t.Fatalf("%+v, %v\n%s", table, err, out)
		}
		for _, m := range table.Entries {
			if m.Shape != "M 8, K 8, N 8, bf16" || m.Ranks != 2 ||
				!strings.HasPrefix(m.Program, m.Operation) {
				t.Errorf("%+v", m)
			}
		}
	}
	// Of a schedule that launches one of several kernels of tiles, each is measured.
	out := succeed(t, dir, "tune linearreducescattertiles -driver sim -ranks 2 -iters 1 -type bf16 -shapes 16,16,8 "+
		"-o tiles.json")
	table, err := tuning.Read(filepath.Join(dir, "tiles.json"))
	if err != nil || len(table.Entries) != 1 || !strings.HasPrefix(table.Entries[0].Tiles, "scatter") ||
		!strings.Contains(out, "linearreducescattertiles/"+table.Entries[0].Tiles) {
		t.Errorf("%+v, %v\n%s", table, err, out)
	}
	// A schedule that does not take the shape is left out, and the operation keeps its name.
	out = succeed(t, dir, "tune linearallreduce linearallreduceoneshot -driver sim -ranks 2 -iters 1 -type bf16 "+
		"-shapes 15,8,8 -o other.json -json")
	if want := `{"operation":"linearallreduce","gpu":"simulated device","ranks":2,` +
		`"shape":"M 15, K 8, N 8, bf16","program":"linearallreduceoneshot",`; !strings.Contains(out, want) {
		t.Errorf("no %s in\n%s", want, out)
	}
	out = succeed(t, dir, "tune allgathergateup -driver sim -ranks 2 -iters 1 -type bf16 -shapes 8,8,8 -extents "+
		"N2=24 -o other.json -json")
	if want := `"shape":"M 8, K 8, N 8, N2 24, bf16"`; !strings.Contains(out, want) {
		t.Errorf("no %s in\n%s", want, out)
	}
	// A chain is measured whole: a layer in ways of the schedule against the same by NCCL.
	out = succeed(t, dir, "tune llamalayer llamalayernccl -driver sim -ranks 2 -iters 1 -type bf16 -shapes 8,16,16 "+
		"-extents N2=16,F=16,W=8 -o chain.json")
	table, err = tuning.Read(filepath.Join(dir, "chain.json"))
	if err != nil || len(table.Entries) != 1 || table.Entries[0].Operation != "llamalayer" ||
		!strings.Contains(out, "llamalayer by ") && !strings.Contains(out, "llamalayernccl by ") {
		t.Errorf("%+v, %v\n%s", table, err, out)
	}
	if err := os.WriteFile(filepath.Join(dir, "tuning.json"), []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	broken, err := ran(t, dir, "tune allgatherlinear -driver sim -ranks 2 -iters 1 -type bf16 -shapes 8,8,8")
	if err == nil || !strings.Contains(string(broken), "make it again with run tune") {
		t.Errorf("a broken file: %v\n%s", err, broken)
	}
}

// Of a schedule that launches one of several kernels of tiles, each is verified, also in a row.
func TestVerifyTiles(t *testing.T) {
	sampling.Test(t, 2, 3)
	out := succeed(t, t.TempDir(), "verify linearreducescattertiles -driver sim -ranks 2 -iters 11 -type bf16 "+
		"-shapes 16,16,8 -json")
	found := map[string]int{}
	for line := range strings.Lines(out) {
		var r row
		if json.Unmarshal([]byte(line), &r) == nil && r.Result == bitExact {
			found[r.Tiles+" "+r.Mode] += r.Runs
		}
	}
	for _, tiles := range []string{"scatter", "scatter2"} {
		for _, mode := range []string{modeEager, modeReplayed, modeCaptured, modeRow} {
			if found[tiles+" "+mode] != 11 {
				t.Errorf("%s %s: %d runs, want 11\n%s", tiles, mode, found[tiles+" "+mode], out)
			}
		}
	}
}

// spans are those of a file that trace has written.
func spans(t *testing.T, path string) (list []span) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var trace struct{ TraceEvents []span }
	if err := json.Unmarshal(text, &trace); err != nil {
		t.Fatal(err)
	}
	for _, e := range trace.TraceEvents {
		if e.Ph != "X" {
			continue
		}
		list = append(list, e)
		if e.Dur < 0 {
			t.Errorf("%s of %s takes %g us", e.Name, path, e.Dur)
		}
	}
	return list
}

type span struct {
	Name, Ph, Cat string
	Pid           int
	Dur           float64
}

func TestTraceCommand(t *testing.T) {
	sampling.Test(t, 2, 3)
	dir := t.TempDir()
	succeed(t, dir, "trace allgatherlinear linearreducescatter -driver sim -ranks 2 -shapes 8,8,8 -svg picture.svg -o "+
		filepath.Join(dir, "trace.json"))
	for name, products := range map[string]int{"allgatherlinear": 4, "linearreducescatter": 4} {
		found := map[string]int{}
		for _, e := range spans(t, filepath.Join(dir, name+".trace.json")) {
			found[fmt.Sprint(e.Cat, " of ", e.Pid)]++
		}
		if found["product of 0"]+found["product of 1"] != products || found["copy of 1"] != 1 ||
			found["wait of 0"] == 0 {
			t.Errorf("%s: %v", name, found)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "picture.svg")); err != nil {
		t.Error(err)
	}
}

// A network that is played takes its time in the exchanges between hosts.
func TestNetwork(t *testing.T) {
	sampling.Test(t, 2, 3)
	dir := t.TempDir()
	succeed(t, dir, "trace allgatherlinearhosts -driver sim -ranks 2 -hosts 2 -m 8 -k 8 -n 8 -type bf16 -network 1e-5")
	var took []float64
	for _, e := range spans(t, filepath.Join(dir, "trace.json")) {
		if e.Name == "exchange" {
			took = append(took, e.Dur)
		}
	}
	if len(took) != 2 || slices.Min(took) < 6400 { // of 64 bytes
		t.Errorf("exchanges take %v us", took)
	}
}
