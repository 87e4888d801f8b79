package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// counting is a network that knows how many connections rank 0 has open, and had at
// most.
type counting struct {
	Network
	now, most atomic.Int64
}

// Listen counts what the listener accepts.
func (n *counting) Listen(job string) (net.Listener, error) {
	l, err := n.Network.Listen(job)
	return countingListener{l, n}, err
}

type countingListener struct {
	net.Listener
	count *counting
}

// Accept counts a connection until it is closed.
func (l countingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	now := l.count.now.Add(1)
	for {
		most := l.count.most.Load()
		if now <= most || l.count.most.CompareAndSwap(most, now) {
			break
		}
	}
	return &countedConn{Conn: c, count: l.count}, nil
}

type countedConn struct {
	net.Conn
	count *counting
	once  sync.Once
}

// Close counts once.
func (c *countedConn) Close() error {
	c.once.Do(func() { c.count.now.Add(-1) })
	return c.Conn.Close()
}

// TestTenThousandConnections floods a job before it is complete and while it works.
// The ranks meet and gather, rank 0 never has more than a few connections open, and
// none is left.
func TestTenThousandConnections(t *testing.T) {
	network := &counting{Network: Unix()}
	c := Config{Job: fmt.Sprintf("%d-flood", os.Getpid()), Size: 2, Timeout: 20 * time.Second, Network: network}
	before := descriptors(t)
	zero := make(chan *Client)
	go func() {
		client, err := Join(t.Context(), c)
		if err != nil {
			t.Error(err)
		}
		zero <- client
	}()
	flood(t, c, 5000, joined(newFrame(hello).number(version).number(7).number(2).text(c.Job)))
	c.Rank = 1
	one, err := Join(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	clients := []*Client{<-zero, one}
	over := make(chan struct{})
	go func() {
		defer close(over)
		// claims a rank that is there
		flood(t, c, 4000, joined(newFrame(hello).number(version).number(1).number(2).text(c.Job)))
		flood(t, c, 1000, nil)
	}()
	for working := true; working; {
		select {
		case <-over:
			working = false
		default:
		}
		each(2, func(r int) {
			if _, err := clients[r].Gather(t.Context(), "k", make([]byte, 1000)); err != nil {
				t.Errorf("rank %d: %v", r, err)
				working = false
			}
		})
		time.Sleep(time.Millisecond) // else the ranks work for nothing until the flood is over
	}
	for _, c := range clients {
		c.Close()
	}
	if most := network.most.Load(); most > mostSilent+3*2+16+1 {
		t.Errorf("rank 0 had %d connections open at once", most)
	}
	if now := network.now.Load(); now != 0 {
		t.Errorf("%d connections are open after Close", now)
	}
	if after := descriptors(t); after > before+2 { // the poller's
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

// flood opens n connections that send something and stay until they are cut off, or
// for a moment where the sender is silent.
func flood(t *testing.T, c Config, n int, sent []byte) {
	const atOnce = 200
	each(atOnce, func(i int) {
		for range n / atOnce {
			conn, err := c.Network.Dial(t.Context(), c.Job)
			for ; err != nil; conn, err = c.Network.Dial(t.Context(), c.Job) {
				if t.Context().Err() != nil {
					return
				}
				time.Sleep(time.Millisecond) // the backlog is full
			}
			conn.SetDeadline(time.Now().Add(10 * time.Second))
			if sent == nil {
				conn.SetDeadline(time.Now().Add(10 * time.Millisecond))
			}
			conn.Write(sent)
			if _, err := io.Copy(io.Discard, conn); sent != nil && errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error("a stranger was never cut off")
			}
			conn.Close()
		}
	})
}

func descriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// TestRefusedIsCutOff keeps refused connections from staying: they would not count as
// ranks, and cost rank 0 a descriptor and two goroutines each.
func TestRefusedIsCutOff(t *testing.T) {
	networks(t, 20*time.Second, func(t *testing.T, c Config) {
		network := &counting{Network: c.Network}
		c.Network = network
		clients := joinAll(t, c, 2)
		for range 3 {
			each(15, func(int) { refusedSecond(t, c) }) // as many as have slots wait side by side
		}
		if now := network.now.Load(); now != 2 {
			t.Errorf("%d connections of 2 ranks", now)
		}
		each(2, func(r int) {
			if _, err := clients[r].Gather(t.Context(), "k", nil); err != nil {
				t.Error(err)
			}
		})
	})
}

// refusedSecond greets as a second rank 1, and is refused and cut off.
func refusedSecond(t *testing.T, c Config) {
	conn, err := c.Network.Dial(t.Context(), c.Job)
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(5 * time.Second))
	newFrame(hello).number(version).number(1).number(2).text(c.Job).send(conn)
	k, f, err := receive(conn, maxText)
	if err != nil || k != refused || !strings.Contains(f.text(), "rank 1 of job") {
		t.Errorf("a second rank 1 got frame %d: %v", k, err)
		return
	}
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("a refused connection stays: %v", err)
	}
}

