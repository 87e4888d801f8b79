// Package local has schedules inside functions.
package local

import s "ovgen/schedule"

func Made(op s.Op, parts int) s.Schedule {
	l := s.Schedule{
		Op:        op,
		Tensors:   []s.Tensor{{Name: "E"}},                  // whose operation is not known
		Pipeline:  s.Pipeline{Parts: parts, Order: "rings"}, // not all of it is known
		Transport: s.Transport{Copy: "dma"},                 // want `schedule: Transport.Copy: unknown choice "dma"`
	}
	l.Pipeline.Kind = "any"
	return l
}

func Empty() s.Schedule { return s.Schedule{} }

func Named() []s.Schedule {
	return []s.Schedule{{Op: "add"}} // want `schedule: Op: unknown operation "add"`
}
