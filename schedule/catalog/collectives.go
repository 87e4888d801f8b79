package catalog

import s "ovgen/schedule"

// AllGather copies every rank's rows to every rank. The copy engine pulls them straight
// into C, r+1 first, while the own rows are copied beside. NCCL's all-gather is its
// counterpart.
var AllGather = s.Schedule{
	Tensors: spread,
	Ops:     []s.Op{s.Copy("C", "A")},
}

var spread = []s.Tensor{
	{Name: "A", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.N)}},
	{Name: "C", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.N)}},
}

// AllGatherOneShot is AllGather by one kernel, which reads from all peers at once. Choose it
// below about a megabyte a rank, where the copy engine takes longer to start than to copy.
var AllGatherOneShot = s.Schedule{
	Tensors: spread,
	Ops:     []s.Op{s.Copy("C", "A")},
	Moves:   []s.Move{{Of: "A", Way: s.GatherShot{}}},
}

// AllGatherPackets is AllGatherOneShot whose ranks send their rows, as AllReducePackets does. Choose it up to a
// megabyte or two a rank.
var AllGatherPackets = s.Schedule{
	Tensors: spread,
	Ops:     []s.Op{s.Copy("C", "A")},
	Moves:   []s.Move{{Of: "A", Way: s.PushGather{}}},
}

// ReduceScatter sums the ranks' A and leaves each its rows of the sum: peers' rows are
// put into slots at their owner, which adds them once, in fp32 and in the order of
// ranks. The bits are the same in every run, as NCCL's, which adds along its rings, are
// for one number of ranks and channels only.
var ReduceScatter = s.Schedule{
	Tensors: scattered,
	Ops:     []s.Op{s.Sum("C", "A")},
}

var scattered = []s.Tensor{
	{Name: "A", Axes: []s.Axis{s.Dim(s.D, s.DIDx(s.D)), s.Dim(s.M), s.Dim(s.N)}},
	{Name: "C", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.N)}},
}

// ReduceScatterOneShot is ReduceScatter by one kernel, which reads its rows from all peers at
// once and adds them. Choose it below about a megabyte a rank.
var ReduceScatterOneShot = s.Schedule{
	Tensors: scattered,
	Ops:     []s.Op{s.Sum("C", "A")},
	Moves:   []s.Move{{Of: "C", Way: s.Shot{}}},
}

// ReduceScatterPackets is ReduceScatterOneShot whose ranks send each other the rows, as AllReducePackets does. Choose
// it up to a megabyte or two a rank.
var ReduceScatterPackets = s.Schedule{
	Tensors: scattered,
	Ops:     []s.Op{s.Sum("C", "A")},
	Moves:   []s.Move{{Of: "C", Way: s.PushShot{}}},
}

// AllReduceOneShot sums the ranks' A on every rank: one kernel waits for the peers and
// adds up their A in the order of ranks, so that all get equal bits.
// Choose it below about a megabyte; vLLM's and TensorRT-LLM's one-shot kernels do the
// same.
var AllReduceOneShot = s.Schedule{
	Tensors: summed,
	Ops:     []s.Op{s.Sum("C", "A")},
	Moves:   []s.Move{{Of: "C", Way: s.Shot{}}},
}

// AllReducePackets is AllReduceOneShot whose ranks send each peer their A at once, as words that the peer
// polls until they are not 0: nobody asks whether the peer is ready, and the link is crossed once. The plan has memory
// for six times D tensors: choose it up to two megabytes. NCCL's LL protocol and MSCCL++ send small messages so, with a
// flag for each word.
var AllReducePackets = s.Schedule{
	Tensors: summed,
	Ops:     []s.Op{s.Sum("C", "A")},
	Moves:   []s.Move{{Of: "C", Way: s.PushShot{}}},
}

// AllReducePush is AllReducePackets for larger tensors: the data are sent as they are, and each block of the kernel
// sets a word behind its part. Choose it from four megabytes on, or for a third of the memory.
var AllReducePush = s.Schedule{
	Tensors: summed,
	Ops:     []s.Op{s.Sum("C", "A")},
	Moves:   []s.Move{{Of: "C", Way: s.PushShot{Words: true}}},
}

// AllReduceTwoShot is AllReduceOneShot with each rank adding its own rows only and
// reading the other sums from the ranks that made them. Choose it on four ranks or more, above about a
// megabyte. On two it is slower at every size.
var AllReduceTwoShot = s.Schedule{
	Tensors: summed,
	Ops:     []s.Op{s.Sum("C", "A")},
	Moves:   []s.Move{{Of: "C", Way: s.TwoShot{}}},
}

// AllReduceTwoShotPackets is AllReduceTwoShot whose parts and sums both travel as packets, in one kernel that waits for
// its own data alone: each rank sends 2(D-1)/D of a tensor, where AllReducePackets sends D-1. Meant for three ranks or
// more: on four H100s it is the fastest all-reduce from 2 MiB on. On two it sends as much as AllReducePackets and waits
// twice; two H200s have it the fastest at 8 MiB alone.
var AllReduceTwoShotPackets = s.Schedule{
	Tensors: summed,
	Ops:     []s.Op{s.Sum("C", "A")},
	Moves:   []s.Move{{Of: "C", Way: s.PushTwoShot{}}},
}

