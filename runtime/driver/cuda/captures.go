//go:build linux && cgo

package cuda

// #include "calls.h"
import "C"

import (
	"fmt"
	"unsafe"

	"ovgen/runtime/driver"
)

// mostNodes is the largest number of nodes that a stream's next operation may follow.
const mostNodes = 256

// StreamGetCaptureInfo returns the capture that the stream is part of. It fails where the stream's next operation
// follows more than 256 nodes.
func (d *Driver) StreamGetCaptureInfo(s driver.Stream) (driver.CaptureInfo, error) {
	var id C.uint64_t
	var graph C.uintptr_t
	var nodes [mostNodes]C.uintptr_t
	var count C.size_t
	err := check("cuStreamGetCaptureInfo", C.ovgen_capture_info(d.ctx, C.uintptr_t(s), &id, &graph, &nodes[0],
		mostNodes, &count))
	if count > mostNodes {
		return driver.CaptureInfo{}, fmt.Errorf("cuStreamGetCaptureInfo: the stream's next operation follows %d nodes "+
			"of its graph, and at most %d are read (enqueue an operation on it, such as a memset of one word, "+
			"before the run)", count, mostNodes)
	}
	info := driver.CaptureInfo{ID: uint64(id), Graph: driver.Graph(graph)}
	for _, n := range nodes[:count] {
		info.Nodes = append(info.Nodes, driver.GraphNode(n))
	}
	return info, err
}

// StreamUpdateCaptureDependencies sets the nodes that the stream's next operation will follow.
func (d *Driver) StreamUpdateCaptureDependencies(s driver.Stream, nodes []driver.GraphNode) error {
	return check("cuStreamUpdateCaptureDependencies", C.ovgen_capture_update(d.ctx, C.uintptr_t(s), handles(nodes),
		C.size_t(len(nodes))))
}

// GraphAddDependencies makes one node follow others.
func (d *Driver) GraphAddDependencies(g driver.Graph, from []driver.GraphNode, to driver.GraphNode) error {
	return check("cuGraphAddDependencies", C.ovgen_graph_edges(d.ctx, C.uintptr_t(g), 1, handles(from),
		C.size_t(len(from)), C.uintptr_t(to)))
}

// GraphRemoveDependencies removes the dependencies of one node on others.
func (d *Driver) GraphRemoveDependencies(g driver.Graph, from []driver.GraphNode, to driver.GraphNode) error {
	return check("cuGraphRemoveDependencies", C.ovgen_graph_edges(d.ctx, C.uintptr_t(g), 0, handles(from),
		C.size_t(len(from)), C.uintptr_t(to)))
}

func handles(nodes []driver.GraphNode) *C.uintptr_t {
	return (*C.uintptr_t)(unsafe.Pointer(unsafe.SliceData(nodes)))
}
