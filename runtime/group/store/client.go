package store

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// margin is the time that a client waits beyond rank 0's timeout for rank 0 to report the timeout.
const margin = 2 * time.Second

// Client is a rank's membership in a job.
type Client struct {
	config Config
	conn   net.Conn
	server *server // rank 0 only
	wg     sync.WaitGroup
	bound  atomic.Int64  // of a Gather, in nanoseconds
	turn   chan struct{} // one Gather at a time
	broken error         // the error of a Gather that ended early; guarded by turn
	answer chan answer   // from the reader to Gather
	told   chan Message  // from the reader to the receiver of Told
	write  sync.Mutex    // held while a frame is written

	gone   chan struct{} // closed by the reader when the membership ends
	ended  error         // the reason why the membership ended, set before gone is closed
	closed chan struct{}
	once   sync.Once
	err    error // of Close
}

// answer to a Gather.
type answer struct {
	blobs [][]byte
	err   error
}

// ended is the reason why rank 0 can't be read any more.
func ended(err error) error {
	if errors.Is(err, ErrFrame) {
		return fmt.Errorf("rank 0 sent a %w", ErrFrame)
	}
	return &GoneError{Rank: 0}
}

// interrupt makes reads and writes fail when ctx ends; the caller calls stop after them.
func (c *Client) interrupt(ctx context.Context) (stop func()) {
	conn := c.conn
	end := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	return func() {
		if end() {
			conn.SetDeadline(time.Time{})
		}
	}
}

// read hands answers to Gather until the membership ends.
func (c *Client) read() {
	defer c.wg.Done()
	defer close(c.gone)
	for {
		k, f, err := receive(c.conn, c.config.Size*(MaxBlob+4)+2*maxText)
		if err != nil {
			c.ended = ended(err)
			return
		}
		if k == told {
			m := Message{Rank: f.rank(c.config.Size), Blob: f.bytes()}
			if f.end() != nil {
				c.ended = ended(ErrFrame)
				return
			}
			select {
			case c.told <- m:
			default: // nobody receives
			}
			continue
		}
		a, err := readAnswer(k, f, c.config.Size)
		if err != nil {
			c.ended = err
			return
		}
		select {
		case c.answer <- a:
		default: // no Gather waits: rank 0 has sent a failure to all ranks
		}
	}
}

// readAnswer reads rank 0's answer to a Gather of size ranks; its error ends the membership.
func readAnswer(k kind, f *fields, size int) (a answer, err error) {
	switch k {
	case gone:
		err = &GoneError{Rank: f.rank(size)}
	case result:
		if f.count() != size {
			return answer{}, ended(ErrFrame)
		}
		for range size {
			a.blobs = append(a.blobs, f.bytes())
		}
	case mismatch:
		keys := f.texts()
		if len(keys) != size {
			return answer{}, ended(ErrFrame)
		}
		a.err = &MismatchError{Keys: keys}
	case missing:
		a.err = &MissingError{Key: f.text(), Came: f.ranks(size), Missing: f.ranks(size), Why: f.text()}
	default:
		return answer{}, ended(ErrFrame)
	}
	if f.end() != nil {
		return answer{}, ended(ErrFrame)
	}
	return a, err
}

// Gather returns every rank's blob, by rank, when all ranks have come with the same key. The key names this rank's
// action; it may end with "; " and a detail, which errors quote and which may differ between ranks. Where keys differ,
// the error is a *MismatchError and the job goes on. The error is a *MissingError where a rank did not come in time or
// gave up, or a *GoneError, or wraps ctx's error: the job is then over, and every later Gather of any rank fails.
func (c *Client) Gather(ctx context.Context, key string, blob []byte) ([][]byte, error) {
	if len(blob) > MaxBlob || len(key) > maxText {
		return nil, fmt.Errorf("%s: a blob of %d bytes (at most %d) under a key of %d (at most %d)", key, len(blob),
			MaxBlob, len(key), maxText)
	}
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return nil, fmt.Errorf("%s: %w", key, context.Cause(ctx))
	}
	if c.broken != nil {
		return nil, fmt.Errorf("%s: after an earlier failure: %w", key, c.broken)
	}
	bound := time.Duration(c.bound.Load())
	limit := time.NewTimer(bound + margin)
	defer limit.Stop()
	if err := c.send(newFrame(gather).text(key).bytes(blob), bound); err != nil {
		c.broken = err // half a frame may be on its way
		return nil, fmt.Errorf("%s: %w", key, c.why())
	}
	select {
	case a := <-c.answer:
		return a.blobs, a.err
	case <-c.gone:
		select { // the answer may have come just before
		case a := <-c.answer:
			return a.blobs, a.err
		default:
			return nil, fmt.Errorf("%s: %w", key, c.why())
		}
	case <-limit.C:
		c.broken = context.DeadlineExceeded
		return nil, fmt.Errorf("%s: rank 0 did not answer within %v: %w", key, bound+margin, context.DeadlineExceeded)
	case <-ctx.Done():
		c.broken = context.Cause(ctx)
		_ = c.send(newFrame(giveUp).text(key).bytes([]byte(context.Cause(ctx).Error())), flushTimeout)
		return nil, fmt.Errorf("%s: %w", key, context.Cause(ctx))
	}
}

// send writes a frame within a limit.
func (c *Client) send(f frame, limit time.Duration) error {
	c.write.Lock()
	defer c.write.Unlock()
	c.conn.SetWriteDeadline(time.Now().Add(limit))
	return f.send(c.conn)
}

// Message is a blob that a rank told the others.
type Message struct {
	Rank int
	Blob []byte
}

// Tell sends a blob to all other ranks, which need not wait for it. They receive it from Told, also after the job has
// ended, as long as rank 0 and the connections live.
func (c *Client) Tell(blob []byte) error {
	if len(blob) > MaxBlob {
		return fmt.Errorf("tell: a blob of %d bytes (at most %d)", len(blob), MaxBlob)
	}
	if err := c.send(newFrame(tell).text("").bytes(blob), flushTimeout); err != nil {
		return fmt.Errorf("tell: %w", err)
	}
	return nil
}

// Told receives the blobs of the other ranks' Tell. Messages that nobody receives in time are lost.
func (c *Client) Told() <-chan Message { return c.told }

// Bound sets the bound of every later Gather, counted from its first rank. Rank 0's bound holds for all ranks; the
// other ranks wait for rank 0 a little longer than their bound.
func (c *Client) Bound(limit time.Duration) {
	c.bound.Store(int64(limit))
	if c.server != nil {
		c.server.bound.Store(int64(limit))
	}
}

// why is the reason why the connection does not work any more.
func (c *Client) why() error {
	select {
	case <-c.closed:
		return ErrClosed
	default:
	}
	select {
	case <-c.gone:
		return c.ended
	case <-time.After(flushTimeout):
		return &GoneError{Rank: 0}
	}
}

// Gone is closed when another rank's connection has ended, or this one's.
func (c *Client) Gone() <-chan struct{} { return c.gone }

// Err is the reason why Gone was closed: a *GoneError names the rank.
func (c *Client) Err() error {
	select {
	case <-c.gone:
		return c.ended
	default:
		return nil
	}
}

// Close ends the membership; the other ranks then see that this rank is gone. They still receive the answers that rank
// 0 gave before. A second call does nothing.
func (c *Client) Close() error {
	c.once.Do(func() {
		close(c.closed)
		if c.server != nil {
			c.err = c.server.close()
		}
		if c.conn != nil {
			c.conn.Close()
		}
		c.wg.Wait()
	})
	return c.err
}
