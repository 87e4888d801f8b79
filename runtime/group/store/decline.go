package store

import (
	"context"
	"fmt"
	"time"
)

// declineTime is the time that a rank that can't join stays to tell the other ranks.
const declineTime = time.Second

// DeclinedError reports that a rank of the job can't join it.
type DeclinedError struct {
	Rank   int
	Reason string // as that rank gave it
}

// Error is "rank 2 can't join: REASON".
func (e *DeclinedError) Error() string {
	return fmt.Sprintf("rank %d can't join: %s", e.Rank, e.Reason)
}

// Decline tells the other ranks of a job that this rank can't join, so that they need not wait for it. It tells the
// ranks that come within a second, and returns earlier when all ranks have come.
func Decline(ctx context.Context, c Config, reason string) {
	if c.check() != nil || c.Size == 1 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, declineTime)
	defer cancel()
	client := &Client{config: c, closed: make(chan struct{})}
	defer client.Close()
	if c.Rank == 0 {
		s, err := listen(c)
		if err != nil {
			return
		}
		client.server = s
	}
	for ctx.Err() == nil {
		conn, err := c.Network.Dial(ctx, c.Job)
		if err == nil {
			client.conn = conn
			if client.greet(ctx, client.greeting(decline).text(reason)) == nil {
				client.linger(ctx)
				return
			}
			conn.Close()
		}
		select {
		case <-time.After(dialAgain):
		case <-ctx.Done():
		}
	}
}

// linger keeps rank 0 serving until every rank has come and got the error.
func (c *Client) linger(ctx context.Context) {
	if c.server == nil {
		return
	}
	select {
	case <-c.server.all:
	case <-ctx.Done():
	}
}