// AllReduceNorm is AllReducePackets with the operations that follow it in a layer: the residual is added to the sum,
// which leaves as R, and C is its norm. One kernel does it all, each block of it for whole rows. Choose it where
// attention or another product of the caller's makes A: on two H200s it was faster than AllReduceNormApart for 1 to 256
// rows, and package tuned chooses between them by measurements.
var AllReduceNorm = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.D, s.DIDx(s.D)), s.Dim(s.M), s.Dim(s.N)}},
		{Name: "Residual", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.N)}},
		{Name: "Norm", Axes: []s.Axis{s.Dim(s.N)}},
		{Name: "R", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.N)}},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.N)}},
	},
	Ops:   []s.Op{s.Sum("C", "A", s.Add("Residual"), s.RMSNorm("Norm")).Keeping("R", 1)},
	Moves: []s.Move{{Of: "R", Way: s.PushShot{Rows: true}}},
}

// AllReduceNormApart is AllReduceNorm by two kernels, of which all blocks of the first send, and not whole rows. It has
// the same bits. On two and four H100s it was as fast or faster for some numbers of rows.
var AllReduceNormApart = s.Schedule{
	Tensors: AllReduceNorm.Tensors,
	Ops:     AllReduceNorm.Ops,
	Moves:   []s.Move{{Of: "R", Way: s.PushShot{}}},
}

// AllReduceNormTwoShot is AllReduceNorm in two shots: a row has an owner, which alone sums, adds and norms it, and
// sends R and C to all. Each rank sends 3(D-1)/D of a tensor, where AllReduceNorm sends D-1, so it is meant for four
// ranks or more. The ranks must divide the rows. It has the same bits.
var AllReduceNormTwoShot = s.Schedule{
	Tensors: AllReduceNorm.Tensors,
	Ops:     AllReduceNorm.Ops,
	Moves:   []s.Move{{Of: "R", Way: s.PushTwoShot{Rows: true}}},
}

// AllReduceNorms is AllReduceNorm of Gemma's layers: the sum is normed, too, before the residual is added. One kernel
// makes both norms, behind packets or, without Rows, behind a kernel that sums.
var AllReduceNorms = s.Schedule{
	Tensors: append([]s.Tensor{{Name: "Behind", Axes: []s.Axis{s.Dim(s.N)}}}, AllReduceNorm.Tensors...),
	Ops: []s.Op{
		s.Sum("C", "A", s.RMSNorm("Behind"), s.Add("Residual"), s.RMSNorm("Norm")).Keeping("R", 2),
	},
	Moves: []s.Move{{Of: "R", Way: s.PushShot{Rows: true}}},
}

// ReduceScatterNormGather is the sum between two layers whose rows are spread over the ranks: each rank adds its rows
// of the residual to its rows of the sum, which leave as R, and norms them; all get the norms of all rows.
var ReduceScatterNormGather = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.D, s.DIDx(s.D)), s.Dim(s.M), s.Dim(s.N)}},
		{Name: "Residual", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.N)}},
		{Name: "Norm", Axes: []s.Axis{s.Dim(s.N)}},
		{Name: "R", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.N)}},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.N)}},
	},
	Ops: []s.Op{
		s.Sum("X", "A", s.Add("Residual"), s.RMSNorm("Norm")).Keeping("R", 1),
		s.Copy("C", "X"),
	},
}

// ReduceScatterNormGatherPackets is ReduceScatterNormGather in one kernel of packets: the owner of a row sums, adds and
// norms it, keeps its row of R, and sends that of C to all. Each rank sends 2(D-1)/D of a tensor. Choose it for the few
// rows of a decoder on three ranks or more, where nothing between two layers needs R whole.
var ReduceScatterNormGatherPackets = s.Schedule{
	Tensors: ReduceScatterNormGather.Tensors,
	Ops:     ReduceScatterNormGather.Ops,
	Moves:   []s.Move{{Of: "R", Way: s.PushShot{Rows: true}}, {Of: "X", Way: s.PushGather{}}},
}

// AllGatherNorm is AllGather with a norm of all rows behind it, by every rank. R, the rows as they came, leaves too.
var AllGatherNorm = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.N)}},
		{Name: "Norm", Axes: []s.Axis{s.Dim(s.N)}},
		{Name: "R", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.N)}},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.N)}},
	},
	Ops: []s.Op{s.Copy("C", "A", s.RMSNorm("Norm")).Keeping("R", 0)},
}

// Broadcast copies rank 0's A to every rank; each pulls it for itself. A weight loaded
// once is spread by it: rank 0's link carries it D-1 times, so for large tensors on
// many ranks a scatter and AllGather are faster.
var Broadcast = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.N)}, Root: true},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.N)}},
	},
	Ops: []s.Op{s.Copy("C", "A")},
}

