package store

import (
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// quiet opens connections that say nothing, each anew a moment after it was cut off, until the test ends. It returns
// when all were open once.
func quiet(t *testing.T, address string, n int) {
	t.Helper()
	over := make(chan struct{})
	var wg, open sync.WaitGroup
	var mu sync.Mutex
	conns := map[int]net.Conn{}
	for i := range n {
		open.Add(1)
		wg.Go(func() {
			for first := true; ; {
				conn, err := net.Dial("tcp", address)
				if err == nil {
					mu.Lock()
					conns[i] = conn
					mu.Unlock()
					if first {
						open.Done()
						first = false
					}
					io.Copy(io.Discard, conn)
					conn.Close()
				}
				select {
				case <-over:
					return
				case <-time.After(20 * time.Millisecond):
				}
			}
		})
	}
	t.Cleanup(func() {
		close(over)
		mu.Lock()
		for _, c := range conns {
			c.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	open.Wait()
}

// TestSilentStrangers lets strangers without the token hold connections that say nothing, more than ranks of the job
// can need, or more than may be open. The ranks meet all the same.
func TestSilentStrangers(t *testing.T) {
	t.Parallel()
	for _, strangers := range []int{60, mostSilent + 50} {
		address := free(t)
		c := Config{Job: "j", Size: 4, Timeout: 4 * time.Second, Network: overTCP(t, address, token)}
		l := &signalled{Network: c.Network, listens: make(chan struct{})}
		var errs [4]error
		var wg sync.WaitGroup
		meet := func(r int, n Network) {
			c := c
			c.Rank, c.Network = r, n
			client, err := Join(t.Context(), c)
			if errs[r] = err; err == nil {
				_, errs[r] = client.Gather(t.Context(), "meet", nil)
				client.Close()
			}
		}
		wg.Go(func() { meet(0, l) })
		<-l.listens
		quiet(t, address, strangers)
		for r := 1; r < 4; r++ {
			wg.Go(func() { meet(r, c.Network) })
		}
		wg.Wait()
		if err := errors.Join(errs[:]...); err != nil {
			t.Errorf("%d strangers: %v", strangers, err)
		}
	}
}

// TestLobby fills a lobby: the oldest connection makes room, and one that was dropped becomes nobody's.
func TestLobby(t *testing.T) {
	var l lobby
	var ends, far []net.Conn
	for range mostSilent + 2 {
		end, other := net.Pipe()
		defer other.Close()
		ends, far = append(ends, end), append(far, other)
		l.enter(end)
	}
	for i, other := range far {
		other.SetReadDeadline(time.Unix(1, 0))
		_, err := other.Read(make([]byte, 1))
		if dropped := errors.Is(err, io.EOF); dropped != (i < 2) {
			t.Errorf("connection %d of %d: %v", i, len(far), err)
		}
	}
	if l.leave(ends[0], true) || l.leave(ends[2], false) || !l.leave(ends[3], true) {
		t.Error("a connection that was dropped, or has ended, stays, or another one does not")
	}
	if want := []string{"3 connections were refused or silent"}; !slices.Equal(l.notes(), want) {
		t.Errorf("%q, want %q", l.notes(), want)
	}
}

// signalled says when rank 0 listens.
type signalled struct {
	Network
	listens chan struct{}
	once    atomic.Bool
}

// Listen closes listens.
func (s *signalled) Listen(job string) (net.Listener, error) {
	l, err := s.Network.Listen(job)
	if s.once.CompareAndSwap(false, true) {
		close(s.listens)
	}
	return l, err
}

// TestStrangersAreCounted: where a rank does not come, the error says how many connections were refused or silent.
func TestStrangersAreCounted(t *testing.T) {
	t.Parallel()
	for _, sent := range []string{"", "GET / HTTP/1.1\r\n"} {
		address := free(t)
		c := Config{Job: "j", Size: 2, Timeout: 1500 * time.Millisecond, Network: overTCP(t, address, token)}
		l := &signalled{Network: c.Network, listens: make(chan struct{})}
		c.Network = l
		failed := make(chan error, 1)
		go func() {
			_, err := Join(t.Context(), c)
			failed <- err
		}()
		<-l.listens
		began := time.Now()
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		conn.Write([]byte(sent))
		conn.SetDeadline(time.Now().Add(5 * time.Second))
		_, err = io.Copy(io.Discard, conn)
		if took := time.Since(began); errors.Is(err, net.ErrClosed) || took > 2*handshakeTimeout {
			t.Errorf("%q was cut off after %v: %v", sent, took, err)
		}
		conn.Close()
		var r *RendezvousError
		err = <-failed
		if !errors.As(err, &r) || !strings.Contains(err.Error(), "1 connection was refused or silent") {
			t.Errorf("%q: %v", sent, err)
		}
	}
}
