package kernels

import (
	"fmt"
	"slices"

	"ovgen/runtime/driver"
	"ovgen/runtime/plan"
)

// Table describes the kernels of one package.
type Table struct {
	Types   []driver.Type // element types that sums are compiled for
	Peers   int           // of a rank, at most
	Kernels []Kernel
	Calls   []Call // kernels of the caller, for each element type
	Early   bool   // kernels of packets, elements and groups start before the end of the launch before, and wait for it
}

// Kernel describes one kernel of a package. Around its work it posts words and awaits words, or none.
type Kernel struct {
	Kind     Kind
	Number   int   // 2 for the second kernel of the kind, and so on
	PrePost  Words // posted before the work
	PreWait  Words // awaited before the work, and reset to 0 after it
	PostPost Words // posted after the work
	PostWait Words // awaited after the work
	// Terms counts the terms of a sum or the tensors of a gather; where Varies, it is the largest number of them.
	Terms  int
	Varies bool
	Coded  driver.Type // type of terms with scales, which follow all terms, one for each; 0: terms have the plan's type
	Added  int         // tensors that are added to the sum of packets or tiles
	Bias   bool        // a bias is added to each row of a product
	Tile   Tile        // of a product
	Made   *Made       // the function of a kernel of elements or groups, or of rows of the sum of packets
	Finish *Made       // the function of each element of a sum, which is then rounded, or of all ranks' rows
	// Spread are the results that go to all ranks. Of a sum of packets 1 is the sum, 2 the result of Made, 4 ...; of
	// rows 1 is the result of Made, 2 ..., and the last one its scales.
	Spread uint
	// ByBlocks says that each block posts, awaits and works for its part of the work, by separate words.
	ByBlocks bool
	// InOrder says that the tiles of every shard add up the depth from front to end.
	InOrder bool
}

// Words is the number of words that a kernel posts or awaits at one place.
type Words int

// Numbers of words; 0 means no word.
const (
	One      Words = 1
	EachPeer Words = -1 // a word for each peer
)

// Kind is the purpose of a kernel: the kernel's name without number and element type.
type Kind string

// Kinds of kernels.
const (
	Wait   Kind = "wait"
	Post   Kind = "post"
	Copy   Kind = "copy"
	Reduce Kind = "reduce"
	Widen  Kind = "widen"
	Get    Kind = "get"
	Put    Kind = "put"
	Shot   Kind = "shot"
	Gather Kind = "gather"

	// Elements makes each element from the elements at the same place, Groups from all elements of a row or a head.
	Elements Kind = "elements"
	Groups   Kind = "groups"

	// Tiles gathers shards and multiplies them; Scatter multiplies, and adds up the parts of all ranks.
	Tiles   Kind = "tiles"
	Scatter Kind = "scatter"
	// Packets sends tensors and adds up the tensors that land.
	Packets Kind = "packets"
	// PacketGather sends tensors and puts the tensors that land one after another.
	PacketGather Kind = "packetgather"
	// PacketSpread is Packets of parts; it sends the sums of the parts, and functions of them, to all ranks.
	PacketSpread Kind = "packetspread"
	// PacketRows makes rows, sends them as packets, and puts the rows that land one after another.
	PacketRows Kind = "packetrows"
	// Push is Packets of plain data, with a word for each block.
	Push Kind = "push"
)

// Work is the work of a kernel between its words, as host programs name it. It decides
// which parameters follow the words, and the memory that a launch touches.
type Work string

// Kinds of work. A copy moves bytes; a gather moves several tensors of one size, one behind the other. A sum adds up
// tensors, a function is applied to a tensor and further operands, and a product multiplies matrices, between the
// ranks' shards or partial results. Sums, functions and products are compiled for each element type, products only for
// types of 16 bits. A sum of packets is compiled for each element type too: it sends a tensor to each rank and adds up
// the tensors that land.
const (
	Nothing    Work = ""
	Copies     Work = "copy"
	Gathers    Work = "gather"
	Sums       Work = "sum"
	Applies    Work = "apply"
	Multiplies Work = "tiles"
	Scatters   Work = "scatter"
	Lands      Work = "packets"
	LandsApart Work = "packetgather" // sends packets too, and puts the landed tensors one after another
	LandsTwice Work = "packetspread" // also sends the sums to all ranks, and puts them one after another
	LandsRows  Work = "packetrows"   // sends the rows that a function makes, and puts the rows of all in order
)

