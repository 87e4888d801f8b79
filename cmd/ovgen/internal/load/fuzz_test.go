package load

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
)

// FuzzDecode reads what the evaluated program of schedules printed. Every schedule that it
// reads reads the same when written again; every valid one has a host program that can be
// printed, or mistakes that each name a field.
func FuzzDecode(f *testing.F) {
	for _, e := range catalog.All() {
		text, err := json.Marshal(e.Schedule)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, text := range []string{"", "null", "{}", "{}{}", `{"Op":1}`, `{"Extra":1}`,
		`{"Tensors":[{"Axes":[{"Outer":[{"Count":"D"}]}]}]}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d := &Declaration{Name: "X"}
		if decode(bytes.NewReader(text), []*Declaration{d}) != nil {
			return
		}
		again := &Declaration{Name: "X"}
		written, err := json.Marshal(d.Schedule)
		if err != nil {
			t.Fatal(err)
		}
		if err := decode(bytes.NewReader(written), []*Declaration{again}); err != nil || !reflect.DeepEqual(d, again) {
			t.Errorf("%s was read as %s: %v", text, written, err)
		}
		lowered(t, d.Schedule)
	})
}

// lowered takes any value through what gen and show make of it.
func lowered(t *testing.T, s schedule.Schedule) {
	_ = s.Signature()
	p, err := lower.Lower("X", s)
	if err == nil {
		_ = hostir.Print(p)
		return
	}
	fields := schedule.FieldErrors(err)
	if len(fields) == 0 {
		t.Errorf("no field is named: %v", err)
	}
	for _, e := range fields {
		if e.Path == "" || e.Msg == "" {
			t.Errorf("an empty mistake: %#v", e)
		}
	}
}
