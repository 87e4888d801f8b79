//go:build linux && cgo

package cuda

import (
	"cmp"
	"encoding/base64"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/runtime/driver/choices"
	"ovgen/schedule"
	"ovgen/verify/drivertest"
)

// forms of a product of m,k,n 8,16,24 and how cuBLASLt, which counts columns first and
// takes our b for its a, is asked for them.
var forms = []struct {
	desc driver.MatmulDesc
	want string
}{
	{driver.MatmulDesc{}, "op 0 0 epilogue 1 bias (nil) alpha 1 beta 0 a 24x16/24 b 16x8/16 c 24x8/24"},
	{driver.MatmulDesc{Transposed: true, Bias: true},
		"op 1 0 epilogue 4 bias 0x300 alpha 1 beta 0 a 16x24/16 b 16x8/16 c 24x8/24"},
	{driver.MatmulDesc{Transposed: true, Bias: true, Func: "gelu"},
		"op 1 0 epilogue 36 bias 0x300 alpha 1 beta 0 a 16x24/16 b 16x8/16 c 24x8/24"},
	{driver.MatmulDesc{Func: "gelu"},
		"op 0 0 epilogue 32 bias (nil) alpha 1 beta 0 a 24x16/24 b 16x8/16 c 24x8/24"},
	{driver.MatmulDesc{Bias: true, Func: "relu"},
		"op 0 0 epilogue 6 bias 0x300 alpha 1 beta 0 a 24x16/24 b 16x8/16 c 24x8/24"},
	{driver.MatmulDesc{Func: "relu"},
		"op 0 0 epilogue 2 bias (nil) alpha 1 beta 0 a 24x16/24 b 16x8/16 c 24x8/24"},
	{driver.MatmulDesc{TransposedA: true}, "op 0 1 epilogue 1 bias (nil) alpha 1 beta 0 a 24x16/24 b 8x16/8 c 24x8/24"},
	{driver.MatmulDesc{TransposedA: true, Accumulate: true},
		"op 0 1 epilogue 1 bias (nil) alpha 1 beta 1 a 24x16/24 b 8x16/8 c 24x8/24"},
	{driver.MatmulDesc{Transposed: true, Of: driver.E4M3, N: 32}, "op 1 0 epilogue 1 bias (nil) alpha 1 beta 0 " +
		"a 16x32/16 b 16x8/16 c 32x8/32 types 28 28 14 modes 0 0 scales 0x500 0x400"},
	{driver.MatmulDesc{Transposed: true, Of: driver.E5M2, OfB: driver.E4M3, N: 32}, "op 1 0 epilogue 1 bias (nil) " +
		"alpha 1 beta 0 a 16x32/16 b 16x8/16 c 32x8/32 types 28 29 14 modes 0 0 scales 0x500 0x400"},
	{driver.MatmulDesc{Transposed: true, Of: driver.E4M3, OfB: driver.E5M2, N: 32}, "op 1 0 epilogue 1 bias (nil) " +
		"alpha 1 beta 0 a 16x32/16 b 16x8/16 c 32x8/32 types 29 28 14 modes 0 0 scales 0x500 0x400"},
	{driver.MatmulDesc{Transposed: true, Of: driver.E4M3, K: 512, N: 128, BlockScales: true}, "op 1 0 epilogue 1 " +
		"bias (nil) alpha 1 beta 0 a 512x128/512 b 512x8/512 c 128x8/128 types 28 28 14 modes 5 4 scales 0x500 0x400"},
	{driver.MatmulDesc{Transposed: true, Type: driver.FP32, Of: driver.BF16}, "op 1 0 epilogue 1 bias (nil) alpha 1 " +
		"beta 0 a 16x24/16 b 16x8/16 c 24x8/24 types 14 14 0 modes 0 0 scales (nil) (nil)"},
}

