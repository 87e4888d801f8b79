//go:build linux

package store

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// cable is a network whose connections are kept, so that they can be cut as a cable is: no end is told.
type cable struct {
	Network
	mu   sync.Mutex
	ends []net.Conn // of both sides
}

func (c *cable) keep(end net.Conn, err error) (net.Conn, error) {
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.ends = append(c.ends, end)
	}
	return end, err
}

// Listen keeps what its listener accepts.
func (c *cable) Listen(job string) (net.Listener, error) {
	l, err := c.Network.Listen(job)
	return plug{l, c}, err
}

type plug struct {
	net.Listener
	of *cable
}

// Accept keeps the connection.
func (p plug) Accept() (net.Conn, error) { return p.of.keep(p.Listener.Accept()) }

// Dial keeps the connection.
func (c *cable) Dial(ctx context.Context, job string) (net.Conn, error) {
	return c.keep(c.Network.Dial(ctx, job))
}

// cut lets both ends of a rank's connection drop every packet that comes, acknowledgements and probes too.
func (c *cable) cut(t *testing.T, own net.Conn) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	count := 0
	for _, end := range c.ends {
		if end != own && end.RemoteAddr().String() != own.LocalAddr().String() {
			continue
		}
		count++
		raw, err := end.(*tls.Conn).NetConn().(*net.TCPConn).SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		none := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K} // no byte of a packet
		set := raw.Control(func(fd uintptr) {
			err = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
				&unix.SockFprog{Len: 1, Filter: &none})
		})
		if err := errors.Join(set, err); err != nil {
			t.Skipf("this system drops no packets of a connection: %v", err)
		}
	}
	if count != 2 {
		t.Fatalf("the connection has %d ends", count)
	}
}

// A machine that loses its power or its cable says nothing: all others learn within 5 s that its rank is gone, and so
// does it, whether a connection is idle or has bytes on the way that nobody acknowledges.
func TestSilence(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		name string
		tell func(c *Client) error
	}{
		{"idle", func(*Client) error { return nil }},
		{"with bytes on the way", func(c *Client) error { return c.Tell([]byte("news")) }},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			over := &cable{Network: overTCP(t, free(t), token)}
			clients := joinAll(t, Config{Job: "j", Timeout: 20 * time.Second, Network: over}, 3)
			over.cut(t, clients[2].conn)
			began := time.Now()
			if err := errors.Join(x.tell(clients[0]), x.tell(clients[2])); err != nil {
				t.Fatal(err)
			}
			each(3, func(r int) {
				<-clients[r].Gone()
				want := 2
				if r == 2 {
					want = 0
				}
				if e := (*GoneError)(nil); !errors.As(clients[r].Err(), &e) || e.Rank != want {
					t.Errorf("rank %d: %v", r, clients[r].Err())
				}
				if took := time.Since(began); took > 5*time.Second {
					t.Errorf("rank %d learnt after %v", r, took)
				}
			})
		})
	}
}
