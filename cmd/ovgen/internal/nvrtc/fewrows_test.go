package nvrtc

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/runtime/fewrows"
	"ovgen/runtime/kernels"
	"ovgen/templates"
)

// all are the kernels of both kinds of weights.
var all = slices.Concat(fewrows.Kernels, fewrows.Narrow)

// early are options for kernels that start before the launch before them has ended.
var early = []string{"--gpu-architecture=compute_90a", "--std=c++17"}

// TestFewRows compiles the kernels of few rows as packages have them: none spills.
func TestFewRows(t *testing.T) {
	for _, ptx := range [][]byte{compileFewRows(t, all, options, nil), compileFewRows(t, all.Early(), early, nil)} {
		lines, err := pinnedAssembler(t).Usage(ptx)
		if want := 2 * len(all); err != nil || len(lines) != want {
			t.Errorf("got %d lines, %v, want the registers of %d kernels", len(lines), err, want)
		}
		for _, l := range lines {
			t.Log(l)
		}
	}
}

// TestFewRowsMeasured writes the kernels that bench/fewrows measures, and a read beside them: FILE, and early-FILE of
// kernels that start before the launch before them has ended.
func TestFewRowsMeasured(t *testing.T) {
	file := os.Getenv("OVGEN_FEWROWS_PTX")
	if file == "" {
		t.Skip("it writes a file for bench/fewrows, and OVGEN_FEWROWS_PTX names none")
	}
	read, err := os.ReadFile("../../../../bench/fewrows/read.cu")
	if err == nil {
		err = os.WriteFile(file, compileFewRows(t, all, options, read), 0o644)
	}
	if err == nil {
		dir, name := filepath.Split(file)
		err = os.WriteFile(dir+"early-"+name, compileFewRows(t, all.Early(), early, read), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// compileFewRows compiles the kernels, with more behind them.
func compileFewRows(t *testing.T, list fewrows.Family, options []string, behind []byte) []byte {
	t.Helper()
	source, err := templates.Render(templates.Device{From: "a test", About: []string{"Kernels."},
		FewRows: list, Table: kernels.Table{Types: []driver.Type{driver.BF16, driver.FP16, driver.FP32}}}.Source()...)
	if err != nil {
		t.Fatal(err)
	}
	texts, err := templates.Headers()
	if err != nil {
		t.Fatal(err)
	}
	headers := map[string][]byte{}
	for name, text := range texts {
		headers["../device/"+name] = text
	}
	ptx, err := pinned(t).Compile("fewrows.cu", append(source.Bytes, behind...), headers, options)
	if err != nil {
		t.Fatal(err)
	}
	return ptx
}