// buildFakes compiles a libcuda.so.1 and a libcublasLt.so.12 into one folder.
func buildFakes(t *testing.T) (dir string) {
	dir = buildFake(t)
	for _, name := range []string{"blas.h", "testdata/products.c"} {
		text, err := fakeSource.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("cc", "-shared", "-fPIC", "-std=gnu2x", "-o", "libcublasLt.so.12", "products.c")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

// TestFakeForms sees what reaches cuBLASLt of each form.
func TestFakeForms(t *testing.T) {
	dir := buildFakes(t)
	out := inChild(t, dir, "TestFakeMatmul", blasVariable+"="+dir, "FAKE_BLAS=120900")
	for _, f := range forms {
		if want := "product " + f.want + " at 0x200 0x100 in place\n"; !strings.Contains(out, want) {
			t.Errorf("%+v: no %q in\n%s", f.desc, want, out)
		}
	}
}

// TestEpilogues finds a number for each function that products apply, and for no other.
func TestEpilogues(t *testing.T) {
	want := schedule.Epilogues()
	for _, f := range want {
		if e := epilogues[driver.Func(f.Word)]; e == 0 {
			t.Errorf("cuBLASLt applies no %s", f)
		}
	}
	if got := len(epilogues) - 1; got != len(want) {
		t.Errorf("cuBLASLt applies %d functions, and others %v", got, want)
	}
}

func TestFakeMatmul(t *testing.T) {
	drivertest.OnlyChild(t)
	d, err := backend{}.Open(1, 0)
	must(t, err)
	d.(*Driver).properties.Major, d.(*Driver).properties.Minor = 9, 0
	for _, f := range forms {
		f.desc.M, f.desc.K, f.desc.N = 8, max(16, f.desc.K), max(24, f.desc.N)
		f.desc.Type = cmp.Or(f.desc.Type, driver.BF16)
		m, err := d.MatmulCreate(f.desc)
		must(t, err)
		must(t, d.Matmul(m, driver.Operands{C: 0x100000, A: 0x100, B: 0x200, Bias: 0x300, ScaleA: 0x400, ScaleB: 0x500,
			Workspace: 0x200000}, 0x50))
		var status *driver.Status
		x := driver.Operands{C: 0x100, A: 0x100, B: 0x800, Bias: 0x2000, ScaleA: 0x2000, ScaleB: 0x2000,
			Workspace: 0x3000}
		if err := d.Matmul(m, x, 0x50); !errors.As(err, &status) ||
			status.Text != "an operand overlaps the result" {
			t.Errorf("%+v: a product over its operand: %v", f.desc, err)
		}
		must(t, d.MatmulDestroy(m))
	}
	must(t, d.Close())
}

// TestFakeChoices starts process after process: a product is tuned once, by whatever changes the
// machine or breaks its file again, and its algorithm is the one that was the fastest.
func TestFakeChoices(t *testing.T) {
	dir, cache := buildFakes(t), filepath.Join(t.TempDir(), "cache")
	const file = "products-fake-1-12040-120402.json"
	damage := func(text string) func() {
		return func() {
			if err := os.WriteFile(filepath.Join(cache, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, x := range []struct {
		name    string
		before  func()
		env     []string
		tuned   int // how often, of the two drivers of the process
		checked int // how often an algorithm known before was
		files   int // in the cache's folder afterwards
	}{
		{"switched off by the caller", nil, []string{"FAKE_FOLDER=" + choices.Off}, 1, 1, 0},
		{"switched off", nil, []string{choices.Variable + "=" + choices.Off}, 1, 1, 0},
		{"the first process", nil, nil, 1, 1, 1},
		{"the second process", nil, nil, 0, 2, 1},
		{"another version of the driver", nil, []string{"FAKE_VERSION=12080"}, 1, 1, 2},
		{"another version of cuBLASLt", nil, []string{"FAKE_BLAS=120900"}, 1, 1, 3},
		{"the first machine again", nil, nil, 0, 2, 3},
		{"an algorithm that is refused", nil, []string{"FAKE_REFUSE=1"}, 2, 2, 3},
		{"one that wants more workspace", nil, []string{"FAKE_CHECK=1"}, 2, 2, 3},
		{"a broken file", damage("{"), nil, 1, 1, 3},
		{"the file anew", nil, nil, 0, 2, 3},
		{"no folder can be made", func() { cache = filepath.Join(cache, file, "below") }, nil, 1, 1, 0},
	} {
		t.Run(x.name, func(t *testing.T) {
			if x.before != nil {
				x.before()
			}
			env := append([]string{blasVariable + "=" + dir, choices.Variable + "=" + cache}, x.env...)
			out := inChild(t, dir, "TestFakeTuned", env...)
			tuned, checked := strings.Count(out, "heuristic\n"), strings.Count(out, "check 42 42\n")
			if tuned != x.tuned || checked != x.checked || strings.Count(out, "check") != checked {
				t.Errorf("tuned %d times, checked %d times, want %d and %d:\n%s", tuned, checked,
					x.tuned, x.checked, out)
			}
			if files, _ := os.ReadDir(cache); len(files) != x.files {
				t.Errorf("the folder has %v", files)
			}
			runs := strings.Split(out, "algorithm ")
			if launches := len(runs) - 1; (launches == 2+2) != (tuned == 0) { // each driver's first, and its run
				t.Errorf("%d launches:\n%s", launches, out)
			}
			if last := runs[len(runs)-1]; !strings.HasPrefix(last, "42 ") {
				t.Errorf("the product runs algorithm %s", last)
			}
		})
	}
}

// TestFakeTuned makes one product on two drivers of one process, one after the other.
func TestFakeTuned(t *testing.T) {
	drivertest.OnlyChild(t)
	for range 2 {
		d, err := backend{}.Open(1, 0)
		must(t, err)
		d.(driver.Remembers).Remember(os.Getenv("FAKE_FOLDER"))
		m, err := d.MatmulCreate(driver.MatmulDesc{M: 8, K: 16, N: 24, Type: driver.BF16})
		must(t, err)
		must(t, d.Matmul(m, driver.Operands{C: 0x1000, A: 0x100, B: 0x200, Workspace: 0x2000}, 0x50))
		must(t, errors.Join(d.MatmulDestroy(m), d.Close()))
	}
}

// TestFakeFirst tunes a product that another process tunes at the same time, and keeps first: both run its algorithm,
// though this one would take another, unless the device refuses it.
func TestFakeFirst(t *testing.T) {
	dir := buildFakes(t)
	for _, x := range []struct{ env, want string }{{"", "43 "}, {"FAKE_REFUSE=1", "42 "}} {
		out := inChild(t, dir, "TestFakeSecond", blasVariable+"="+dir, choices.Variable+"="+t.TempDir(), x.env)
		runs := strings.Split(out, "algorithm ")
		if last := runs[len(runs)-1]; !strings.HasPrefix(last, x.want) || strings.Count(out, "heuristic\n") != 2 {
			t.Errorf("%q: the product runs algorithm %s\n%s", x.env, last, out)
		}
	}
}

func TestFakeSecond(t *testing.T) {
	drivertest.OnlyChild(t)
	b, err := backend{}.Open(1, 0)
	must(t, err)
	d := b.(*Driver)
	desc := driver.MatmulDesc{M: 8, K: 16, N: 24, Type: driver.BF16}
	before := d.LibraryVersion()
	first, err := d.MatmulCreate(desc) // reads the file
	must(t, err)
	if v := d.LibraryVersion(); before != 0 || v != 120402 {
		t.Errorf("cuBLASLt is %d before the first product and %d behind it", before, v)
	}
	desc.M = 16
	var a choices.Algorithm
	a[0], a[56] = 43, 43
	_, err = choices.New(choices.Machine{Device: d.properties.Name, Driver: d.properties.Version, Library: 120402},
		choices.Folder("")).Keep(desc, a, choices.Algorithm{}) // the other process
	must(t, err)
	second, err := d.MatmulCreate(desc)
	must(t, err)
	must(t, d.Matmul(second, driver.Operands{C: 0x1000, A: 0x100, B: 0x200, Workspace: 0x2000}, 0x50))
	must(t, errors.Join(d.MatmulDestroy(first), d.MatmulDestroy(second), d.Close()))
}

// TestFakeRowScales tunes a product with scales of rows: where sums that a kernel scales are faster than the whole
// product, or the library has no whole one, the product is made so, also by a driver that finds it in the file.
func TestFakeRowScales(t *testing.T) {
	const form = " alpha 1 beta 0 a 16x32/16 b 16x8/16 c 32x8/32 types 28 28 "
	const whole = " bias 0x300" + form + "14 modes 3 3 scales 0x500 0x400 at 0x200 0x100 "
	const sums = " bias (nil)" + form + "0 modes 0 0 scales (nil) (nil) to 0x2000 room 0x2400 at 0x200 0x100 "
	dir := buildFakes(t)
	for _, x := range []struct{ env, want, launch string }{{"FAKE_SUMS=", sums,
		"launch 0x62 (1,8,1) (128,1,1) shared 0 on 0x50: 4096 extra (nil)\n" +
			"rescale 0x1000 0x2000 0x400 0x500 0x300 32\n"}, {"FAKE=", whole, ""}, {"FAKE_APART=", sums, "rescale"}} {
		out := inChild(t, dir, "TestFakeScaled", blasVariable+"="+dir, choices.Variable+"="+t.TempDir(),
			"FAKE_BLAS=120900", x.env)
		drivers := strings.Split(out, "heuristic\n")
		if len(drivers) != 3 { // one asks for both forms
			t.Fatalf("asked %d times:\n%s", len(drivers)-1, out)
		}
		for i, run := range strings.Split(drivers[2], "made\n")[1:] {
			if !strings.Contains(run, x.want) || !strings.Contains(run, "on 0x50") == (x.launch != "") ||
				!strings.Contains(run, x.launch) {
				t.Errorf("%s driver %d: no %q and %q in\n%s", x.env, i, x.want, x.launch, run)
			}
		}
		if loads, unloads := strings.Count(out, "\nload "), strings.Count(out, "unload "); loads != 2 || unloads != 2 {
			t.Errorf("%d modules loaded, %d unloaded:\n%s", loads, unloads, out)
		}
	}
}

func TestFakeScaled(t *testing.T) {
	drivertest.OnlyChild(t)
	for range 2 {
		b, err := backend{}.Open(1, 0)
		must(t, err)
		d := b.(*Driver)
		d.properties.Major, d.properties.Minor = 9, 0
		m, err := d.MatmulCreate(driver.MatmulDesc{M: 8, K: 16, N: 32, Type: driver.BF16, Of: driver.E4M3,
			Transposed: true, RowScales: true, Bias: true})
		must(t, err)
		os.Stderr.WriteString("made\n")
		must(t, d.Matmul(m, driver.Operands{C: 0x1000, A: 0x100, B: 0x200, Bias: 0x300, ScaleA: 0x400, ScaleB: 0x500,
			Workspace: 0x2000}, 0x50))
		must(t, errors.Join(d.MatmulDestroy(m), d.Close()))
	}
}

// TestFakeBy makes a product by another rank's algorithm beside the one that this rank has tuned.
func TestFakeBy(t *testing.T) {
	dir := buildFakes(t)
	out := inChild(t, dir, "TestFakeAnother", blasVariable+"="+dir, choices.Variable+"="+choices.Off)
	runs := strings.Split(out, "algorithm ")
	n := len(runs)
	if !strings.HasPrefix(runs[n-2], "43 ") || !strings.HasPrefix(runs[n-1], "42 ") ||
		strings.Count(out, "heuristic\n") != 1 {
		t.Errorf("the last products run algorithms %s and %s\n%s", runs[n-2], runs[n-1], out)
	}
}

func TestFakeAnother(t *testing.T) {
	drivertest.OnlyChild(t)
	d, err := backend{}.Open(1, 0)
	must(t, err)
	desc := driver.MatmulDesc{M: 8, K: 16, N: 24, Type: driver.BF16}
	tuned, err := d.MatmulCreate(desc)
	must(t, err)
	var a choices.Algorithm
	a[0], a[56] = 43, 43
	for _, wrong := range []string{"none", base64.StdEncoding.EncodeToString(a[:8])} {
		if _, err := d.MatmulBy(desc, wrong); err == nil {
			t.Errorf("a product by algorithm %q", wrong)
		}
	}
	text := base64.StdEncoding.EncodeToString(a[:])
	by, err := d.MatmulBy(desc, text)
	must(t, err)
	if got := d.MatmulAlgorithm(by); got != text || d.MatmulAlgorithm(tuned) == text {
		t.Errorf("algorithms %s of a product by %s, and %s of the tuned one", got, text, d.MatmulAlgorithm(tuned))
	}
	x := driver.Operands{C: 0x1000, A: 0x100, B: 0x200, Workspace: 0x2000}
	must(t, errors.Join(d.Matmul(by, x, 0x50), d.Matmul(tuned, x, 0x50), d.MatmulDestroy(by), d.MatmulDestroy(tuned)))
	if err := d.MatmulDestroy(by); err == nil {
		t.Error("a product is destroyed twice")
	}
	must(t, d.Close())
}

// TestFakeInOrder tunes a product of few rows in order. No algorithm splits K, and it leaves out each one that gives a
// row other bits than the row has among more rows, were it the fastest; where none is left, nothing is made.
func TestFakeInOrder(t *testing.T) {
	dir := buildFakes(t)
	tuned := func(odd string, more ...string) string {
		return inChild(t, dir, "TestFakeOrdered", append(more, blasVariable+"="+dir, choices.Variable+"="+choices.Off,
			"FAKE_ODD="+odd)...)
	}
	const many, late = "FAKE_ROWS=300", "FAKE_LATE=1" // many rows are compared at several places
	for _, x := range []struct {
		odd, want string
		more      []string
	}{{"", "42 ", nil}, {"42", "41 ", nil}, {"43", "42 ", nil}, {"41", "42 ", nil}, {"42", "41 ", []string{late}},
		{"", "42 ", []string{many}}, {"42", "41 ", []string{many}}, {"42", "41 ", []string{many, late}}} {
		out := tuned(x.odd, x.more...)
		runs := strings.Split(out, "algorithm ")
		last := runs[len(runs)-1]
		if !strings.HasPrefix(last, x.want+"pieces 1 ") || strings.Contains(out, "pieces 2") {
			t.Errorf("algorithm %s is odd: the product runs algorithm %s\n%s", x.odd, last, out)
		}
	}
	// Of row scales, each piece of the 128 rows has its own.
	out := tuned("42", "FAKE_BLAS=120900", "FAKE_SCALES=rows")
	if last := out[strings.LastIndex(out, "algorithm "):]; !strings.HasPrefix(last, "algorithm 41 ") {
		t.Errorf("rows of eight bits: %s\n%s", last, out)
	}
	places := map[string]bool{}
	for _, m := range regexp.MustCompile(`b 16x8/16 .* scales \S+ (\S+) at \S+ (\S+)`).FindAllStringSubmatch(out, -1) {
		places[m[1]+" "+m[2]] = true
	}
	if len(places) != orderRows/8+1 { // and those of the product that is made
		t.Errorf("scales and rows at %v\n%s", places, out)
	}
	out = tuned("all")
	if !strings.Contains(out, "none of 3 algorithms gives a row the bits that it has among 128") {
		t.Errorf("all algorithms are odd:\n%s", out)
	}
}

func TestFakeOrdered(t *testing.T) {
	drivertest.OnlyChild(t)
	d, err := backend{}.Open(1, 0)
	must(t, err)
	rows := 8
	if os.Getenv("FAKE_ROWS") != "" {
		rows, err = strconv.Atoi(os.Getenv("FAKE_ROWS"))
		must(t, err)
	}
	desc := driver.MatmulDesc{M: rows, K: 16, N: 24, Type: driver.BF16, InOrder: true}
	if os.Getenv("FAKE_SCALES") != "" {
		d.(*Driver).properties.Major, d.(*Driver).properties.Minor = 9, 0
		desc.N, desc.Transposed, desc.Of, desc.RowScales = 32, true, driver.E4M3, true
	}
	m, err := d.MatmulCreate(desc)
	if os.Getenv("FAKE_ODD") == "all" {
		os.Stderr.WriteString(err.Error())
		return
	}
	must(t, err)
	must(t, d.Matmul(m, driver.Operands{C: 0x30000, A: 0x10000, B: 0x20000, ScaleA: 0x50000, ScaleB: 0x60000,
		Workspace: 0x40000}, 0x50))
	must(t, errors.Join(d.MatmulDestroy(m), d.Close()))
}
