// Package gathers declares all-gathers that quantise, by the copy engine and by the kernel that widens, which reads the
// peers' codes itself, in several numbers of parts. bench/gpu.sh gathers compares them. Only make gpu-build generates
// their packages.
package gathers

import (
	s "ovgen/schedule"
	"ovgen/schedule/catalog"
)

// Plain is the gather of 16 bits, and PlainPackets it by packets. Packets is the quantised one by packets, and Rows it
// in one launch, which FoursRows is of four bits.
var (
	Plain        = catalog.AllGather
	PlainPackets = catalog.AllGatherPackets
	Packets      = catalog.AllGatherQuantisedPackets
	Rows         = catalog.AllGatherQuantisedRows
	FoursRows    = s.Schedule{
		Tensors: append(catalog.AllGatherFP4.Tensors[:3:3], catalog.AllGatherQuantisedRows.Tensors[3]),
		Ops:     catalog.AllGatherFP4.Ops,
		Moves:   catalog.AllGatherQuantisedRows.Moves,
	}
)

// In Engine1 and Engine4 the copy engine brings codes, in one part and in four.
var (
	Engine1 = quantised(s.Pull{})
	Engine4 = quantised(s.Pull{Parts: 4, WithStep: true})
)

// In Read1 to Read8 the kernel that widens reads the codes at the peer, in one part to eight.
var (
	Read1 = quantised(s.Pull{WithStep: true, By: s.KernelCopies})
	Read2 = quantised(s.Pull{Parts: 2, WithStep: true, By: s.KernelCopies})
	Read4 = quantised(s.Pull{Parts: 4, WithStep: true, By: s.KernelCopies})
	Read8 = quantised(s.Pull{Parts: 8, WithStep: true, By: s.KernelCopies})
)

// In ReadSignals kernels signal, too.
var ReadSignals = quantised(s.Pull{WithStep: true, By: s.Kernels})

// Fours are of four bits.
var (
	FoursEngine4 = fours(s.Pull{Parts: 4, WithStep: true})
	FoursRead1   = fours(s.Pull{WithStep: true, By: s.KernelCopies})
	FoursRead4   = fours(s.Pull{Parts: 4, WithStep: true, By: s.KernelCopies})
)

func quantised(way s.Pull) s.Schedule { return by(catalog.AllGatherQuantised, way) }

func fours(way s.Pull) s.Schedule { return by(catalog.AllGatherFP4, way) }

func by(of s.Schedule, way s.Pull) s.Schedule {
	of.Moves = []s.Move{{Of: "Codes", Way: way}}
	return of
}
