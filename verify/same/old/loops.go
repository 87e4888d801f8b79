package old

import "ovgen/schedule/hostir"

var (
	one  = hostir.Const(1)
	step = hostir.Var(stepIndex) // the index of the loop over the steps
)

// every is the absent peer of a post or wait: all of them.
var every = hostir.Every

// steps is the loop over the exchanges, with the names that its body uses.
func steps(body ...hostir.Node) hostir.For { return hostir.Loop(stepIndex, one, hostir.Size, body...) }

// alone chooses between the steps of a rank without peers and the exchange.
func alone(only hostir.Node, exchange ...hostir.Node) hostir.If {
	return hostir.If{X: hostir.Size, Y: hostir.Const(1), Then: []hostir.Node{only}, Else: exchange}
}

// withPeers are nodes that a rank without peers leaves out.
func withPeers(nodes ...hostir.Node) hostir.If {
	return hostir.If{X: hostir.Size, Y: hostir.Const(1), Else: nodes}
}
