package drivertest

import "ovgen/runtime/driver"

// edges changes the order of a graph that is being captured: a copy is taken out of its stream's order, and made to
// follow a later memset. Drivers need not support this.
func edges(b *bench) {
	d, ok := b.d.(driver.Captures)
	if !ok {
		b.Skip("the driver can't change the order of a capture")
	}
	buf := b.put(make([]byte, 64))
	main := b.stream(driver.Normal)
	info := func() driver.CaptureInfo {
		x, err := d.StreamGetCaptureInfo(main)
		b.must(err)
		return x
	}
	if x := info(); x.ID != 0 || len(x.Nodes) > 0 {
		b.Errorf("outside of a capture: %v", x)
	}
	b.must(b.d.StreamBeginCapture(main))
	b.must(b.d.MemsetD32Async(buf, 7, 1, main))
	first := info()
	b.must(b.d.MemcpyDtoDAsync(buf+8, buf+16, 4, main))
	aside := info()
	b.must(d.StreamUpdateCaptureDependencies(main, first.Nodes))
	if x := info(); len(x.Nodes) != 1 || x.Nodes[0] != first.Nodes[0] {
		b.Errorf("after the update the stream follows %v, want %v", x.Nodes, first.Nodes)
	}
	b.must(b.d.MemsetD32Async(buf+16, 9, 1, main))
	last := info()
	if first.ID == 0 || last.ID != first.ID || len(aside.Nodes) != 1 || len(last.Nodes) != 1 ||
		last.Nodes[0] == aside.Nodes[0] {
		b.Errorf("under capture: %v, %v and %v", first, aside, last)
	}
	b.must(d.GraphRemoveDependencies(last.Graph, first.Nodes, aside.Nodes[0]))
	b.must(d.GraphAddDependencies(last.Graph, last.Nodes, aside.Nodes[0]))
	g, err := b.d.StreamEndCapture(main)
	b.must(err)
	x, err := b.d.GraphInstantiate(g)
	b.must(err)
	b.must(b.d.GraphLaunch(x, main))
	b.must(b.d.StreamSynchronize(main))
	if got := words(b.get(buf, 20)); got[0] != 7 || got[2] != 9 || got[4] != 9 {
		b.Errorf("the graph wrote %v, want 7 first, and 9 copied from where it was set", got)
	}
	b.must(b.d.GraphExecDestroy(x))
	b.must(b.d.GraphDestroy(g))
}