// AllToAll gives part p of every rank's A to rank p, as experts of a mixture need: each
// rank pulls its part from every other, r+1 first, so that no two pull from one at a time.
var AllToAll = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.D, s.DIDx(s.D)), s.Dim(s.D), s.Dim(s.M)}},
		{Name: "C", Axes: []s.Axis{s.Dim(s.D), s.Dim(s.D, s.DIDx(s.D)), s.Dim(s.M)}},
	},
	Ops: []s.Op{s.Copy("C", "A")},
}

// AllToAllColumns gives each rank all rows of its columns, where it had its rows of all columns, as attention that is
// spread by heads (DeepSpeed-Ulysses) needs: rows are tokens, columns heads. Each rank pulls its columns of every
// other's rows in one strided copy. The way back is the same with the placements of A and C exchanged.
var AllToAllColumns = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.N)}},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.N, s.DIDx(s.D))}},
	},
	Ops: []s.Op{s.Copy("C", "A")},
}

// Permutation passes each rank's rows on to the next rank. Pipelines of layers and ring
// attention do this between steps; nvFuser calls it CollectivePermute.
var Permutation = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.N)}},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M, s.Split{Kind: s.DeviceX, Count: s.D, Shift: 1}), s.Dim(s.N)}},
	},
	Ops: []s.Op{s.Copy("C", "A")},
}

// AllGatherInPlace is AllGather of rows that lie where C has them, as inference engines
// and NCCL (sendbuff = recvbuff + rank*count) call it: the caller binds C alone, and each
// rank's rows are in it before the run. No rank copies its own. Choose it where the layer
// before can write into C.
var AllGatherInPlace = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.N)}, Within: "C"},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.N)}},
	},
	Ops: []s.Op{s.Copy("C", "A")},
}

// ReduceScatterInPlace is ReduceScatter whose C is this rank's rows of A: the run leaves
// the sum there, and the other rows of A as they were.
var ReduceScatterInPlace = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.D, s.DIDx(s.D)), s.Dim(s.M), s.Dim(s.N)}},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.N)}, Within: "A"},
	},
	Ops: []s.Op{s.Sum("C", "A")},
}

// AllReduceInPlace is AllReduceTwoShot of one tensor: the sum replaces each rank's C. Between
// reading a part and replacing it lies a meeting of the ranks anyway, so it costs nothing.
// AllReduceOneShot has no such form: a rank would replace memory that its peers still read.
var AllReduceInPlace = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.D, s.DIDx(s.D)), s.Dim(s.M), s.Dim(s.N)}, Within: "C"},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.N)}},
	},
	Ops:   []s.Op{s.Sum("C", "A")},
	Moves: []s.Move{{Of: "C", Way: s.TwoShot{}}},
}

var summed = []s.Tensor{
	{Name: "A", Axes: []s.Axis{s.Dim(s.D, s.DIDx(s.D)), s.Dim(s.M), s.Dim(s.N)}},
	{Name: "C", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.N)}},
}

// AllGatherV is AllGather of shards that differ in rows, by counts that all ranks know and Bind
// takes: a mixture of experts and sequences of unequal length leave such shards. Each shard
// travels as it is, so nothing is padded. P is the most rows that a rank may have, M where
// nothing less is known.
var AllGatherV = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.M, bounded), s.Dim(s.N)}},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.N)}},
	},
	Ops: []s.Op{s.Copy("C", "A")},
}

// AllGatherVPadded is AllGatherV with every shard travelling as P rows, for any count, and put in its place from there:
// how an all-gather of even shards serves uneven ones. Only the local copies depend on the counts, and peers never read
// the caller's memory. Padding and two more passes over memory make it slower than AllGatherV where counts differ much;
// a tuning chooses between the two.
var AllGatherVPadded = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.M, bounded), s.Dim(s.N)}},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.N)}},
	},
	Ops:   []s.Op{s.Copy("C", "A")},
	Moves: []s.Move{{Of: "A", Way: s.Padded{}}},
}

// ReduceScatterV is ReduceScatter to ranks that keep different numbers of rows, by
// counts that Bind takes. One kernel waits for the peers and sums the own rows as it
// reads them over the link, which needs no slots, whose size the counts would decide.
var ReduceScatterV = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.D, s.DIDx(s.D)), s.Dim(s.M), s.Dim(s.N)}},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M, uneven), s.Dim(s.N)}},
	},
	Ops:   []s.Op{s.Sum("C", "A")},
	Moves: []s.Move{{Of: "C", Way: s.Shot{}}},
}

// AllToAllV is AllToAll of parts that differ in length: count [p, q] is the number of elements that rank p has for
// rank q. The dispatch and the combine of a mixture of experts need it, where the router's
// counts are known to all.
var AllToAllV = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.D, uneven), s.Dim(s.D), s.Dim(s.M)}},
		{Name: "C", Axes: []s.Axis{s.Dim(s.D), s.Dim(s.D, uneven), s.Dim(s.M)}},
	},
	Ops: []s.Op{s.Copy("C", "A")},
}

var uneven = s.Split{Kind: s.DeviceX, Count: s.D, Uneven: true}

var bounded = s.Split{Kind: s.DeviceX, Count: s.D, Uneven: true, Most: s.P}
