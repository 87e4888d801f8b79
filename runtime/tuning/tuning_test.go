package tuning

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"ovgen/runtime/plan"
)

func TestFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "tuning.json")
	if _, err := Read(name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	m := Measured{Operation: "allgatherlinear", GPU: "NVIDIA H200", Ranks: 4, Shape: "M 512, K 4096, N 3584, bf16",
		Program: "allgatherlinearkernels", Milliseconds: 0.05}
	want := &Table{}
	want.Put(Measured{Operation: "allgatherlinear", GPU: "NVIDIA H200", Ranks: 4, Shape: m.Shape, Program: "other",
		Milliseconds: 1})
	want.Put(Measured{Operation: "allgatherlinear", GPU: "NVIDIA H200", Ranks: 2, Shape: m.Shape, Program: "other",
		Milliseconds: 1})
	want.Put(m)
	if len(want.Entries) != 2 {
		t.Errorf("%d entries where one replaces another", len(want.Entries))
	}
	if err := want.Write(name); err != nil {
		t.Fatal(err)
	}
	got, err := Read(name)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v, %v; wrote %+v", got, err, want)
	}
	if list, _ := os.ReadDir(filepath.Dir(name)); len(list) != 1 {
		t.Errorf("%d files where one was written", len(list))
	}
}

// extents is a shape of rows and columns.
type extents struct{ m, n int }

func (e extents) String() string { return fmt.Sprintf("M %d, N %d, bf16", e.m, e.n) }

// summing are the options of a sum at a shape: two take multiples alone.
func summing(s extents) (list []option) {
	for _, x := range []struct {
		program string
		of      int
	}{{"sum", 2}, {"sumoneshot", 0}, {"sumtwoshot", 1}} {
		list = append(list, option{Program: &plan.Program{Name: x.program}, nccl: func() bool { return false },
			serves: func() error {
				if s.m < 1 || x.of > 0 && s.m%(x.of*4) != 0 {
					return fmt.Errorf("M is %d: it must be a multiple of %d", s.m, x.of*4)
				}
				return nil
			}})
	}
	return list
}

// measured is a measurement of a sum on four GPUs.
func measured(m, n int, program string) Measured {
	return Measured{Operation: "sum", GPU: "H200", Ranks: 4, Shape: extents{m, n}.String(), Program: program,
		Milliseconds: 0.5}
}

