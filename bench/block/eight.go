package block

import (
	"slices"

	s "ovgen/schedule"
)

// ChainFP8 is the chain with operands of eight bits and scales of rows, and ChainPacketsFP8 is it by packets: what a
// product reads is quantised, normed rows before they travel. In ChainRowsFP8 the kernel that norms and quantises rows
// sends them. Partial results travel in 16 bits.
var (
	ChainFP8        = inEightBits(Chain, s.Dim(s.M, s.Stream(s.D)), byRows)
	ChainPacketsFP8 = inEightBits(ChainByPackets, s.Dim(s.M, s.Stream(s.D)), byRows)
	ChainRowsFP8    = inEightBits(asMade(ChainByPackets), s.Dim(s.M, s.Stream(s.D)), byRows)
)

// asMade is a block whose normed rows are sent by the kernel that makes them.
func asMade(block s.Schedule) s.Schedule {
	block.Moves = slices.Clone(block.Moves)
	for i, m := range block.Moves {
		if m.Of == "X" {
			block.Moves[i].Way = s.PushGather{Rows: true}
		}
	}
	return block
}

// Whole is the block where each rank has all rows, for many. WholeFP8 has scales of rows, and WholeBlocksFP8 of blocks
// and squares of 128: no product by such takes a part of a rank's rows.
var (
	Whole = s.Schedule{Tensors: AllRows.Tensors, Ops: Chain.Ops,
		Moves: []s.Move{{Of: "R", Way: s.Shot{}}, {Of: "C", Way: s.Shot{}}}}
	WholeFP8       = inEightBits(Whole, s.Dim(s.M), byRows)
	WholeBlocksFP8 = inEightBits(Whole, s.Dim(s.M), byBlocks)
)

// axes are those of a tensor's scales by those of its rows and columns.
type axes func(rows, columns s.Axis) []s.Axis

// scaling has the axes of the scales of weights and of codes, the function that quantises, and the operations that make
// the normed rows and their codes.
type scaling struct {
	weight, codes axes
	quantise      s.Func
	normed        []s.Op
}

var byRows = scaling{
	weight: func(rows, _ s.Axis) []s.Axis { return []s.Axis{rows} },
	codes: func(rows, columns s.Axis) []s.Axis {
		if len(columns.Outer) == 0 {
			return []s.Axis{rows}
		}
		return []s.Axis{rows, s.Dim(s.D, s.DIDx(s.D))}
	},
	quantise: s.Quantise(),
	normed:   []s.Op{s.Copy("X8", "R", s.RMSNorm("Norm"), s.Quantise())},
}

var byBlocks = scaling{
	weight:   func(rows, columns s.Axis) []s.Axis { return []s.Axis{blocks(rows), blocks(columns)} },
	codes:    func(rows, columns s.Axis) []s.Axis { return []s.Axis{blocks(columns), rows} },
	quantise: s.Quantise().PerHead("128"),
	normed:   []s.Op{s.Copy("X", "R", s.RMSNorm("Norm")), s.Copy("X8", "X", s.Quantise().PerHead("128"))},
}

func blocks(a s.Axis) s.Axis { return s.Axis{Extent: s.Blocks(a.Extent, 128), Outer: a.Outer} }

// inEightBits returns a block whose products take e4m3. gated is the axis of the rows that the gate makes.
func inEightBits(block s.Schedule, gated s.Axis, by scaling) s.Schedule {
	coded := func(name string, rows, columns s.Axis, scales axes) []s.Tensor {
		return []s.Tensor{
			{Name: name, Axes: []s.Axis{rows, columns}, Type: s.E4M3, Scale: "Scale" + name},
			{Name: "Scale" + name, Axes: scales(rows, columns), Type: s.FP32},
		}
	}
	var tensors []s.Tensor
	for _, t := range block.Tensors {
		if slices.Contains([]string{"Projection", "Gate", "Up", "Down"}, t.Name) {
			tensors = append(tensors, coded(t.Name, t.Axes[0], t.Axes[1], by.weight)...)
		} else {
			tensors = append(tensors, t)
		}
	}
	made := block.Tensors[len(block.Tensors)-1].Axes // of C, and of X
	return s.Schedule{
		Tensors: slices.Concat(tensors, coded("Attention8", s.Dim(s.M), s.Dim(s.K, s.DIDx(s.D)), by.codes),
			coded("X8", made[0], made[1], by.codes), coded("G8", gated, s.Dim(s.F, s.DIDx(s.D)), by.codes)),
		Ops: slices.Concat(
			[]s.Op{s.Copy("Attention8", "Attention", by.quantise),
				s.Linear("R", "Attention8", "Projection", s.Add("Residual"))},
			by.normed,
			[]s.Op{s.Linear("U", "X8", "Up"), s.Linear("G", "X8", "Gate"),
				s.Copy("G8", "G", s.SwiGLU("U"), by.quantise), s.Linear("C", "G8", "Down", s.Add("R"))}),
		Moves: moved(block.Moves),
	}
}

// moved are moves of a block of 16 bits for one of eight, where the rows that travel are codes.
func moved(moves []s.Move) []s.Move {
	moves = slices.Clone(moves)
	for i := range moves {
		if moves[i].Of == "X" {
			moves[i].Of = "X8"
		}
	}
	return moves
}
