package device

import (
	"fmt"
	"runtime"

	"ovgen/runtime/driver"
)

// Graph is captured work, ready to launch.
type Graph struct {
	driver driver.Driver
	exec   driver.GraphExec
	Resource
}

// Capture records into a graph the operations that work enqueues on s and on streams that it makes wait for s, and
// instantiates and uploads the graph. Nothing runs. work is called on the calling goroutine, locked to its thread.
func Capture(d driver.Driver, s driver.Stream, work func() error) (*Graph, error) {
	exec, err := capture(d, s, work)
	if err != nil {
		return nil, fmt.Errorf("capture graph: %w", err)
	}
	g := &Graph{driver: d, exec: exec}
	Track(g, &g.Resource, "graph")
	return g, nil
}

func capture(d driver.Driver, s driver.Stream, work func() error) (driver.GraphExec, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := d.StreamBeginCapture(s); err != nil {
		return 0, err
	}
	failed := work()
	g, err := d.StreamEndCapture(s)
	if failed != nil {
		if err == nil {
			_ = d.GraphDestroy(g) // the error of work is the one to report
		}
		return 0, failed
	}
	if err != nil {
		return 0, err
	}
	defer func() { _ = d.GraphDestroy(g) }() // the instantiated graph does not need it
	exec, err := d.GraphInstantiate(g)
	if err != nil {
		return 0, err
	}
	if err := d.GraphUpload(exec, s); err != nil {
		_ = d.GraphExecDestroy(exec)
		return 0, err
	}
	return exec, nil
}

// Launch enqueues the graph on a stream.
func (g *Graph) Launch(s driver.Stream) error { return g.driver.GraphLaunch(g.exec, s) }

// Close destroys the graph. A second call does nothing.
func (g *Graph) Close() error {
	return g.Done(func() error { return g.driver.GraphExecDestroy(g.exec) })
}
