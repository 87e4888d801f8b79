package store

import (
	"context"
	"errors"
	"time"
)

// MaxBlob bounds one rank's blob in a Gather, in bytes.
const MaxBlob = 256 << 10

// Config tells Join who comes and where to.
type Config struct {
	Job        string
	Rank, Size int
	// Timeout bounds the rendezvous, and each Gather from its first rank on.
	Timeout time.Duration
	Network Network
}

// Client is a rank's membership in a job.
type Client struct{}

// Join returns when all ranks of the job have come.
func Join(ctx context.Context, c Config) (*Client, error) { return nil, errors.New("not yet") }

// Gather returns every rank's blob, by rank.
func (c *Client) Gather(ctx context.Context, key string, blob []byte) ([][]byte, error) {
	return nil, errors.New("not yet")
}

// Gone is closed when another rank's connection has ended.
func (c *Client) Gone() <-chan struct{} { return nil }

// Close ends the membership.
func (c *Client) Close() error { return nil }
