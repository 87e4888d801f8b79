package schedule

// Schedule is a computation, the placement of its tensors on the mesh, and the ways in which they travel.
type Schedule struct {
	// Mesh of the ranks; nil is one axis, DIDx, of D ranks that reach each other's memory. Hosts() is the mesh of
	// several hosts.
	Mesh []MeshAxis
	// Tensors of the caller: its operands, and its results.
	Tensors []Tensor
	// Ops are the operations, in order: a later one may read results of an earlier one.
	Ops []Op
	// Moves are the ways of the communications that the placements need; a communication without a move is done in the
	// fastest known way.
	Moves []Move
	// Types the package accepts; empty means BF16, FP16 and FP32.
	Types []Type
	// Multiples are numbers that must divide extents, beside the numbers that the placements need: products of whole
	// numbers, D and W. With {N2: "W*D"} the caller's kernel has whole heads on each rank.
	Multiples map[Extent]string
	// FewRows: kernels of the package make the products of at most that many rows by weights, 8, 16, 32 or 64; the
	// library of products makes products of more rows. 0: no such kernels. They sum in one order: a row has the same
	// bits beside any number of rows. With Invariant they make products of any number of rows.
	FewRows int
	// Invariant: a row of a result has the same bits beside any number of rows, and in every other Invariant schedule
	// of the same operations, by any ways. Products add over K in one order, which New compares, and partial results
	// meet in the order of ranks. Ways with another order are refused, and so are calls that don't say it
	// (Op.Invariant); New refuses sizes and devices for which this can't hold.
	Invariant bool `json:",omitempty"`
	// Teaches says that the schedule shows a choice and its cost: package tuned and run tune do not consider it.
	Teaches bool
}

// Tensor is a named operand or result and where its parts are.
type Tensor struct {
	Name string // as the operations call it: a capital, then letters and digits
	Axes []Axis // outermost first, row-major
	// Type is the tensor's element type; empty is the type for which the plan is made.
	Type Type
	// Root says that only rank 0 has the tensor.
	Root bool
	// Within names the tensor whose memory holds this tensor as well, so that the operation works in place. Of an
	// operand and a result, the smaller one lies within the other; of two equal ones, either may. The placements say
	// where in that memory it lies: all of it, or this rank's part.
	Within string
	// Scale names the tensor with the scales of this tensor of codes.
	Scale string `json:",omitempty"`
	// Constant: nobody writes this weight from Bind until the runs have ended, and earlier writes of it have ended when
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
	// Shift of a DIDx split: part p is on rank (p + Shift) % D. It is 0, or 1 for the result of a permutation, which
	// sends each rank's part to the next rank; no other shift is lowered.
	Shift int
	// Uneven parts of a DIDx split have different extents, given at Bind.
	Uneven bool
	// Balanced says that uneven parts differ as little as possible, so that New knows them: where Count does not divide
	// the extent, the first parts have one row more than the others.
	Balanced bool
	// Most is the greatest number of rows of an uneven part, P or a constant, where New has to know it: Bind refuses
	// greater counts. Empty: one rank may have all rows.
	Most Extent
}

// SplitKind names the ranks or steps over which the parts of a split are spread.
type SplitKind string

// Kinds of split.
const (
	Plain      SplitKind = "plain"  // memory only
	DeviceX    SplitKind = "DIDx"   // the ranks of the mesh: a rank holds only its part
	DeviceY    SplitKind = "DIDy"   // the hosts, an axis of the mesh and of no placement
	StreamAxis SplitKind = "Stream" // steps: one part is made at a time
)

// DIDx shards an axis over n ranks.
func DIDx(n Extent) Split { return Split{Kind: DeviceX, Count: n} }

// Balanced shards an axis over n ranks that need not divide it.
func Balanced(n Extent) Split { return Split{Kind: DeviceX, Count: n, Uneven: true, Balanced: true} }

// Stream cuts an axis into n steps.
func Stream(n Extent) Split { return Split{Kind: StreamAxis, Count: n} }

// Dim is an axis of extent e after the given splits.
func Dim(e Extent, outer ...Split) Axis { return Axis{Extent: e, Outer: outer} }
