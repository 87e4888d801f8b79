package lower

import (
	"slices"
	"strconv"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// What programs that are written node by node, with their streams, are composed of.

// Names that such programs use beside those of the all-gather.
const (
	free    = "free"    // the owner's slots may be written
	arrived = "arrived" // a partial result is in its slot
	partial = "partial" // partial results for their owners
	slots   = "slots"   // partial results of this rank's rows, a slot for each rank
)

// Streams.
var (
	mainRef = hostir.Stream(mainName)
	copyRef = hostir.Stream(copyName)
	copySet = hostir.StreamSet{Name: copyName, High: true}
)

var (
	one  = hostir.Const(1)
	step = hostir.Var(stepIndex) // the index of the loop over the steps
)

// every is the absent peer of a post or wait: all of them.
var every = hostir.Every

// steps is the loop over the exchanges, with the names that its body uses.
func steps(body ...hostir.Node) hostir.For { return hostir.Loop(stepIndex, one, hostir.Size, body...) }

// fork declares streams and makes them wait for the caller's.
func (d *draft) fork(sets ...hostir.StreamSet) hostir.Synchronize {
	if len(d.program.Streams) == 0 {
		d.program.Streams = []hostir.StreamSet{{Name: mainName}}
	}
	d.program.Streams = append(d.program.Streams, sets...)
	return hostir.Synchronize{Origin: forkAt, Streams: refs(sets), On: []hostir.StreamRef{mainRef}}
}

// Where forks and joins come from.
var (
	forkAt = hostir.Origin{Field: "Streams.Start"}
	joinAt = hostir.Origin{Remark: "join", Field: "Streams"}
)

// join makes the caller's stream wait for others at the end.
func join(sets ...hostir.StreamSet) hostir.Synchronize {
	return hostir.Synchronize{Origin: joinAt, Streams: []hostir.StreamRef{mainRef}, On: refs(sets)}
}

// refs are the streams of sets.
func refs(sets []hostir.StreamSet) []hostir.StreamRef {
	var list []hostir.StreamRef
	for _, s := range sets {
		list = append(list, hostir.StreamRef{Set: s.Name, From: s.First, To: s.Count})
	}
	return list
}

// buffer is a buffer that the program has.
func (d *draft) buffer(name string) *hostir.Buffer {
	for i := range d.program.Buffers {
		if d.program.Buffers[i].Name == name {
			return &d.program.Buffers[i]
		}
	}
	return &hostir.Buffer{}
}

// cut lets a buffer be indexed by parts of the first axis that a rank has more than
// one index of.
func (d *draft) cut(name string, parts ...schedule.Extent) {
	b := d.buffer(name)
	b.Chunk = part(b.Tensor, parts...)
}

// part counts the elements of one such part of what a rank has of a tensor.
func part(t schedule.Tensor, parts ...schedule.Extent) hostir.Expr {
	axes := append([]schedule.Axis{}, t.Axes...)
	first := 0
	for len(parts) > 0 && oneEach(axes[first]) {
		first++
	}
	axes[first].Outer = append([]schedule.Split{}, axes[first].Outer...)
	for _, n := range parts {
		axes[first].Outer = append(axes[first].Outer, schedule.DIDx(n))
	}
	return elements(schedule.Tensor{Axes: axes}, true)
}

// oneEach says that each rank has one index of an axis.
func oneEach(a schedule.Axis) bool {
	return a.Extent == schedule.D && len(a.Outer) == 1 && a.Outer[0].Kind == schedule.DeviceX
}

// rowsDivisible asks of the shape that the ranks can cut the rows of C, and each rank
// its own into parts.
func (d *draft) rowsDivisible(parts int) {
	check := hostir.Divide{Extent: d.buffer("C").Tensor.Axes[0].Extent, By: schedule.D}
	if parts > 1 {
		check.Times = int64(parts)
	}
	if !slices.Contains(d.program.Checks, check) {
		d.program.Checks = append(d.program.Checks, check)
	}
}

// multiply is the schedule's product of some rows, on a stream.
func (d *draft) multiply(s hostir.StreamRef, dst, a hostir.View) hostir.Step {
	return product(d.schedule, s, dst, a, "")
}

// memory declares a buffer of the plan.
func (d *draft) memory(name string, chunk hostir.Expr, axes ...schedule.Axis) {
	t := schedule.Tensor{Name: name, Axes: axes}
	d.program.Buffers = append(d.program.Buffers, hostir.Buffer{Name: name, Tensor: t, Owner: hostir.Plan, Elements: elements(t, true), Chunk: chunk})
}

// semaphores declares semaphores of one member.
func (d *draft) semaphores(names ...string) {
	for _, n := range names {
		d.program.Semaphores = append(d.program.Semaphores, hostir.Semaphore{Name: n})
	}
}

// decimal is a constant extent.
func decimal(n int) schedule.Extent { return schedule.Extent(strconv.Itoa(n)) }

// alone chooses between what a rank does that has no peers, and the exchange.
func alone(only hostir.Node, exchange ...hostir.Node) hostir.If {
	return hostir.If{X: hostir.Size, Y: hostir.Const(1), Then: []hostir.Node{only}, Else: exchange}
}
