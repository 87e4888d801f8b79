// Package local has schedules inside functions.
package local

import s "ovgen/schedule"

func Made(op s.Op, parts int) s.Schedule {
	l := s.Schedule{
		Ops:     []s.Op{op},
		Tensors: []s.Tensor{{Name: "E"}}, // its operation is not known
		// The number of parts is not known, so nothing is reported of By.
		Moves: []s.Move{{Of: "A", Way: s.Pull{Parts: parts, By: "rings"}}},
		Types: []s.Type{"fp8"},              // want `schedule: Types\[0\]: unknown choice "fp8"`
		Mesh:  []s.MeshAxis{{Name: "DIDz"}}, // want `schedule: Mesh\[0\].Name: unknown axis "DIDz" of the mesh`
	}
	l.Moves = nil
	return l
}

func Empty() s.Schedule { return s.Schedule{} }

func Named() []s.Schedule {
	return []s.Schedule{{Ops: []s.Op{{Out: "C", In: []string{"A"},
		Index: "add"}}}} // want `schedule: Ops\[0\].Index: "add" is no index`
}
