//go:build linux && cgo

package cuda

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/verify/reference"
)

// TestRescalePTX holds the PTX against its head and the source that lies here.
func TestRescalePTX(t *testing.T) {
	text, err := os.ReadFile("rescale.cu")
	must(t, err)
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^#include "(.*)"$`).FindAllSubmatch(text, -1) {
		names = append(names, string(m[1]))
	}
	slices.Sort(names)
	texts := [][]byte{text}
	for _, name := range names {
		header, err := os.ReadFile(name)
		must(t, err)
		texts = append(texts, header)
	}
	c := driver.Code{Name: "rescale.cu", Source: driver.Digest(texts...), PTX: rescalePTX}
	if err := c.Check(); err != nil {
		t.Errorf("%v: go generate .", err)
	}
}

// rescaleSource is what TestRescale compiles: embedded, so that a mutant of it is compiled in its place.
//
//go:embed rescale.cu
var rescaleSource []byte

// TestRescale runs the kernel on the host, over sums of which none is equal to another, and finds what lies behind the
// result untouched.
func TestRescale(t *testing.T) {
	if _, err := exec.LookPath("g++"); err != nil {
		t.Skip("no g++ here, and the kernel is compiled for the host")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "rescale")
	must(t, os.WriteFile(program+".cu", rescaleSource, 0o600))
	build := exec.Command("g++", "-std=c++17", "-O1", "-I"+dir, "-I.", "-o", program, "testdata/rescale.cc")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("compile: %v\n%s", err, out)
	}
	const rows, columns = 3, 2064 // two blocks of threads, and a part of a third
	for _, bias := range []string{"", "bias"} {
		out, err := exec.Command(program, bias).Output()
		must(t, err)
		want := new(bytes.Buffer)
		for i := range rows * columns {
			x := float32(i) * float32(math.Ldexp(1, i/columns-1)) * float32(math.Ldexp(1, i%columns%3))
			if bias != "" {
				x += float32(i%columns%256 - 128)
			}
			want.Write(reference.Encode(driver.BF16, []float32{x}))
		}
		want.Write(bytes.Repeat([]byte{0xab}, 2*columns))
		if !bytes.Equal(out, want.Bytes()) {
			t.Errorf("with bias %q the kernel does wrong", bias)
		}
	}
}

// TestScaledChoices multiplies -1, 0 and 1, by scales that are powers of two, with each algorithm of a product, of
// which some apply scales themselves and others leave them to the kernel: all results are equal.
func TestScaledChoices(t *testing.T) {
	d := device(t)
	for _, m := range []int{1, 24, 27, 200} {
		desc := driver.MatmulDesc{M: m, K: 512, N: 2064, Type: driver.BF16, Of: driver.E4M3, Transposed: true,
			RowScales: true, Bias: m == 24}
		if err := d.scaled(desc); err != nil {
			t.Skip(err)
		}
		must(t, d.openBlas())
		x, err := d.newScratch(desc, false)
		must(t, err)
		codes, scales := make([]byte, desc.N*desc.K), make([]float32, desc.N)
		for i := range codes {
			codes[i] = [7]byte{0, 0, 0x38, 0, 0, 0xb8, 0}[(i+i/7)%7]
		}
		for i := range scales {
			scales[i] = float32(math.Ldexp(1, i*7%4-2))
		}
		bias := reference.Encode(driver.BF16, scales)
		for at, from := range map[driver.Ptr][]byte{x.A: codes[:m*desc.K], x.B: codes, x.Bias: bias,
			x.ScaleA: reference.Encode(driver.FP32, scales[:m]), x.ScaleB: reference.Encode(driver.FP32, scales)} {
			must(t, d.MemcpyHtoD(at, from))
		}
		p, count, err := d.ask(desc, x.Bias)
		must(t, err)
		var want []byte
		var forms [2]int
		for i := range count {
			got := bytes.Repeat([]byte{0xab}, m*desc.N*2)
			must(t, d.MemcpyHtoD(x.C, got))
			if _, err := d.time(p, i, 1, x); err != nil { // the launch may refuse an algorithm
				continue
			}
			must(t, d.MemcpyDtoH(got, x.C))
			algorithm, err := base64.StdEncoding.DecodeString(d.MatmulAlgorithm(p))
			must(t, err)
			forms[algorithm[len(algorithm)-1]]++
			if want == nil {
				want = got
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%d rows: algorithm %d of %d gives other bits than the first", m, i, count)
			}
		}
		if forms[0] == 0 || forms[1] == 0 {
			t.Errorf("%d rows: algorithms of the two forms %d", m, forms)
		}
		must(t, d.freeScratch(x))
	}
}
