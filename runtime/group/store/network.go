package store

import (
	"context"
	"net"
)

// Network connects the ranks of a job.
type Network interface {
	// Listen is called by rank 0.
	Listen(job string) (net.Listener, error)
	// Dial connects to rank 0; it fails at once where nobody listens yet.
	Dial(ctx context.Context, job string) (net.Conn, error)
}
