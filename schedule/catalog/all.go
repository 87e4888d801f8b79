package catalog

import (
	"slices"

	s "ovgen/schedule"
)

// Named is a schedule of the catalog with its name.
type Named struct {
	Name     string
	Schedule s.Schedule
}

var all = []Named{
	{"AllGatherMatmul", AllGatherMatmul},
	{"AllGatherLinear", AllGatherLinear},
	{"AllGatherLinearBalanced", AllGatherLinearBalanced},
	{"AllGatherLinearBalancedOnce", AllGatherLinearBalancedOnce},
	{"AllGatherLinearKernels", AllGatherLinearKernels},
	{"AllGatherLinearPut", AllGatherLinearPut},
	{"AllGatherLinearParts", AllGatherLinearParts},
	{"AllGatherLinearCopied", AllGatherLinearCopied},
	{"AllGatherLinearGrouped", AllGatherLinearGrouped},
	{"AllGatherLinearFused", AllGatherLinearFused},
	{"AllGatherLinearTiles", AllGatherLinearTiles},
	{"AllGatherLinearOneShot", AllGatherLinearOneShot},
	{"AllGatherLinearPackets", AllGatherLinearPackets},
	{"AllGatherLinearBroadcast", AllGatherLinearBroadcast},
	{"AllGatherLinearStartInLoop", AllGatherLinearStartInLoop},
	{"AllGatherLinearHandlesInLoop", AllGatherLinearHandlesInLoop},
	{"AllGatherLinearRingGet", AllGatherLinearRingGet},
	{"AllGatherLinearRingPut", AllGatherLinearRingPut},
	{"AllGatherLinearRingBackward", AllGatherLinearRingBackward},
	{"AllGatherLinearRingBoth", AllGatherLinearRingBoth},
	{"AllGatherLinearCollective1", AllGatherLinearCollective1},
	{"AllGatherLinearCollective2", AllGatherLinearCollective2},
	{"AllGatherLinearCollective8", AllGatherLinearCollective8},
	{"AllGatherQKV", AllGatherQKV},
	{"AllGatherQKVPackets", AllGatherQKVPackets},
	{"ColumnParallelQKV", ColumnParallelQKV},
	{"AllGatherGateUp", AllGatherGateUp},
	{"AllGatherGateUpPackets", AllGatherGateUpPackets},
	{"AllGatherLinearBatches", AllGatherLinearBatches},
	{"LinearReduceScatter", LinearReduceScatter},
	{"LinearReduceScatterBalanced", LinearReduceScatterBalanced},
	{"LinearReduceScatterBalancedOneShot", LinearReduceScatterBalancedOneShot},
	{"LinearReduceScatterBatches", LinearReduceScatterBatches},
	{"RowParallelLinear", RowParallelLinear},
	{"MatmulReduceScatter", MatmulReduceScatter},
	{"LinearReduceScatterGet", LinearReduceScatterGet},
	{"LinearReduceScatterInSlot", LinearReduceScatterInSlot},
	{"LinearReduceScatterKernels", LinearReduceScatterKernels},
	{"LinearReduceScatterPutKernels", LinearReduceScatterPutKernels},
	{"LinearReduceScatterInOrder", LinearReduceScatterInOrder},
	{"LinearReduceScatterOneShot", LinearReduceScatterOneShot},
	{"LinearReduceScatterPackets", LinearReduceScatterPackets},
	{"LinearReduceScatterTiles", LinearReduceScatterTiles},
	{"LinearReduceScatterRing", LinearReduceScatterRing},
	{"LinearReduceScatterRingKernel", LinearReduceScatterRingKernel},
	{"LinearAllReduce", LinearAllReduce},
	{"LinearAllReduceOneShot", LinearAllReduceOneShot},
	{"LinearAllReducePackets", LinearAllReducePackets},
	{"LinearAllReduceFewRows", LinearAllReduceFewRows},
	{"LinearAllReduceFewRowsAhead", LinearAllReduceFewRowsAhead},
	{"LinearAllReducePush", LinearAllReducePush},
	{"LinearAllReduceTwoShot", LinearAllReduceTwoShot},
	{"LinearAllReduceTwoShotPackets", LinearAllReduceTwoShotPackets},
	{"AllGather", AllGather},
	{"AllGatherOneShot", AllGatherOneShot},
	{"AllGatherPackets", AllGatherPackets},
	{"ReduceScatter", ReduceScatter},
	{"ReduceScatterOneShot", ReduceScatterOneShot},
	{"ReduceScatterPackets", ReduceScatterPackets},
	{"AllReduceOneShot", AllReduceOneShot},
	{"AllReducePackets", AllReducePackets},
	{"AllReducePush", AllReducePush},
	{"AllReduceTwoShot", AllReduceTwoShot},
	{"AllReduceTwoShotPackets", AllReduceTwoShotPackets},
	{"AllReduceNorm", AllReduceNorm},
	{"AllReduceNormApart", AllReduceNormApart},
	{"AllReduceNorms", AllReduceNorms},
	{"ReduceScatterNormGather", ReduceScatterNormGather},
	{"AllGatherNorm", AllGatherNorm},
	{"AllGatherInPlace", AllGatherInPlace},
	{"ReduceScatterInPlace", ReduceScatterInPlace},
	{"AllReduceInPlace", AllReduceInPlace},
	{"Broadcast", Broadcast},
	{"AllToAll", AllToAll},
	{"AllToAllColumns", AllToAllColumns},
	{"Permutation", Permutation},
	{"AllGatherV", AllGatherV},
	{"AllGatherVPadded", AllGatherVPadded},
	{"ReduceScatterV", ReduceScatterV},
	{"AllToAllV", AllToAllV},
	{"AllGatherWeightLinear", AllGatherWeightLinear},
	{"ColumnWeightGradient", ColumnWeightGradient},
	{"RowWeightGradient", RowWeightGradient},
	{"TensorParallelMLP", TensorParallelMLP},
	{"TensorParallelMLPBatches", TensorParallelMLPBatches},
	{"GatedMLP", GatedMLP},
	{"GatedMLPFewRows", GatedMLPFewRows},
	{"InvariantMLP", InvariantMLP},
	{"InvariantMLPPackets", InvariantMLPPackets},
	{"MixedMLP", MixedMLP},
	{"BlockBehindAttention", BlockBehindAttention},
	{"BlockBehindAttentionPackets", BlockBehindAttentionPackets},
	{"BlockBehindAttentionTiles", BlockBehindAttentionTiles},
	{"SquaredReLUMLP", SquaredReLUMLP},
	{"NormedHeads", NormedHeads},
	{"CappedLogits", CappedLogits},
	{"LlamaLayer", LlamaLayer},
	{"LayerNormLinear", LayerNormLinear},
	{"Logits", Logits},
	{"RotaryAttention", RotaryAttention},
	{"AllGatherLinearFP8", AllGatherLinearFP8},
	{"AllGatherLinearPacketsFP8", AllGatherLinearPacketsFP8},
	{"AllGatherQKVFP8", AllGatherQKVFP8},
	{"AllGatherLinearQuantised", AllGatherLinearQuantised},
	{"AllGatherLinearQuantisedPackets", AllGatherLinearQuantisedPackets},
	{"AllGatherLinearBlocksFP8", AllGatherLinearBlocksFP8},
	{"AllGatherQuantised", AllGatherQuantised},
	{"AllGatherQuantisedPackets", AllGatherQuantisedPackets},
	{"AllGatherVQuantised", AllGatherVQuantised},
	{"AllGatherFP4", AllGatherFP4},
	{"AllGatherVFP4", AllGatherVFP4},
	{"AllGatherMXFP4", AllGatherMXFP4},
	{"AllGatherMXFP8", AllGatherMXFP8},
	{"AllGatherBlocksFP8", AllGatherBlocksFP8},
	{"ReduceScatterQuantised", ReduceScatterQuantised},
	{"ReduceScatterVQuantised", ReduceScatterVQuantised},
	{"AllReduceQuantised", AllReduceQuantised},
	{"LinearReduceScatterQuantised", LinearReduceScatterQuantised},
	{"LinearAllReduceQuantisedSums", LinearAllReduceQuantisedSums},
	{"AllGatherVLinearQuantised", AllGatherVLinearQuantised},
	{"LinearReduceScatterVQuantised", LinearReduceScatterVQuantised},
	{"GatedMLPVQuantised", GatedMLPVQuantised},
	{"DataParallelLayer", DataParallelLayer},
	{"AllToAllFP8", AllToAllFP8},
	{"AllToAllVFP8", AllToAllVFP8},
	{"LinearReduceScatterFP8", LinearReduceScatterFP8},
	{"LinearReduceScatterBlocksFP8", LinearReduceScatterBlocksFP8},
	{"LinearReduceScatterE5M2", LinearReduceScatterE5M2},
	{"LinearReduceScatterPacketsFP8", LinearReduceScatterPacketsFP8},
	{"LinearAllReduceFP8", LinearAllReduceFP8},
	{"LinearAllReduceWeightsFP8", LinearAllReduceWeightsFP8},
	{"LinearAllReduceQuantised", LinearAllReduceQuantised},
	{"AllReduceNormQuantised", AllReduceNormQuantised},
	{"GatedMLPFP8", GatedMLPFP8},
	{"AllGatherLinearNCCL", AllGatherLinearNCCL},
	{"AllGatherLinearNCCL4", AllGatherLinearNCCL4},
	{"LinearReduceScatterNCCL", LinearReduceScatterNCCL},
	{"LinearAllReduceNCCL", LinearAllReduceNCCL},
	{"LlamaLayerNCCL", LlamaLayerNCCL},
	{"AllReduceNCCL", AllReduceNCCL},
	{"AllGatherNCCL", AllGatherNCCL},
	{"AllToAllNCCL", AllToAllNCCL},
	{"AllGatherLinearHosts", AllGatherLinearHosts},
	{"LinearReduceScatterHosts", LinearReduceScatterHosts},
	{"LinearAllReduceHosts", LinearAllReduceHosts},
	{"AllReduceHosts", AllReduceHosts},
}

// All lists the catalog in the order of its files' families, for tools that take every
// schedule in turn.
func All() []Named { return slices.Clone(all) }

// Alias is an operation that a schedule of the catalog computes under another name. It has no package of its own.
type Alias struct {
	Name string
	Of   string // the schedule
	Why  string // which operation it is, in terms of the schedule's tensors and extents
}

// Aliases lists them.
func Aliases() []Alias {
	return []Alias{
		{"ColumnInputGradient", "MatmulReduceScatter", "the input's gradient of a column-parallel layer: the " +
			"output's gradient A and the weight B [outputs, inputs] are cut along the outputs (K), and each rank " +
			"keeps its rows of the sum"},
		{"RowInputGradient", "AllGatherMatmul", "the input's gradient of a row-parallel layer: the output's gradient " +
			"A, spread by rows, times the weight B [outputs, inputs] (K and N)"},
	}
}
