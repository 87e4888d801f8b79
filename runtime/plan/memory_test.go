package plan_test

import (
	"reflect"
	"testing"

	"ovgen/runtime/plan"
)

// TestMemoryBeside has what the plans of a group share once, and the rest of each.
func TestMemoryBeside(t *testing.T) {
	a, b := []plan.BufferMemory{{Name: "A", Bytes: 8}}, []plan.BufferMemory{{Name: "B", Bytes: 4}}
	m := plan.Memory{Buffers: a, Staging: 512, Words: 3, Packets: 10, Workspaces: 1, Tuning: 7}
	m.Beside(plan.Memory{Buffers: b, Staging: 256, Words: 4, Packets: 20, Workspaces: 2, Tuning: 6})
	want := plan.Memory{Buffers: append(a, b...), Staging: 512, Words: 7, Packets: 30, Workspaces: 2, Tuning: 7}
	if !reflect.DeepEqual(m, want) {
		t.Errorf("%+v, want %+v", m, want)
	}
}
