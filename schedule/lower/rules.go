package lower

// Kinds of communication.
const (
	gather       moves = "all-gather"           // every rank needs all shards
	gatherChunks moves = "all-gather in chunks" // the same, in steps that cut each shard
	reduce       moves = "reduce-scatter"       // partial results, each part's sum to its owner
	reduceAll    moves = "all-reduce"           // partial results, the sum to all
	gatherBare   moves = "bare all-gather"      // without a product
	broadcast    moves = "broadcast"            // of rank 0's tensor
	exchange     moves = "all-to-all"           // part p of each rank to rank p
	rotation     moves = "permutation"          // each shard to another rank
	// Of columns.
	exchangeColumns moves = "all-to-all of rows and columns" // a part of the rows for a part of the columns, or back
	gatherColumns   moves = "all-gather of columns"          // every rank needs all parts of each row
	reduceBare      moves = "bare reduce-scatter"            // without a product
	allBare         moves = "bare all-reduce"                // without a product
	gatherSum       moves = "all-gather for a gradient"      // every rank sums over all shards' rows
	gradientAll     moves = "all-reduce of a gradient"       // of each rank's rows, the sum to all
	gradientOwn     moves = "reduce-scatter of a gradient"   // the same, each part's sum to its owner
	gatherBatch     moves = "all-gather in batches"          // every rank needs all shards, each of rows of each batch
	reduceColumns   moves = "reduce-scatter of columns"      // the same, of parts of the columns
	reduceBatch     moves = "reduce-scatter in batches"      // partial results, of each batch a part's sum to its owner
	gatherWeight    moves = "all-gather of a weight"         // every rank multiplies its own rows by all of it
	gatherInputs    moves = "all-gather of weight columns"   // the same, of one that is spread along K
	gatherRow       moves = "all-gather along the sum"       // every rank needs whole rows of A, and has parts
	// Variants that other programs serve.
	reduceUneven   moves = "bare reduce-scatter of uneven parts"
	gatherBalanced moves = "all-gather of balanced parts"
	reduceBalanced moves = "reduce-scatter to balanced parts"
	// Communications within a chain.
	gatherLink moves = "all-gather in a chain"
	reduceLink moves = "reduce-scatter in a chain"
	allLink    moves = "all-reduce in a chain"
	columnLink moves = "all-gather of columns in a chain"
	// Communications of ranks on several hosts.
	gatherHosts     moves = "all-gather over hosts"
	reduceHosts     moves = "reduce-scatter over hosts"
	allHosts        moves = "all-reduce over hosts"
	gatherBareHosts moves = "bare all-gather over hosts"
	reduceBareHosts moves = "bare reduce-scatter over hosts"
	allBareHosts    moves = "bare all-reduce over hosts"
	gatherLinkHosts moves = "all-gather in a chain over hosts"
	reduceLinkHosts moves = "reduce-scatter in a chain over hosts"
	allLinkHosts    moves = "all-reduce in a chain over hosts"
)

// further says that the communication serves several products of one operand.
func (m moves) further() bool {
	return m == gather || m == gatherChunks || m == gatherBatch || m == gatherBalanced || m == gatherHosts
}

// reduces says that partial results of a product meet.
func (m moves) reduces() bool {
	return m == reduce || m == reduceColumns || m == reduceBatch || m == reduceAll || m == reduceBalanced ||
		m == reduceHosts || m == allHosts
}

// places is where a row wants tensors.
type places = map[string]string

// gatherRules: A is sharded and every rank makes all of C.
var gatherRules = []rule{
	{communication{gather, "A"}, matmul, places{"A": "[DIDx(D), M/D, K]", "C": "[Stream(D), M/D, N]"}},
	{communication{gather, "A"}, linear, places{"A": "[DIDx(D), M/D, K]", "C": "[Stream(D), M/D, N]"}},
	{communication{gatherBalanced, "A"}, matmul, places{"A": "[DIDx(D, balanced), M/D, K]", "C": "[M, N]"}},
	{communication{gatherBalanced, "A"}, linear, places{"A": "[DIDx(D, balanced), M/D, K]", "C": "[M, N]"}},
	{communication{gatherChunks, "A"}, matmul,
		places{"A": "[S, DIDx(D), M/(S*D), K]", "C": "[Stream(S), D, M/(S*D), N]"}},
	{communication{gatherChunks, "A"}, linear,
		places{"A": "[S, DIDx(D), M/(S*D), K]", "C": "[Stream(S), D, M/(S*D), N]"}},
	{communication{gatherBatch, "A"}, matmul,
		places{"A": "[S, DIDx(D), M/(S*D), K]", "C": "[S, Stream(D), M/(S*D), N]"}},
	{communication{gatherBatch, "A"}, linear,
		places{"A": "[S, DIDx(D), M/(S*D), K]", "C": "[S, Stream(D), M/(S*D), N]"}},
}

