package lower

import (
	"slices"

	"ovgen/schedule/hostir"
)

// Streams.
var (
	mainRef = hostir.Stream(hostir.MainStream)
	copyRef = hostir.Stream(copyName)
	copySet = hostir.StreamSet{Name: copyName, High: true}
	// Collectives beside products start before them: the node after the next one waits for them.
	collectiveRef = hostir.Stream(collectiveName)
	collectiveSet = hostir.StreamSet{Name: collectiveName, High: true}
)

// poolIndex is the number of a step's compute stream.
func poolIndex(d *draft, step hostir.Expr) hostir.Expr {
	if d.with.compute > 0 {
		return hostir.Mod(step, hostir.Var(poolName))
	}
	return step
}

// Where forks and joins come from.
var (
	forkAt = hostir.Origin{Field: "StartInLoop"}
	joinAt = hostir.Origin{Remark: "join", Field: hostir.MovesField}
)

// fork declares streams, if they are not, and makes them wait for the caller's.
func (d *draft) fork(sets ...hostir.StreamSet) hostir.Synchronize {
	for _, s := range sets {
		if !slices.ContainsFunc(d.program.Streams, func(x hostir.StreamSet) bool { return x.Name == s.Name }) {
			d.program.Streams = append(d.program.Streams, s)
		}
	}
	return hostir.Synchronize{Origin: forkAt, Streams: refs(sets), On: []hostir.StreamRef{mainRef}}
}

// join makes the caller's stream wait for others at the end.
func join(sets ...hostir.StreamSet) hostir.Synchronize {
	return hostir.Synchronize{Origin: joinAt, Streams: []hostir.StreamRef{mainRef}, On: refs(sets)}
}

func refs(sets []hostir.StreamSet) []hostir.StreamRef {
	var list []hostir.StreamRef
	for _, s := range sets {
		list = append(list, hostir.StreamRef{Set: s.Name, From: s.First, To: s.Count})
	}
	return list
}

// Names that programs use.
const (
	chunksName = "S" // steps of the stream axis where they are a constant
	stepIndex  = "i"
	free       = "free"          // the owner's slots may be written
	arrived    = "arrived"       // a partial result is in its slot
	partial    = "partial"       // partial results for their owners
	landed     = "landed"        // packets of the ranks, a part of it for each
	slots      = "slots"         // partial results of this rank's rows, a slot for each rank
	reduced    = "reduced"       // this rank's part of the sum, which peers read
	summed     = "summed"        // a rank's part of the sum is there
	ready      = "ready"         // the owner's shard may be read
	read       = hostir.ReadWord // the reader is done with the owner's shard
	copyName   = "copy"
	putsName   = "puts" // streams of copies of partial results, one a step
	workName   = "work"
	// collectiveName is the stream of collectives beside products, and of exchanges with other hosts.
	collectiveName = "nccl"
	poolName       = "streams"
)

var (
	one  = hostir.Const(1)
	step = hostir.Var(stepIndex) // the index of the loop over the steps
)

// every is the absent peer of a post or wait: all of them.
var every = hostir.Every

// steps is the loop over the exchanges, with the names that its body uses.
func steps(body ...hostir.Node) hostir.For { return hostir.Loop(stepIndex, one, hostir.Size, body...) }

// parts counts the parts of a rank's rows and names their index.
type parts struct {
	n     int64
	index string
}

// part is the one that a step takes, absent where there is one only.
func (p parts) part() hostir.Expr { return p.numbered(hostir.Var(p.index)) }

// numbered is a part by its number, absent where there is one only.
func (p parts) numbered(part hostir.Expr) hostir.Expr {
	if p.n == 1 {
		return hostir.Expr{}
	}
	return part
}

// chunk is the index of the step's part of a rank where all ranks' parts are, rank by rank.
func (p parts) chunk(rank hostir.Expr) hostir.Expr { return p.chunkOf(rank, hostir.Var(p.index)) }

// chunkOf is the index of a part of a rank.
func (p parts) chunkOf(rank, part hostir.Expr) hostir.Expr {
	if p.n == 1 {
		return rank
	}
	return hostir.Add(hostir.Mul(rank, hostir.Const(p.n)), part)
}

// all counts the parts of a number of ranks or hosts.
func (p parts) all(n hostir.Expr) hostir.Expr {
	if p.n == 1 {
		return n
	}
	return hostir.Mul(n, hostir.Const(p.n))
}

// onStep changes a node that is a step.
func onStep(n hostir.Node, change func(hostir.Step) hostir.Step) hostir.Node {
	if s, ok := n.(hostir.Step); ok {
		return change(s)
	}
	return n
}

// described gives a step a remark.
func described(n hostir.Node, remark string) hostir.Node {
	return onStep(n, func(s hostir.Step) hostir.Step { return s.Described(remark) })
}

// semaphore has a member for each part.
func (p parts) semaphore(name string) hostir.Semaphore {
	return hostir.Semaphore{Name: name, Count: p.numbered(hostir.Const(p.n))}
}

// posts tell every peer a word of each part.
func (p parts) posts(word string) (nodes []hostir.Node) {
	for i := range p.n {
		nodes = append(nodes, hostir.Post(mainRef, word, every).Member(p.numbered(hostir.Const(i))))
	}
	return nodes
}

// partByPart are rounds in which the parts take their turns.
func (p parts) partByPart(t turns) turns {
	if p.n == 1 {
		return t
	}
	each := t
	each.index, each.first, each.end = p.index, hostir.Const(0), hostir.Const(p.n)
	return turns{index: t.index, first: t.first, end: t.end, then: []turns{each}}
}

// inTurn takes the parts one after the other.
func (p parts) inTurn(body ...hostir.Node) []hostir.Node {
	if p.n == 1 {
		return body
	}
	return []hostir.Node{hostir.Loop(p.index, hostir.Const(0), hostir.Const(p.n), body...)}
}
