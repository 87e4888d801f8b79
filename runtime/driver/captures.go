package driver

// GraphNode is a CUgraphNode: an operation of a graph.
type GraphNode uintptr

// CaptureInfo is the capture that a stream is part of.
type CaptureInfo struct {
	ID    uint64      // of the capture, unique in the process; 0: the stream is not captured
	Graph Graph       // the graph in the making; the capture owns it
	Nodes []GraphNode // the nodes that the stream's next operation will follow
}

// Captures is an optional interface of a Driver: calls that change the order of a graph in the making.
type Captures interface {
	// StreamGetCaptureInfo fails for an invalid capture.
	StreamGetCaptureInfo(s Stream) (CaptureInfo, error)
	// StreamUpdateCaptureDependencies sets the nodes that the stream's next operation will follow
	// (CU_STREAM_SET_CAPTURE_DEPENDENCIES). The stream need not be joined with the nodes left out.
	StreamUpdateCaptureDependencies(s Stream, nodes []GraphNode) error
	// GraphAddDependencies makes one node follow others; GraphRemoveDependencies removes such dependencies.
	GraphAddDependencies(g Graph, from []GraphNode, to GraphNode) error
	GraphRemoveDependencies(g Graph, from []GraphNode, to GraphNode) error
}
