package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// dialAgain is the time that a client waits before it dials rank 0 again.
const dialAgain = 10 * time.Millisecond

// Config describes a job and this rank's place in it to Join.
type Config struct {
	Job        string
	Rank, Size int
	// Timeout bounds the rendezvous and, until Client.Bound sets another bound, each Gather from its first rank on.
	Timeout time.Duration
	Network Network
}

// Join returns when all ranks of the job have come. Rank 0 serves the others until its Close.
func Join(ctx context.Context, c Config) (*Client, error) {
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("join: %w", err)
	}
	client := &Client{config: c, turn: make(chan struct{}, 1), answer: make(chan answer, 1),
		told: make(chan Message, 4*c.Size), gone: make(chan struct{}), closed: make(chan struct{})}
	client.bound.Store(int64(c.Timeout))
	if c.Rank == 0 {
		s, err := listen(c)
		if errors.Is(err, unix.EADDRINUSE) {
			err = c.taken(ctx, err)
		}
		if err != nil {
			return nil, fmt.Errorf("join job %q: %w", c.Job, err)
		}
		client.server = s
	}
	if err := client.enter(ctx); err != nil {
		if errors.As(err, new(*DeclinedError)) {
			limit, cancel := context.WithTimeout(ctx, declineTime)
			client.linger(limit)
			cancel()
		}
		return nil, errors.Join(fmt.Errorf("join job %q: %w", c.Job, err), client.Close())
	}
	client.wg.Add(1)
	go client.read()
	return client, nil
}

// taken says which process has the job's name: rank 0 of another start, or a process of another user.
func (c Config) taken(ctx context.Context, err error) error {
	if !Spans(c.Network) {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		conn, foreign := c.Network.Dial(ctx, c.Job)
		if foreign == nil {
			conn.Close()
		} else if errors.Is(foreign, ErrForeign) {
			return fmt.Errorf("the job's name is taken (choose another name): %w: %w", err, foreign)
		}
	}
	return fmt.Errorf("another process is its rank 0 already (give each start its own job name): %w", err)
}

func (c Config) check() error {
	var errs []error
	if c.Size < 1 || c.Size > MaxRanks {
		errs = append(errs, fmt.Errorf("a job of %d ranks (1 to %d)", c.Size, MaxRanks))
	} else if c.Rank < 0 || c.Rank >= c.Size {
		errs = append(errs, fmt.Errorf("rank %d of %d", c.Rank, c.Size))
	}
	if c.Job == "" || len(c.Job) > 80 {
		errs = append(errs, fmt.Errorf("job name %q (1 to 80 bytes)", c.Job))
	}
	if c.Timeout <= 0 || c.Network == nil {
		errs = append(errs, errors.New("no timeout or no network"))
	}
	return errors.Join(errs...)
}

// enter dials rank 0 until it accepts this rank, and waits for the other ranks.
func (c *Client) enter(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, c.config.Timeout, &RendezvousError{
		Job: c.config.Job, Size: c.config.Size, Missing: []int{0}, After: c.config.Timeout})
	defer cancel()
	var heard error
	for {
		conn, err := c.config.Network.Dial(ctx, c.config.Job)
		if err == nil {
			c.conn = conn
			if err = c.greet(ctx, c.greeting(hello)); err == nil {
				return c.await(ctx)
			}
			conn.Close()
			c.conn = nil
			if !errors.Is(heard, ErrFrame) { // a malformed answer is a better error than the timeout after it
				heard = err
			}
		}
		if errors.As(err, new(*RefusedError)) || errors.Is(err, ErrForeign) || errors.Is(err, ErrToken) {
			return err
		}
		select { // rank 0 does not listen yet, or is too busy to accept
		case <-time.After(dialAgain):
		case <-ctx.Done():
			return c.absentee(context.Cause(ctx), heard)
		}
	}
}

// absentee adds to the error that a process at rank 0's address answered malformed frames, or not at all; not if busy.
func (c *Client) absentee(err, heard error) error {
	var r *RendezvousError
	if errors.As(err, &r) && (errors.Is(heard, ErrFrame) || errors.Is(heard, os.ErrDeadlineExceeded)) {
		r.Notes = append(r.Notes, fmt.Sprintf("a process is there, but does not answer as rank 0 does: %v", heard))
	}
	return err
}

func (c *Client) greeting(k kind) frame {
	return newFrame(k).number(version).number(c.config.Rank).number(c.config.Size).text(c.config.Job)
}

// greet sends the first frame and reads whether rank 0 accepts it.
func (c *Client) greet(ctx context.Context, f frame) error {
	defer c.interrupt(ctx)()
	if err := f.send(c.conn); err != nil {
		return err
	}
	k, body, err := receive(c.conn, maxHello+maxText)
	switch {
	case err != nil:
		return err
	case k == refused:
		r := &RefusedError{Reason: body.text()}
		if body.end() == nil {
			return r
		}
	case k == accepted:
		return body.end()
	}
	return ErrFrame
}

// await reads whether all ranks have come. Rank 0's timeout ends the wait: it alone knows which ranks are missing.
func (c *Client) await(ctx context.Context) error {
	// The deadline of ctx bounded the wait for rank 0 to listen; the cancellation of ctx still counts.
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.config.Timeout+margin)
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		if !errors.As(context.Cause(ctx), new(*RendezvousError)) {
			cancel()
		}
	})
	defer stop()
	defer c.interrupt(limit)()
	k, f, err := receive(c.conn, maxText*16)
	switch {
	case limit.Err() != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("wait for the other ranks: %w", ended(err))
	}
	return c.config.outcome(k, f)
}

// outcome reads rank 0's answer to the rendezvous; it returns nil if all ranks have come.
func (c Config) outcome(k kind, f *fields) error {
	var err error
	switch k {
	case welcome:
	case absent:
		err = &RendezvousError{Job: c.Job, Size: c.Size, Missing: f.ranks(c.Size), After: c.Timeout, Notes: f.texts()}
	case gone:
		err = &GoneError{Rank: f.rank(c.Size)}
	case declined:
		err = &DeclinedError{Rank: f.rank(c.Size), Reason: f.text()}
	default:
		err = ErrFrame
	}
	if f.end() != nil || err == ErrFrame {
		return fmt.Errorf("wait for the other ranks: %w", ended(ErrFrame))
	}
	return err
}