// A shape gets the schedule of the nearest measured one, if that serves.
func TestChoose(t *testing.T) {
	less := measured(16, 64, "sumtwoshot")
	less.Operation, less.Milliseconds = "sumoneshot", .25
	table := &Table{Entries: []Measured{
		measured(16, 64, "sumoneshot"), measured(64, 64, "sumtwoshot"), measured(4096, 64, "sum"),
		measured(64, 8192, "gone"),
		{Operation: "other", GPU: "H200", Ranks: 4, Shape: "M 15, N 64, bf16", Program: "sum", Milliseconds: 1},
		{Operation: "sum", GPU: "B200", Ranks: 4, Shape: "M 15, N 64, bf16", Program: "sum", Milliseconds: 1},
		{Operation: "sum", GPU: "H200", Ranks: 2, Shape: "M 15, N 64, bf16", Program: "sum", Milliseconds: 1},
		{Operation: "sum", GPU: "H200", Ranks: 4, Shape: "M 15, N 64, fp32", Program: "sum", Milliseconds: 1},
		{Operation: "sum", GPU: "H200", Ranks: 4, Shape: "M 15, K 64, bf16", Program: "sum", Milliseconds: 1},
	}}
	for _, x := range []struct {
		table *Table
		at    extents
		want  string
	}{
		{table, extents{16, 64}, "sumoneshot: measured on 4 of H200, 0.5 ms"},
		{table, extents{15, 64}, "sumoneshot: measured on 4 of H200 at M 16, N 64, bf16, 0.5 ms, " +
			"the nearest to M 15, N 64, bf16 that takes it"},
		{table, extents{24, 64}, "sumoneshot: measured on 4 of H200 at M 16"},
		{table, extents{60, 64}, "sumtwoshot: measured on 4 of H200 at M 64"},
		{table, extents{63, 64}, "sumoneshot: measured on 4 of H200 at M 16"}, // two shots take multiples of the ranks
		{table, extents{4000, 64}, "sum: measured on 4 of H200 at M 4096"},
		// The schedule of the nearest shape is gone.
		{table, extents{64, 4096}, "sumtwoshot: measured on 4 of H200 at M 64, N 64"},
		// An operation that asks less of the caller is measured.
		{&Table{Entries: []Measured{less}}, extents{16, 64}, "sumtwoshot: measured on 4 of H200, 0.25 ms"},
		{&Table{Entries: []Measured{less, measured(4096, 64, "sumoneshot")}}, extents{16, 64},
			"sumoneshot: measured on 4 of H200 at M 4096"},
		{nil, extents{16, 64}, "sum: not measured on 4 of H200 at M 16, N 64, bf16"},
		{nil, extents{1, 64}, "sumoneshot: not measured on 4 of H200 at M 1, N 64, bf16, " +
			"and sum does not serve: M is 1: it must be a multiple of 8"},
		{&Table{Entries: []Measured{measured(16, 64, "sum")}}, extents{12, 64},
			"sumoneshot: not measured on 4 of H200 at M 12"},
	} {
		key := measured(x.at.m, x.at.n, "")
		list := summing(x.at)
		i, choice, err := choose(x.table, key, list, prefers{})
		if err != nil || list[i].Name != choice.Program || !strings.HasPrefix(choice.String(), x.want) {
			t.Errorf("%v: %s, %v; want %s", x.at, choice, err, x.want)
		}
	}
	_, choice, err := choose(table, measured(64, 8192, ""), summing(extents{64, 8192}), prefers{})
	if !errors.As(err, new(*UnknownChoiceError)) {
		t.Errorf("a schedule that is gone: %s, %v", choice, err)
	}
	_, choice, err = choose(table, measured(0, 64, ""), summing(extents{0, 64}), prefers{})
	want := "choose a schedule for sum at M 0, N 64, bf16 on 4 ranks: none serves: " +
		"sum: M is 0: it must be a multiple of 8, sumoneshot: M is 0: it must be a multiple of 0, " +
		"sumtwoshot: M is 0: it must be a multiple of 4"
	if !errors.As(err, new(*NoChoiceError)) || err.Error() != want {
		t.Errorf("none takes it: %s, %v; want %s", choice, err, want)
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		``:                             "EOF",
		`{`:                            "unexpected EOF",
		`{"version":2}`:                "version 2",
		`{"version":1,"extra":1}`:      "unknown field",
		`{"version":1}{}`:              "text after",
		`{"version":1,"entries":[{}]}`: "entries[0]",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// FuzzParse reads any text: a table that reads the same again when written, or
// an error.
func FuzzParse(f *testing.F) {
	const entry = `{"version":1,"entries":[{"operation":"a","gpu":"g","ranks":1,"shape":"s","program":"p",`
	f.Add([]byte(entry + `"replayed":true,"ms":1}]}`))
	f.Add([]byte(`{"version":1}`))
	f.Add([]byte(`null`))
	f.Add([]byte(entry + `"ms":1e999}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		tuning, err := Parse(text)
		if (tuning == nil) == (err == nil) {
			t.Fatalf("%v, %v", tuning, err)
		}
		if err != nil {
			return
		}
		written, err := json.Marshal(tuning)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := Parse(written); err != nil || !reflect.DeepEqual(again, tuning) {
			t.Errorf("%s was read as %s: %v", text, written, err)
		}
	})
}

// Shapes of two epsilons are as near as those of one: no time depends on it.
func TestDistance(t *testing.T) {
	for _, x := range []struct {
		a, b string
		far  float64
		ok   bool
	}{
		{"M 16, bf16, epsilon 1e-05", "M 64, bf16, epsilon 1e-06", 2, true},
		{"M 16, bf16, epsilon 1e-05", "M 16, bf16, epsilon 1e-06", 0, true},
		{"M 16, bf16, epsilon 1e-05", "M 16, bf16", 0, false},
		{"M 16, bf16, epsilon 1e-05", "M 16, fp32, epsilon 1e-05", 0, false},
	} {
		if far, ok := distance(x.a, x.b); far != x.far || ok != x.ok {
			t.Errorf("%s and %s: %g, %t", x.a, x.b, far, ok)
		}
	}
}