// row describes the kernels of one kind.
type row struct {
	kind   Kind
	ident  string // name of the kind's constant
	work   Work
	does   string  // the work, in the words of comments
	blocks int64   // the most blocks of a launch where there is enough work
	early  bool    // in a Table that is Early, the kernel first waits for the end of the launch before
	sends  sending // of kernels of packets alone
}

// rows are all kinds, in the order in which a package lists its kernels. A copy leaves the multiprocessors to the
// products; 16 blocks fill the link. A sum comes after them: it takes two for each multiprocessor of an H200 (96 read
// and wrote 2.4 TB/s of its memory, half of the rate that it delivers), and one where each block awaits words. Groups
// take five, whose rows are on their way while others are added up. Kernels of packets send parts to each rank, or rows
// to all.
var rows = []row{
	{Wait, "Wait", Nothing, "waits until peers have posted, and resets", 1, false, nil},
	{Post, "Post", Nothing, "posts to peers", 1, false, nil},
	{Copy, "Copy", Copies, "copies, out of a peer's memory or its own", 16, false, nil},
	{Reduce, "Reduce", Sums, "adds up tensors in order and in fp32", 264, false, nil},
	{Widen, "Widen", Sums, "adds up tensors in order and in fp32, and keeps that", 264, false, nil},
	{Get, "Get", Copies, "copies from it", 16, false, nil},
	{Put, "Put", Copies, "copies to it", 16, false, nil},
	{Shot, "Shot", Sums, "adds up tensors in order and in fp32", 132, false, nil},
	{Gather, "Gather", Gathers, "copies tensors one after another", 132, false, nil},
	{Elements, "Elements", Applies, "makes each element of those at its place", 264, true, nil},
	{Groups, "Groups", Applies, "makes the elements of a row or of a head of all of these", 660, true, nil},
	{Tiles, "Tiles", Multiplies, "gathers shards and multiplies them", 132, false, nil},
	{Scatter, "Scatter", Scatters, "multiplies and sums", 132, false, nil},
	{Packets, "Packets", Lands, "sends tensors as packets, and adds up what lands in order and in fp32",
		plan.MostPacketBlocks, true, toEach{}},
	{PacketGather, "PacketGather", LandsApart, "sends tensors as packets, and puts what lands one after another",
		plan.MostPacketBlocks, true, toEach{}},
	{PacketSpread, "PacketSpread", LandsTwice,
		"sends tensors as packets, adds up what lands in order and in fp32, and sends that to all",
		plan.MostPacketBlocks, true, toEach{}},
	{PacketRows, "PacketRows", LandsRows, "makes rows, sends them as packets, and puts what lands one after another",
		plan.MostPacketBlocks, true, toAll{}},
	{Push, "Push", Lands, "sends tensors, and adds up what lands in order and in fp32",
		plan.MostPacketBlocks, true, toEach{words: true}},
}

// threads of a block that moves bytes, each 16 bytes at a time.
const threads = 512

// Kinds are all kinds, in the order in which a package lists its kernels.
func Kinds() (list []Kind) {
	for _, r := range rows {
		list = append(list, r.kind)
	}
	return list
}

// row finds the row of the kind; an unknown kind has a row without work.
func (k Kind) row() row {
	for _, r := range rows {
		if r.kind == k {
			return r
		}
	}
	return row{kind: k}
}

// Ident is the name of the kind's constant.
func (k Kind) Ident() string { return k.row().ident }

// Work is the work of kernels of the kind.
func (k Kind) Work() Work { return k.row().work }

// Does describes the work in a few words.
func (k Kind) Does() string { return k.row().does }

// Blocks is the largest number of blocks in a launch of the kind, where there is enough work.
func (k Kind) Blocks() int64 { return k.row().blocks }