// reduceRules: the contracted dimension is sharded, so each rank has a partial C.
var reduceRules = []rule{
	{communication{reduce, "C"}, matmul,
		places{"A": "[M, DIDx(D), K/D]", "B": "[DIDx(D), K/D, N]", "C": "[DIDx(D), M/D, N]"}},
	{communication{reduce, "C"}, linear,
		places{"A": "[M, DIDx(D), K/D]", "B": "[N, DIDx(D), K/D]", "C": "[DIDx(D), M/D, N]"}},
	{communication{reduceColumns, "C"}, linear, places{"A": "[M, DIDx(D), K/D]", "B": "[N, DIDx(D), K/D]",
		"C": "[M, DIDx(D), N/D]", "Bias": "[DIDx(D), N/D]"}},
	{communication{reduceBalanced, "C"}, matmul,
		places{"A": "[M, DIDx(D), K/D]", "B": "[DIDx(D), K/D, N]", "C": "[DIDx(D, balanced), M/D, N]"}},
	{communication{reduceBalanced, "C"}, linear,
		places{"A": "[M, DIDx(D), K/D]", "B": "[N, DIDx(D), K/D]", "C": "[DIDx(D, balanced), M/D, N]"}},
	{communication{reduceBatch, "C"}, matmul,
		places{"A": "[M, DIDx(D), K/D]", "B": "[DIDx(D), K/D, N]", "C": "[S, DIDx(D), M/(S*D), N]"}},
	{communication{reduceBatch, "C"}, linear,
		places{"A": "[M, DIDx(D), K/D]", "B": "[N, DIDx(D), K/D]", "C": "[S, DIDx(D), M/(S*D), N]"}},
	{communication{reduceAll, "C"}, matmul, places{"A": "[M, DIDx(D), K/D]", "B": "[DIDx(D), K/D, N]", "C": "[M, N]"}},
	{communication{reduceAll, "C"}, linear, places{"A": "[M, DIDx(D), K/D]", "B": "[N, DIDx(D), K/D]", "C": "[M, N]"}},
	{communication{reduceBare, "C"}, summedUp, places{"A": "[DIDx(D), M, N]", "C": "[DIDx(D), M/D, N]"}},
	{communication{reduceUneven, "C"}, summedUp, places{"A": "[DIDx(D), M, N]", "C": "[DIDx(D, uneven), M/D, N]"}},
	{communication{allBare, "C"}, summedUp, places{"A": "[DIDx(D), M, N]", "C": "[M, N]"}},
}

// copyRules: C is A, placed otherwise.
var copyRules = []rule{
	{communication{gatherBare, "A"}, copied, places{"A": "[DIDx(D), M/D, N]", "C": "[M, N]"}},
	{communication{gatherBare, "A"}, copied, places{"A": "[DIDx(D, uneven), M/D, N]", "C": "[M, N]"}},
	{communication{broadcast, "A"}, copied, places{"A": "[M, N] on rank 0", "C": "[M, N]"}},
	{communication{exchange, "A"}, copied, places{"A": "[DIDx(D), D, M]", "C": "[D, DIDx(D), M]"}},
	{communication{exchange, "A"}, copied, places{"A": "[DIDx(D), D, M, N]", "C": "[D, DIDx(D), M, N]"}},
	{communication{exchange, "A"}, copied, places{"A": "[DIDx(D, uneven), D, M]", "C": "[D, DIDx(D, uneven), M]"}},
	{communication{exchangeColumns, "A"}, copied, places{"A": "[DIDx(D), M/D, N]", "C": "[M, DIDx(D), N/D]"}},
	{communication{exchangeColumns, "A"}, copied, places{"A": "[M, DIDx(D), N/D]", "C": "[DIDx(D), M/D, N]"}},
	{communication{gatherColumns, "A"}, copied, places{"A": "[M, DIDx(D), N/D]", "C": "[M, N]"}},
	{communication{rotation, "A"}, copied, places{"A": "[DIDx(D), M/D, N]", "C": "[DIDx(D, shift 1), M/D, N]"}},
}

// links are the communications of chains, with the need for each.
var links = []struct {
	moves  moves
	needed string
}{
	{gatherLink, "linear: an operand [DIDx(D), M/D, K], and a weight [DIDx(D), N/D, K]"},
	{reduceLink, "linear: an operand [M, DIDx(D), K/D], a weight [N, DIDx(D), K/D], and a result [DIDx(D), M/D, N]"},
	{columnLink, "linear: a weight [DIDx(D), N/D, K], and a result [M, N]"},
	{allLink, "linear: an operand [M, DIDx(D), K/D], a weight [N, DIDx(D), K/D], and a result [M, N]"},
}

// weightRules: each rank has its own rows of A and of C, and a part of B.
var weightRules = []rule{
	{communication{gatherWeight, "B"}, linear,
		places{"A": "[DIDx(D), M/D, K]", "B": "[DIDx(D), N/D, K]", "C": "[DIDx(D), M/D, N]"}},
	{communication{gatherInputs, "B"}, linear,
		places{"A": "[DIDx(D), M/D, K]", "B": "[N, DIDx(D), K/D]", "C": "[DIDx(D), M/D, N]"}},
	{communication{gatherInputs, "B"}, linear, places{"B": "[N, DIDx(D), K/D]"}},
	{communication{gatherRow, "A"}, linear, places{"A": "[M, DIDx(D), K/D]"}},
}

// layerRules are the rules for backward passes.
var layerRules = []rule{
	{communication{gatherSum, "B"}, gradient, places{"B": "[DIDx(D), M/D, K]"}},
	{communication{gatherSum, "A"}, gradient, places{"A": "[DIDx(D), M/D, N]"}},
	{communication{gradientAll, "C"}, gradient, places{"A": "[DIDx(D), M/D, N]", "B": "[DIDx(D), M/D, K]"}},
	{communication{gradientOwn, "C"}, gradient,
		places{"A": "[DIDx(D), M/D, N]", "B": "[DIDx(D), M/D, K]", "C": "[DIDx(D), N/D, K]"}},
}
