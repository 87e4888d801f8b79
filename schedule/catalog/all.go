package catalog

import s "ovgen/schedule"

// Named is a schedule of the catalog with its name.
type Named struct {
	Name     string
	Schedule s.Schedule
}

// All lists the catalog in the order of its files' families, for tools that take every
// schedule in turn.
func All() []Named {
	return []Named{
		{"AllGatherMatmul", AllGatherMatmul},
		{"AllGatherLinear", AllGatherLinear},
		{"AllGatherLinearKernels", AllGatherLinearKernels},
	}
}
