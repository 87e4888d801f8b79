package lower_test

import (
	"reflect"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
)

// FuzzLower changes schedules of the catalog: each pair of bytes sets one field, of all that there are, to one
// of its values, or an option of a way to nonsense. The result is a program that can be printed, or mistakes
// that each name a field.
func FuzzLower(f *testing.F) {
	for i := range catalog.All() {
		f.Add(uint8(i), []byte{})
		f.Add(uint8(i), []byte{0, 2, 1, 1, 8, 3})
		f.Add(uint8(i), []byte{20, 1, 21, 0, 24, 9})
	}
	f.Fuzz(func(t *testing.T, from uint8, changes []byte) {
		s := changed(catalog.All()[int(from)%len(catalog.All())].Schedule, changes)
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
	})
}

// changed makes changes, each two bytes of the list of all that there are, one after the other.
func changed(s schedule.Schedule, changes []byte) schedule.Schedule {
	for ; len(changes) >= 2; changes = changes[2:] {
		list := scheduletest.Changes(s)
		if at := int(changes[0])<<8 | int(changes[1]); len(list) > 0 {
			s = nonsense(list[at%len(list)].Schedule, at/len(list))
		}
	}
	return s
}

// nonsense sets an option to what it can't be, for one of some numbers.
func nonsense(s schedule.Schedule, n int) schedule.Schedule {
	if len(s.Moves) == 0 || s.Moves[0].Way == nil || n == 0 {
		return s
	}
	v := reflect.ValueOf(s.Moves[0].Way)
	if v.NumField() == 0 {
		return s
	}
	x := reflect.New(v.Type()).Elem()
	x.Set(v)
	switch f := x.Field(n % x.NumField()); f.Kind() {
	case reflect.Int:
		f.SetInt(int64(n - 3))
	case reflect.String:
		f.SetString("nonsense")
	}
	s.Moves[0].Way = x.Interface().(schedule.Way)
	return s
}