// Sums reports whether the kernel adds up tensors.
func (k Kernel) Sums() bool { return k.Kind.Work() == Sums }

// Computes reports whether the kernel computes numbers from others; it is then compiled for each of TypesOf.
func (k Kernel) Computes() bool {
	return k.Sums() || k.Kind.Work() == Applies || k.Multiplies() || k.Lands() && k.Kind.Work() != LandsApart
}

// Multiplies reports whether the kernel makes a product; it is compiled for elements of 16 bits.
func (k Kernel) Multiplies() bool { return k.Kind.Work() == Multiplies || k.Scatters() }

// Scatters reports whether the product's rows go to the ranks that own them, which add them up.
func (k Kernel) Scatters() bool { return k.Kind.Work() == Scatters }

// Copies reports whether the kernel copies.
func (k Kernel) Copies() bool { return k.Kind.Work() == Copies }

// Gathers reports whether the kernel copies several tensors.
func (k Kernel) Gathers() bool { return k.Kind.Work() == Gathers }

// Signals reports whether the kernel posts or awaits words around its work.
func (k Kernel) Signals() bool {
	return k.Kind.Work() != Nothing && k.Words() != [4]Words{} || k.Lands()
}

// counts reports whether the kernel's blocks count themselves. Blocks that each post and await separate words do not.
func (k Kernel) counts() bool { return k.Signals() && (!k.ByBlocks || k.Multiplies()) }

// To is the type of the kernel's results, in a plan of the given element type.
func (k Kernel) To(plan driver.Type) driver.Type {
	if k.Kind == Widen {
		return driver.FP32
	}
	return plan
}

// Base is the kernel's name without the element type: "shot", or "shot2".
func (k Kernel) Base() string {
	if k.Number > 1 {
		return fmt.Sprintf("%s%d", k.Kind, k.Number)
	}
	return string(k.Kind)
}

// Name is the kernel's name in PTX. A kernel that computes has one for each element type.
func (k Kernel) Name(typ driver.Type) string {
	if k.Computes() {
		return k.Base() + "_" + typ.String()
	}
	return k.Base()
}

// TypesOf are the element types for which a computing kernel is compiled.
func (t *Table) TypesOf(k Kernel) []driver.Type {
	if !k.Multiplies() {
		return t.Types
	}
	return slices.DeleteFunc(slices.Clone(t.Types), func(typ driver.Type) bool { return typ.Size() != 2 })
}

// StartsEarly reports whether launches of a kernel start before the end of the launch before, for which they then wait.
func (t *Table) StartsEarly(k Kernel) bool { return t.Early && k.Kind.row().early }

// Code lists the kernels as a driver loads them.
func (t *Table) Code() []driver.Kernel {
	var list []driver.Kernel
	for _, k := range t.Kernels {
		l, types := t.layout(k), []driver.Type{0}
		if k.Computes() {
			types = t.TypesOf(k)
		}
		for _, typ := range types {
			code := driver.Kernel{Name: k.Name(typ), Params: 8 * l.At.Size, Row: Row{l, typ}}
			if k.Makes() {
				code.Form, code.Function = k.Made.Form(), k.Made.Word
			}
			if k.Finish != nil {
				code.Finish = k.Finish.Key
				code.FinishEnd = l.At.Finish + k.Finish.beside() + k.Finish.counts(false)
			}
			if !k.counts() && (k.ByBlocks || k.Lands()) {
				code.Multiprocessors, code.Threads, code.Blocks = plan.MostBlocks, threads, plan.MostBlocks
			}
			if k.Lands() {
				code.Blocks = plan.MostPacketBlocks
			}
			if k.Narrows() {
				code.From = 89
			}
			code.Early = t.StartsEarly(k) // beside kernels of products, which are for 9.0 on
			if k.Multiplies() {
				code.Shared, code.Cluster, code.Only = k.Tile.Shared(), k.Tile.Cluster, tileCapability
				code.AtOnce, code.Threads = k.Scatters(), TileThreads
			}
			list = append(list, code)
		}
	}
	for _, c := range t.Calls {
		for _, typ := range t.Types {
			list = append(list, c.code(typ))
		}
	}
	return list
}
