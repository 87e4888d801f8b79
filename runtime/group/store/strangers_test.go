package store

import (
	"encoding/binary"
	"errors"
	"net"
	"os"
	"sync"
	"testing"
	"time"
)

// TestStrangers lets peers that do not speak the protocol loose on a rendezvous;
// the ranks that do still meet.
func TestStrangers(t *testing.T) {
	long := binary.LittleEndian.AppendUint32(nil, 1<<31)
	for _, x := range []struct {
		name string
		sent []byte
	}{
		{"garbage", []byte("GET / HTTP/1.1\r\n\r\n")},
		{"half a frame", []byte{200, 0, 0, 0, byte(hello), 1}},
		{"too long", append(long, byte(hello))},
		{"empty frame", []byte{0, 0, 0, 0, 0}},
		{"hello with a hole", encode(newFrame(hello).number(version).number(1))},
		{"no hello", encode(newFrame(gather).text("k").bytes(nil))},
		{"other version", encode(newFrame(hello).number(version + 1).number(1).number(2))},
		{"silence", nil},
	} {
		t.Run(x.name, func(t *testing.T) {
			networks(t, 10*time.Second, func(t *testing.T, c Config) {
				var wg sync.WaitGroup
				for i := range 30 {
					wg.Go(func() { stranger(t, c, x.sent, i%2 == 0) })
				}
				time.Sleep(30 * time.Millisecond)
				clients := joinAll(t, c, 2)
				each(2, func(r int) {
					if _, err := clients[r].Gather(t.Context(), "k", nil); err != nil {
						t.Error(err)
					}
				})
				for _, c := range clients {
					c.Close()
				}
				wg.Wait()
			})
		})
	}
}

func encode(f frame) []byte {
	binary.LittleEndian.PutUint32(f, uint32(len(f)-4))
	return f
}

// stranger connects, sends, and hangs up or stays until it is cut off.
func stranger(t *testing.T, c Config, sent []byte, stay bool) {
	var conn net.Conn
	var err error
	for range 200 {
		if conn, err = c.Network.Dial(t.Context(), c.Job); err == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if err != nil {
		return // the job is over
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	conn.Write(sent)
	if stay {
		var b [64]byte
		for err == nil {
			_, err = conn.Read(b[:])
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error("a stranger was never cut off")
		}
	}
}

// TestBadMember breaks the protocol when all ranks have met: the rank counts as gone.
func TestBadMember(t *testing.T) {
	for name, sent := range map[string][]byte{
		"garbage":     []byte("garbage that is no frame"),
		"hello again": encode(newFrame(hello).number(version).number(1).number(2).text("j")),
		"gather twice": append(encode(newFrame(gather).text("k").bytes(nil)),
			encode(newFrame(gather).text("k").bytes(nil))...),
		"half a gather": {200, 0, 0, 0, byte(gather), 1},
	} {
		t.Run(name, func(t *testing.T) {
			networks(t, 5*time.Second, func(t *testing.T, c Config) {
				c.Size = 2
				each(2, func(r int) {
					if r == 0 {
						client, err := Join(t.Context(), c)
						if err != nil {
							t.Error(err)
							return
						}
						defer client.Close()
						<-client.Gone()
						var g *GoneError
						if err := client.Err(); !errors.As(err, &g) || g.Rank != 1 {
							t.Error(err)
						}
						return
					}
					time.Sleep(20 * time.Millisecond)
					conn, err := c.Network.Dial(t.Context(), c.Job)
					if err != nil {
						t.Error(err)
						return
					}
					defer conn.Close()
					newFrame(hello).number(version).number(1).number(2).text(c.Job).send(conn)
					for range 2 { // accepted, welcome
						if _, _, err := receive(conn, maxText); err != nil {
							t.Error(err)
						}
					}
					go conn.Write(sent)
					time.Sleep(50 * time.Millisecond)
				})
			})
		})
	}
}
