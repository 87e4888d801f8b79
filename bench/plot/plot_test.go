package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// The golden file is of made-up figures.
func TestGolden(t *testing.T) {
	dir := t.TempDir()
	var out bytes.Buffer
	if err := run([]string{"-host", "-o", dir, "testdata/figures.json"}, &out); err != nil {
		t.Fatal(err)
	}
	picture, err := os.ReadFile(filepath.Join(dir, "efficiency-70b.svg"))
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "efficiency-70b.svg")
	if *update {
		if err := os.WriteFile(golden, picture, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(picture)); diff != "" {
		t.Errorf("%s differs (-want +got; -update if meant):\n%s", golden, diff)
	}
	if got, want := out.String(), "write "+filepath.Join(dir, "efficiency-70b.svg")+"\n"; got != want {
		t.Errorf("it prints %q, want %q", got, want)
	}
	if others, _ := filepath.Glob(filepath.Join(dir, "*")); len(others) != 1 {
		t.Errorf("files %v, want that of 70B alone", others)
	}
}

func TestSameBytes(t *testing.T) {
	rows, err := read("testdata/figures.json")
	if err != nil {
		t.Fatal(err)
	}
	var first []byte
	for range 5 {
		text, err := picture("70B", collect(rows, "bf16", false))
		if err != nil {
			t.Fatal(err)
		}
		if first != nil && !bytes.Equal(first, text) {
			t.Fatal("the same figures gave other bytes")
		}
		first = text
	}
}

func TestCollect(t *testing.T) {
	base := row{Type: "bf16", M: 1024, K: 4096, N: 3584, Ranks: 4}
	with := func(program, variant string, ms float64) row {
		r := base
		r.Program, r.Variant, r.Ms = program, variant, ms
		return r
	}
	points := collect([]row{
		with(torch, "pure", 2), with("one", "pure", 1.5), with("one", "eager", 3), with("one", "eager", 4),
		with("one", "replayed", 3.5), with("two", "chunks", 1), with("two", "copies", 1), with(nccl, "eager", 6),
		with(symmMem, "eager", 5.5), with(symmMem, "captured", 5),
	}, "bf16", false)
	if len(points) != 1 {
		t.Fatalf("%d points", len(points))
	}
	p := points[0]
	if p.place != (place{"8B", "fc1", 1024}) || p.pure != 1.5 {
		t.Errorf("it is %v, pure %v", p.place, p.pure)
	}
	if name, f, ok := p.ours(); !ok || name != "one" || f != (figure{3, "eager"}) {
		t.Errorf("ours is %s %v %v: want the faster line of the two", name, f, ok)
	}
	if f := p.best[symmMem]; f != (figure{5, "captured"}) {
		t.Errorf("PyTorch's is %v: want its fastest form", f)
	}
}

func TestPlaces(t *testing.T) {
	for _, test := range []struct {
		k, n, ranks int
		want        place
	}{
		{4096, 3584, 4, place{"8B", "fc1", 7}},
		{4096, 7168, 2, place{"8B", "fc1", 7}},
		{14336, 4096, 4, place{"8B", "fc2", 7}},
		{49152, 12288, 8, place{"GPT-3", "fc2", 7}},
		{16384, 8192, 4, place{"DDLB", "fc1", 7}},
		{16384, 8191, 4, place{}},
		{4096, 3584, 0, place{}},
	} {
		if got, _ := placeOf(row{M: 7, K: test.k, N: test.n, Ranks: test.ranks}); got != test.want {
			t.Errorf("k %d, n %d on %d: %v, want %v", test.k, test.n, test.ranks, got, test.want)
		}
	}
}

// A row's own label wins over its shape, and its shape over its program's name.
func TestPlaceByName(t *testing.T) {
	for _, test := range []struct {
		r    row
		want place
	}{
		{row{M: 7, K: 16384, N: 8192, Point: "DDLB/fc2/7", Program: nccl}, place{"DDLB", "fc2", 7}},
		{row{M: 7, K: 16384, N: 8192, Program: "linearreducescatterget"}, place{"DDLB", "fc2", 7}},
	} {
		if got, ok := placeOf(test.r); !ok || got != test.want {
			t.Errorf("%+v: %v, want %v", test.r, got, test.want)
		}
	}
}

func TestTrouble(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(broken, []byte("heading\n{\"m\": }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, "needs files"},
		{[]string{"testdata/absent"}, "read figures"},
		{[]string{broken}, "broken:2: "},
		{[]string{"-type", "fp16", "testdata/figures.json"}, "no line of"},
		{[]string{"-host", "-o", broken, "testdata/figures.json"}, "make the folder of the pictures"},
		{[]string{"-x"}, "not defined"},
	} {
		err := run(test.args, &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: got %v, want %q", test.args, err, test.want)
		}
	}
}
