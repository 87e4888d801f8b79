package store

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// worn is a network whose first connections, as rank 0 has them, take no frame or show their end late.
type worn struct {
	Network
	first atomic.Int64  // connections that are worn
	deaf  bool          // they take no frame
	late  time.Duration // after which they show their end
}

// Listen wears out what its listener accepts.
func (w *worn) Listen(job string) (net.Listener, error) {
	l, err := w.Network.Listen(job)
	return wornListener{l, w}, err
}

type wornListener struct {
	net.Listener
	of *worn
}

// Accept wears out the connection.
func (l wornListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil || l.of.first.Add(-1) < 0 {
		return c, err
	}
	return wornConn{c, l.of}, nil
}

type wornConn struct {
	net.Conn
	of *worn
}

// Write takes nothing in time, where the connection is deaf.
func (c wornConn) Write(b []byte) (int, error) {
	if c.of.deaf {
		return 0, os.ErrDeadlineExceeded
	}
	return c.Conn.Write(b)
}

// Read shows the end late.
func (c wornConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if errors.Is(err, io.EOF) {
		time.Sleep(c.of.late)
	}
	return n, err
}

// TestMissedAcceptance: ranks whose first connection misses rank 0's answer dial again, and meet.
func TestMissedAcceptance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := &worn{Network: Memory(), deaf: true}
		network.first.Store(3)
		began := time.Now()
		clients := joinAll(t, Config{Job: "j", Timeout: 5 * time.Second, Network: network}, 3)
		if took := time.Since(began); took > time.Second {
			t.Errorf("it took %v", took)
		}
		each(3, func(r int) {
			if _, err := clients[r].Gather(t.Context(), "k", nil); err != nil {
				t.Errorf("rank %d: %v", r, err)
			}
		})
	})
}

// TestMissedFrame: a rank that misses a frame after all have met is gone to the others at once.
func TestMissedFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := Config{Job: "j", Rank: 0, Size: 2, Timeout: time.Minute, Network: Memory()}
		go func() { // greets as rank 1, reads that all have come, and no further
			conn := dial(t, c)
			if err := newFrame(hello).number(version).number(1).number(2).text("j").send(conn); err != nil {
				t.Error(err)
			}
			for range 2 {
				if _, _, err := receive(conn, maxText); err != nil {
					t.Error(err)
				}
			}
		}()
		client, err := Join(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		began := time.Now()
		if err := client.Tell([]byte("news")); err != nil {
			t.Error(err)
		}
		<-client.Gone()
		var g *GoneError
		if err := client.Err(); !errors.As(err, &g) || g.Rank != 1 || time.Since(began) > 2*flushTimeout {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
	})
}

// TestAgain lets rank 1 come again before rank 0 has read the end of its first connection: it takes its place, in time.
// Where the end does not come, it is refused.
func TestAgain(t *testing.T) {
	for _, x := range []struct {
		late time.Duration
		want string
	}{{flushTimeout / 2, ""}, {2 * flushTimeout, "rank 1 of job \"j\" is there already"}} {
		synctest.Test(t, func(t *testing.T) {
			network := &worn{Network: Memory(), late: x.late}
			network.first.Store(1)
			c := Config{Job: "j", Size: 2, Timeout: 5 * time.Second, Network: network}
			l, zero := &signalled{Network: network, listens: make(chan struct{})}, make(chan error, 1)
			hold := holding{l, make(chan struct{})}
			go func() {
				c := c
				c.Network = hold
				client, err := Join(t.Context(), c)
				if err == nil {
					client.Close()
				}
				zero <- err
			}()
			<-l.listens
			first, err := network.Dial(t.Context(), "j")
			if err != nil {
				t.Fatal(err)
			}
			newFrame(hello).number(version).number(1).number(2).text("j").send(first)
			if k, _, err := receive(first, maxText); err != nil || k != accepted {
				t.Fatalf("frame %d, %v", k, err)
			}
			first.Close()
			time.AfterFunc(2*flushTimeout, func() { close(hold.dials) })
			c.Rank = 1
			client, err := Join(t.Context(), c)
			if err == nil {
				client.Close()
			}
			if text := said(err); (text == "") != (x.want == "") || !strings.Contains(text, x.want) {
				t.Errorf("late by %v: %v, want %q", x.late, err, x.want)
			}
			if err := <-zero; err != nil && x.want == "" {
				t.Errorf("rank 0, late by %v: %v", x.late, err)
			}
		})
	}
}

// TestNextGroup lets rank 1 leave a group and join the next one of the same job while rank 0 is still in the first.
func TestNextGroup(t *testing.T) {
	for _, x := range []struct {
		first, then int           // the rank that leaves first, the one that does so late
		late        time.Duration // how much
	}{{1, 0, time.Millisecond}, {1, 0, flushTimeout / 2}, {1, 0, 3 * flushTimeout}, {0, 1, 3 * flushTimeout}} {
		synctest.Test(t, func(t *testing.T) {
			c := Config{Job: "j", Timeout: 10 * time.Second, Network: Memory()}
			clients := joinAll(t, c, 2)
			each(2, func(r int) {
				if r == x.then {
					time.Sleep(x.late)
				}
				clients[r].Close()
				c := c
				c.Rank, c.Size = r, 2
				again, err := Join(t.Context(), c)
				if err != nil {
					t.Errorf("rank %d, late by %v: %v", r, x.late, err)
					return
				}
				if _, err := again.Gather(t.Context(), "k", nil); err != nil {
					t.Errorf("rank %d, late by %v: %v", r, x.late, err)
				}
				again.Close()
			})
		})
	}
}

func said(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// holding is a network on which rank 0 dials itself only when it may.
type holding struct {
	Network
	dials chan struct{}
}

// Dial waits.
func (h holding) Dial(ctx context.Context, job string) (net.Conn, error) {
	<-h.dials
	return h.Network.Dial(ctx, job)
}
