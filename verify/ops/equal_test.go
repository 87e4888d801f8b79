package ops_test

import (
	"reflect"
	"testing"

	"ovgen/verify/ops"
)

// TestEqual changes one field after another. The text, of which the proof's stamp is made, shows each.
func TestEqual(t *testing.T) {
	changed := map[reflect.Kind]any{reflect.Int: 1, reflect.Uint8: 1, reflect.Int64: 1, reflect.String: "x",
		reflect.Bool: true}
	none := ops.Op{Kind: ops.WaitEvent} // whose text has the event
	fields := reflect.TypeFor[ops.Op]()
	for i := range fields.NumField() {
		o := none
		if !o.Equal(none) {
			t.Fatal("two operations without a field are not equal")
		}
		switch at := reflect.ValueOf(&o).Elem().Field(i); at.Kind() {
		case reflect.Slice:
			at.Set(reflect.MakeSlice(at.Type(), 1, 1))
		case reflect.Struct:
			at.Set(reflect.ValueOf(ops.Loc{Buffer: "A"}))
		case reflect.Interface:
			continue // the node
		default:
			at.Set(reflect.ValueOf(changed[at.Kind()]).Convert(at.Type()))
		}
		name := fields.Field(i).Name
		if o.Equal(none) {
			t.Errorf("%s: two operations that differ in it are equal", name)
		}
		if name != "Step" && o.String() == none.String() {
			t.Errorf("%s: two operations that differ in it have one text", name)
		}
	}
}
