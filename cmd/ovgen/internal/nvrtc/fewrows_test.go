package nvrtc

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ovgen/bench/fewrows/functions"
	"ovgen/runtime/driver"
	"ovgen/runtime/fewrows"
	"ovgen/runtime/kernels"
	"ovgen/templates"
	"ovgen/verify/sampling"
)

// all are the kernels of both kinds of weights.
var all = slices.Concat(fewrows.Kernels, fewrows.Narrow)

// late and early are options for kernels that start when the launch before them has ended, or before.
var late = []string{"--gpu-architecture=compute_89", "--std=c++17"}
var early = []string{"--gpu-architecture=compute_90a", "--std=c++17"}

// both are the types of kernels of few rows.
var both = []driver.Type{driver.BF16, driver.FP16}

// few are those whose registers a test counts: one or, where OVGEN_SOAK is set, both.
func few() []driver.Type {
	if !sampling.All() {
		return both[:1]
	}
	return both
}

// TestFewRows compiles the kernels of few rows as packages have them: none spills.
func TestFewRows(t *testing.T) {
	sampling.Test(t, 0, 2)
	types := few()
	for _, ptx := range [][]byte{compileFewRows(t, all, types, late, nil),
		compileFewRows(t, all.Early(), types, early, nil)} {
		lines, err := pinnedAssembler(t).Usage(ptx)
		if want := len(types) * len(all); err != nil || len(lines) != want {
			t.Errorf("got %d lines, %v, want the registers of %d kernels", len(lines), err, want)
		}
		for _, l := range lines {
			t.Log(l)
		}
	}
}

// TestFewRowsMaking compiles those of the kernels with the most registers that apply functions: none spills. Where
// OVGEN_SOAK is not set they are one of each kind of weights.
func TestFewRowsMaking(t *testing.T) {
	sampling.Test(t, 1, 4)
	wide := fewrows.Family{fewrows.Kernels[3], fewrows.Narrow[3], fewrows.Kernels[2]}
	if !sampling.All() {
		wide = wide[:2]
	}
	for _, c := range []struct {
		family  fewrows.Family
		options []string
	}{{wide, late}, {wide.Early(), early}} {
		lines, err := pinnedAssembler(t).Usage(compileMaking(t, c.family, few(), c.options, nil))
		if want := len(few()) * 4 * len(wide); err != nil || len(lines) < want {
			t.Errorf("got %d lines, %v, want the registers of %d kernels and more", len(lines), err, want)
		}
		for _, l := range lines {
			t.Log(l)
		}
	}
}

// compileMaking compiles the kernels without a function and with each, and kernels of the functions by themselves.
func compileMaking(t *testing.T, list fewrows.Family, types []driver.Type, options []string, behind []byte) []byte {
	t.Helper()
	d, err := functions.Device(list)
	if err != nil {
		t.Fatal(err)
	}
	d.Table.Types = types
	return compileDevice(t, d, options, behind)
}

// TestFewRowsMeasured writes the kernels that bench/fewrows measures, and a read beside them: FILE, and early-FILE of
// kernels that start before the launch before them has ended; and kernels that apply functions: making-FILE, and
// early-making-FILE.
func TestFewRowsMeasured(t *testing.T) {
	file := os.Getenv("OVGEN_FEWROWS_PTX")
	if file == "" {
		t.Skip("it writes a file for bench/fewrows, and OVGEN_FEWROWS_PTX names none")
	}
	read, err := os.ReadFile("../../../../bench/fewrows/read.cu")
	if err == nil {
		err = os.WriteFile(file, compileFewRows(t, all, both, late, read), 0o644)
	}
	dir, name := filepath.Split(file)
	for prefix, ptx := range map[string]func() []byte{
		"early-":        func() []byte { return compileFewRows(t, all.Early(), both, early, read) },
		"making-":       func() []byte { return compileMaking(t, all, both, late, read) },
		"early-making-": func() []byte { return compileMaking(t, all.Early(), both, early, read) },
	} {
		if err == nil {
			err = os.WriteFile(dir+prefix+name, ptx(), 0o644)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// compileFewRows compiles the kernels, with more behind them.
func compileFewRows(t *testing.T, list fewrows.Family, types []driver.Type, options []string, behind []byte) []byte {
	t.Helper()
	return compileDevice(t, templates.Device{From: "a test", About: []string{"Kernels."}, FewRows: list,
		Table: kernels.Table{Types: types}}, options, behind)
}

// compileDevice compiles device code, with more behind it.
func compileDevice(t *testing.T, d templates.Device, options []string, behind []byte) []byte {
	t.Helper()
	source, err := templates.Render(d.Source()...)
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
