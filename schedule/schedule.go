package schedule

// Schedule is a computation, the placement of its tensors on the mesh, and the ways in which they travel.
type Schedule struct {
	// Mesh of the ranks; nil is one axis, DIDx, of D ranks that reach each other's memory. Hosts() is
	// for several hosts.
	Mesh []MeshAxis
	// Tensors of the caller: the operands that it gives, and the results that it gets.
	Tensors []Tensor
	// Ops are the operations, in order: a later one may read results of an earlier one.
	Ops []Op
	// Moves are the ways of the communications that the placements need; ways left out are
	// done in the fastest known way.
	Moves []Move
	// Types the package accepts; empty means BF16, FP16 and FP32.
	Types []Type
	// Multiples are numbers that extents must be multiples of, beside the numbers that the placements need: products of
	// whole numbers, D and W. With {N2: "W*D"} a kernel of the caller's own has whole heads on each rank.
	Multiples map[Extent]string
	// FewRows: kernels of the package make the products of at most so many rows by weights, 8, 16, 32 or 64, where the
	// library of products makes those of more; 0 is none. They have one order of sums: a row has the same bits whatever
	// the number of rows beside it.
	FewRows int
	// Invariant: a row of a result has the same bits whatever the number of rows beside it, and in every other
	// schedule of the same operations that is Invariant, whatever its ways. Products add over K in one order, partial
	// results meet in that of ranks; ways with an order of their own are refused, as New refuses sizes that can't.
	Invariant bool `json:",omitempty"`
	// Teaches says that the schedule shows a choice and its cost: it is no candidate of package tuned and run tune.
	Teaches bool
}

// Tensor is a named operand or result and where its parts are.
type Tensor struct {
	Name string // as the operations call it: a capital, then letters and digits
	Axes []Axis // outermost first, row-major
	// Type is the tensor's own element type; empty is the one that the plan is made for.
	Type Type
	// Root says that only rank 0 has the tensor.
	Root bool
	// Within names the tensor whose memory holds this one as well, so that the operation
	// works in place: of an operand and a result, the one that is smaller, or either. The
	// placements say where in that memory: all of it, or this rank's part.
	Within string
	// Scale names the tensor with the scales of one of eight bits.
	Scale string `json:",omitempty"`
	// Constant: nobody writes this weight from Bind until the runs have ended, and what wrote it before has ended when
	// Enqueue is called. So the package's kernels of products read it ahead of the end of the launch before them. They
	// need GPUs of compute capability 9.0 or later.
	Constant bool `json:",omitempty"`
}

// Axis is one dimension of a tensor, cut from the outside.
type Axis struct {
	Extent Extent  // of the whole dimension
	Outer  []Split // outermost first; the rest is the inner extent
}

// Extent is a symbol bound at run time (M, K, N, F, W, P, N2, N3, and D for the mesh), or
// a positive decimal constant such as "128".
type Extent string

// The symbols.
const (
	M  Extent = "M"  // rows of A and C
	K  Extent = "K"  // the contracted dimension
	N  Extent = "N"  // columns of C
	N2 Extent = "N2" // columns of C2
	N3 Extent = "N3" // columns of C3
	F  Extent = "F"  // columns between the two layers of an MLP
	W  Extent = "W"  // columns of a head
	P  Extent = "P"  // the most rows of one rank's uneven part
	D  Extent = "D"  // ranks of the mesh
)

// Split cuts an axis into Count outer parts.
type Split struct {
	Kind  SplitKind
	Count Extent
	// Shift of a DIDx split: part p is on rank (p + Shift) % D. It is 0, or 1 for the
	// result of a permutation, which sends each rank's part to the next; no other shift
	// is lowered.
	Shift int
	// Uneven parts of a DIDx split have extents of their own, given at Bind.
	Uneven bool
	// Balanced says that uneven parts are as even as can be, so that New knows them: where Count does
	// not divide the extent, the first parts have one row more than the others.
	Balanced bool
	// Most rows of one uneven part, P or a constant, where New has to know: Bind
	// refuses counts above it. Empty: one rank may have all.
	Most Extent
}

// SplitKind names the ranks or steps over which the parts of a split are spread.
type SplitKind string

// Kinds of split.
const (
	Plain      SplitKind = "plain"  // memory only
	DeviceX    SplitKind = "DIDx"   // the ranks of the mesh: a rank holds its part only
	DeviceY    SplitKind = "DIDy"   // the hosts, an axis of the mesh and of no placement
	StreamAxis SplitKind = "Stream" // steps: a part is made at a time
)

// DIDx shards an axis over n ranks.
func DIDx(n Extent) Split { return Split{Kind: DeviceX, Count: n} }

// Balanced shards an axis over n ranks that need not divide it.
func Balanced(n Extent) Split { return Split{Kind: DeviceX, Count: n, Uneven: true, Balanced: true} }

// Stream cuts an axis into n steps.
func Stream(n Extent) Split { return Split{Kind: StreamAxis, Count: n} }

// Dim is an axis of extent e after the given splits.
func Dim(e Extent, outer ...Split) Axis { return Axis{Extent: e, Outer: outer} }
