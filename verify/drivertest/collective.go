package drivertest

import (
	"bytes"
	"errors"

	"ovgen/runtime/driver"
)

// collectives tests every collective on a communicator of one rank, eager and captured.
func collectives(b *bench) {
	c, err := driver.CollectivesOf(b.d)
	if errors.Is(err, driver.ErrUnavailable) {
		b.Skip(err)
	}
	b.must(err)
	id, err := c.CommGetUniqueID()
	b.must(err)
	comm, err := c.CommInitRank(id, 1, 0)
	settled := func(err error) {
		b.Helper()
		for errors.Is(err, driver.ErrInProgress) {
			err = c.CommGetAsyncError(comm)
		}
		b.must(err)
	}
	settled(err)
	data := pattern(256)
	src, dst, s := b.put(data), b.put(make([]byte, 256)), b.stream(driver.Normal)
	gone := func(what string) {
		b.Helper()
		b.must(b.d.StreamSynchronize(s))
		if !bytes.Equal(b.get(dst, 256), data) {
			b.Errorf("%s wrote something else", what)
		}
		b.must(b.d.MemsetD32Async(dst, 0, 64, s))
		b.must(b.d.StreamSynchronize(s))
	}
	for _, kind := range []driver.CollectiveKind{driver.AllGather, driver.ReduceScatter, driver.AllReduce,
		driver.AllToAll, driver.Exchange} {
		settled(c.Collective(driver.CollectiveDesc{Kind: kind, Bytes: 256, Type: driver.FP32}, dst, src, comm, s))
		gone(string(kind))
	}
	for _, d := range []driver.CollectiveDesc{{Kind: "gossip", Bytes: 256},
		{Kind: driver.AllReduce, Bytes: 256, More: 4, Type: driver.FP32},
		{Kind: driver.Exchange, Bytes: 256, More: -260}} {
		if err := c.Collective(d, dst, src, comm, s); err == nil {
			b.Errorf("a collective was taken: %+v", d)
		}
	}
	b.must(b.d.StreamBeginCapture(s))
	settled(c.Collective(driver.CollectiveDesc{Kind: driver.AllGather, Bytes: 256}, dst, src, comm, s))
	g, err := b.d.StreamEndCapture(s)
	b.must(err)
	x, err := b.d.GraphInstantiate(g)
	b.must(err)
	for range 2 {
		b.must(b.d.GraphLaunch(x, s))
		gone("a replay")
	}
	b.must(b.d.GraphExecDestroy(x))
	b.must(b.d.GraphDestroy(g))
	b.must(c.CommDestroy(comm))
}