type brokenCase struct {
	name  string
	sent  []byte
	stays bool
	want  string
}

var metFrames = []frame{newFrame(accepted), newFrame(welcome)}

var hugeFrame = binary.LittleEndian.AppendUint32(nil, 1<<31)

var brokenCases = []brokenCase{
	{"garbage", []byte("HTTP/1.1 400 Bad Request\r\n\r\n"), true,
		"rank 0 of 2 did not come within 300ms (a process is there, but does not answer as rank 0 " +
			"does: malformed frame"},
	{"says nothing", nil, true, "rank 0 of 2 did not come within 300ms (a process is there"},
	{"hangs up", nil, false, "rank 0 of 2 did not come within 300ms"},
	{"huge length", append(hugeFrame, byte(accepted)), true, "malformed frame: 2147483648 bytes"},
	{"half an answer", []byte{90, 0, 0, 0, byte(refused), 1}, false, "rank 0 of 2 did not come"},
	{"garbage for a welcome", append(joined(metFrames[0]), "garbage"...), true,
		"wait for the other ranks: rank 0 sent a malformed frame"},
	{"silent after its acceptance", joined(metFrames[0]), true, "rank 0 of 2 did not come"},
	{"gone after its acceptance", joined(metFrames[0]), false, "rank 0 is gone"},
	{"an unknown rank is gone", joined(metFrames[0], newFrame(gone).number(1<<31)), true, "malformed frame"},
	{"garbage in a gather", append(joined(metFrames...), "garbage"...), true, "k: rank 0 sent a malformed frame"},
	{"huge length in a gather", append(joined(metFrames...), hugeFrame...), false, "k: rank 0 is gone"},
	{"many empty blobs", joined(metFrames[0], metFrames[1], append(newFrame(result).number(1<<17),
		make([]byte, 4<<17)...)),
		true, "k: rank 0 sent a malformed frame"},
	{"keys of one rank", joined(metFrames[0], metFrames[1], newFrame(mismatch).texts([]string{"k"})), true,
		"k: rank 0 sent a malformed frame"},
	{"hangs up in a gather", joined(metFrames...), false, "k: rank 0 is gone"},
	{"silent in a gather", joined(metFrames...), true, "k: rank 0 did not answer within"},
}

// TestBrokenRankZero joins through a rank 0 that breaks the protocol, before the
// ranks have met or in the middle of a Gather.
func TestBrokenRankZero(t *testing.T) {

	for _, x := range brokenCases {
		t.Run(x.name, x.run)
	}
}

func (x brokenCase) run(t *testing.T) {
	networks(t, 300*time.Millisecond, func(t *testing.T, c Config) {
		over := make(chan struct{})
		l, err := c.Network.Listen(c.Job)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
				wg.Go(func() { answerWith(conn, x.sent, x.stays, over) })
			}
		})
		start := time.Now()
		c.Rank, c.Size = 1, 2
		client, err := Join(t.Context(), c)
		if err == nil {
			_, err = client.Gather(t.Context(), "k", nil)
			client.Close()
		}
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v, want %s", err, x.want)
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			known(t, err)
		}
		if took := time.Since(start); took > 2*c.Timeout+2*margin {
			t.Errorf("it took %v", took)
		}
		close(over)
		l.Close()
		wg.Wait()
	})
}

// TestTooLargeRequest sends what a proper client would not: a blob above the limit
// would otherwise break the answer of every rank.
func TestTooLargeRequest(t *testing.T) {
	for name, f := range map[string]frame{
		"key":  newFrame(gather).bytes(make([]byte, maxText+1)).bytes(nil),
		"blob": newFrame(gather).text("k").bytes(make([]byte, MaxBlob+1)),
	} {
		t.Run(name, func(t *testing.T) {
			networks(t, 5*time.Second, func(t *testing.T, c Config) {
				clients := joinAll(t, c, 2)
				go f.send(clients[1].conn)
				var g *GoneError
				if _, err := clients[0].Gather(t.Context(), "k", nil); !errors.As(err, &g) || g.Rank != 1 {
					t.Errorf("%v, want rank 1 gone", err)
				}
			})
		})
	}
}
