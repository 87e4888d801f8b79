package plan

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestTuningFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "tuning.json")
	if _, err := ReadTuning(name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	m := Measured{Operation: "allgatherlinear", GPU: "NVIDIA H200", Ranks: 4, Shape: "M 512, K 4096, N 3584, bf16", Program: "allgatherlinearkernels", Milliseconds: 0.05}
	want := &Tuning{}
	want.Put(Measured{Operation: "allgatherlinear", GPU: "NVIDIA H200", Ranks: 4, Shape: m.Shape, Program: "other", Milliseconds: 1})
	want.Put(Measured{Operation: "allgatherlinear", GPU: "NVIDIA H200", Ranks: 2, Shape: m.Shape, Program: "other", Milliseconds: 1})
	want.Put(m)
	if len(want.Entries) != 2 {
		t.Errorf("%d entries where one replaces another", len(want.Entries))
	}
	if err := want.Write(name); err != nil {
		t.Fatal(err)
	}
	got, err := ReadTuning(name)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v, %v; wrote %+v", got, err, want)
	}
	if list, _ := os.ReadDir(filepath.Dir(name)); len(list) != 1 {
		t.Errorf("%d files where one was written", len(list))
	}
}

func TestParseTuningRefuses(t *testing.T) {
	for text, want := range map[string]string{
		``:                             "EOF",
		`{`:                            "unexpected EOF",
		`{"version":2}`:                "version 2",
		`{"version":1,"extra":1}`:      "unknown field",
		`{"version":1}{}`:              "text behind",
		`{"version":1,"entries":[{}]}`: "entries[0]",
	} {
		if _, err := ParseTuning([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// FuzzParseTuning reads any text: a table that reads the same again when written, or
// an error.
func FuzzParseTuning(f *testing.F) {
	f.Add([]byte(`{"version":1,"entries":[{"operation":"a","gpu":"g","ranks":1,"shape":"s","program":"p","replayed":true,"ms":1}]}`))
	f.Add([]byte(`{"version":1}`))
	f.Add([]byte(`null`))
	f.Add([]byte(`{"version":1,"entries":[{"operation":"a","gpu":"g","ranks":1,"shape":"s","program":"p","ms":1e999}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		tuning, err := ParseTuning(text)
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
		if again, err := ParseTuning(written); err != nil || !reflect.DeepEqual(again, tuning) {
			t.Errorf("%s was read as %s: %v", text, written, err)
		}
	})
}
